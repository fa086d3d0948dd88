import type { EntryDocument, Leaf } from '../../../shared/contract/documents.ts'
import { levelRank } from '../../../shared/contract/levels.ts'
import { compareTimestamps } from '../../../shared/contract/timestamp.ts'
import type { Comparison, Query, TextField } from '../../../shared/query/ast.ts'
import { detailsText } from '../../../shared/query/details-text.ts'
import { isWithin, keyRange, sortKey } from '../../../shared/query/sort-key.ts'
import { hasPhrase, splitWords } from '../../../shared/query/words.ts'

const TEXTS: readonly TextField[] = ['message', 'exception', 'payload']

/** Whether a query matches a document: the reference semantics that every store has to agree with. */
export function matches(query: Query, document: EntryDocument): boolean {
  switch (query.type) {
    case 'all':
      return true
    case 'words':
      return wordsMatch(query, document)
    case 'equals': {
      const value = document[query.field]
      const isBelow = query.field === 'category' && !query.prefix && value?.startsWith(`${query.value}.`)
      return value !== null && (isBelow === true || textMatches(value, query))
    }
    case 'leaf':
      return leavesOf(query.field, document).some(([path, value]) => path === query.path && textMatches(value, query))
    case 'leafRange': {
      const range = keyRange(query)
      const keys = leavesOf(query.field, document).map(([path, value]) =>
        path === query.path ? sortKey(value) : undefined,
      )
      return keys.some((key) => key !== undefined && range !== undefined && isWithin(range, key))
    }
    case 'exists': {
      const value = document[query.field]
      return value !== null && value !== ''
    }
    case 'leafExists':
      return leavesOf(query.field, document).some(([path]) => path === query.path)
    case 'level':
      return holds(levelRank(document.level) - query.rank, query.comparison)
    case 'number': {
      const value = document[query.field]
      return value !== null && holds(value - query.value, query.comparison)
    }
    case 'time':
      return holds(compareTimestamps(document[query.field], query.value), query.comparison)
    case 'not':
      return !matches(query.query, document)
    case 'and':
      return query.queries.every((one) => matches(one, document))
    case 'or':
      return query.queries.some((one) => matches(one, document))
  }
}

function wordsMatch(query: Extract<Query, { type: 'words' }>, document: EntryDocument): boolean {
  const { field, words, phrase, prefix } = query
  const own = (field === null ? TEXTS : [field]).map((name) => document[name] ?? '')
  const texts = (field === null ? [...own, detailsText(document)] : own).map(splitWords)
  if (words.length === 0) return false
  if (phrase) return texts.some((text) => hasPhrase(text, words, prefix))
  return words.every((word, index) => {
    const open = prefix && index === words.length - 1
    return texts.some((text) => hasPhrase(text, [word], open))
  })
}

const leavesOf = (field: 'payload' | 'scope', document: EntryDocument): readonly Leaf[] =>
  field === 'payload' ? document.payloadLeaves : document.scopeLeaves

const textMatches = (text: string, wanted: { readonly value: string; readonly prefix: boolean }): boolean =>
  wanted.prefix ? text.startsWith(wanted.value) : text === wanted.value

/** `difference` is negative, zero or positive if the value is below, equal to or above the operand. */
function holds(difference: number, comparison: Comparison): boolean {
  switch (comparison) {
    case '=':
      return difference === 0
    case '>':
      return difference > 0
    case '>=':
      return difference >= 0
    case '<':
      return difference < 0
    case '<=':
      return difference <= 0
  }
}
