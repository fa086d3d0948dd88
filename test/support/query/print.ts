import { LEVELS } from '../../../shared/contract/levels.ts'
import type { Comparison, Query } from '../../../shared/query/ast.ts'
import { combine } from '../../../shared/query/clause.ts'

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
