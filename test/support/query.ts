import type { EntryDocument, Leaf } from '../../shared/contract/documents.ts'
import { LEVELS, levelRank } from '../../shared/contract/levels.ts'
import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import type { Comparison, Query, TextField } from '../../shared/query/ast.ts'
import { combine } from '../../shared/query/clause.ts'
import { detailsText } from '../../shared/query/details-text.ts'
import { isWithin, keyRange, sortKey } from '../../shared/query/sort-key.ts'
import { hasPhrase, splitWords } from '../../shared/query/words.ts'

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

/** Characters of a leaf's path with a meaning in the grammar. */
const SPECIAL = /[\s()":\\*]/g

/**
 * A text that parses to a query with the same meaning; a parsed query, `apart`, parses to itself again. Empty lists, which no text can
 * express, are not supported.
 */
export function printQuery(query: Query): string {
  switch (query.type) {
    case 'all':
      return '*'
    case 'words':
      return printWords(query)
    case 'equals':
      return `${query.field}:${quote(query.value, query.prefix)}`
    case 'leaf':
      return `${printPath(query)}:${quote(query.value, query.prefix)}`
    case 'leafRange':
      return `${printPath(query)}:${printRange(query)}`
    case 'exists':
      return `${query.field}:*`
    case 'leafExists':
      return `${printPath(query)}:*`
    case 'level':
      return `level:${sign(query.comparison)}${LEVELS[query.rank]}`
    case 'number':
    case 'time':
      return `${query.field}:${sign(query.comparison)}${query.value}`
    case 'not':
      return `NOT ${printOperand(query.query)}`
    case 'and':
      return query.queries.map(printOperand).join(' ')
    case 'or':
      return query.queries.map(printOperand).join(' OR ')
  }
}

/** The query as its print is read: the words beyond the maximum of a phrase, which have to occur anywhere, are conditions of their own. */
export function apart(query: Query): Query {
  switch (query.type) {
    case 'not':
      return { type: 'not', query: apart(query.query) }
    case 'and':
    case 'or':
      return combine(query.type, query.queries.map(apart))
    case 'words': {
      const last = query.words.length - 1
      const one = (word: string, at: number): Query => ({
        ...query,
        words: [word],
        prefix: query.prefix && at === last,
      })
      return query.phrase ? query : combine('and', query.words.map(one))
    }
    default:
      return query
  }
}

const printOperand = (query: Query): string => (isList(query) ? `(${printQuery(query)})` : printQuery(query))

const isList = (query: Query): boolean =>
  query.type === 'and' || query.type === 'or' || (query.type === 'words' && !query.phrase && query.words.length > 1)

function printWords({ field, words, phrase, prefix }: Extract<Query, { type: 'words' }>): string {
  const name = field === null ? '' : `${field}:`
  const star = prefix ? '*' : ''
  if (phrase && words.length > 1) return `${name}"${words.join(' ')}"${star}`
  return words.map((word) => name + word).join(' ') + star
}

function printRange({ from, to }: Extract<Query, { type: 'leafRange' }>): string {
  if (from !== null && to !== null) return `[${from.value} TO ${to.value}]`
  const bound = from ?? to
  return `${from === null ? '<' : '>'}${bound?.isIncluded === true ? '=' : ''}${bound?.value}`
}

const printPath = ({ field, path }: { readonly field: string; readonly path: string }): string =>
  `${field}.${path.replace(SPECIAL, '\\$&')}`

const quote = (value: string, prefix: boolean): string => `"${value.replace(/["\\]/g, '\\$&')}"${prefix ? '*' : ''}`

const sign = (comparison: Comparison): string => (comparison === '=' ? '' : comparison)
