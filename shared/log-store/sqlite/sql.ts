import type { SQLInputValue } from 'node:sqlite'

/** A piece of SQL with the values of its parameters, in order. */
export interface Sql {
  readonly text: string
  readonly values: readonly SQLInputValue[]
}

export const sql = (text: string, ...values: readonly SQLInputValue[]): Sql => ({ text, values })

/** A template of pieces, and of texts that are SQL as they are; a value is the parameter of a piece: `LIMIT ${sql('?', limit)}`. */
export function compose(strings: TemplateStringsArray, ...parts: readonly (Sql | string)[]): Sql {
  let [text = ''] = strings
  const values: SQLInputValue[] = []
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? ''
    if (typeof part !== 'string') values.push(...part.values)
    text += (typeof part === 'string' ? part : part.text) + (strings[index + 1] ?? '')
  }
  return { text, values }
}

export const TRUE = sql('1')
export const FALSE = sql('0')

/** An integer in SQL as its digits, for those beyond 2^53. A damaged one may be of any type, and becomes an integer. */
export const digitsOf = (integer: string): string => `CAST(CAST(${integer} AS INTEGER) AS TEXT)`

/** The pieces, joined by `between`; `empty` if there are none. */
export function join(pieces: readonly Sql[], between: string, empty = sql('')): Sql {
  const [only] = pieces
  if (only === undefined) return empty
  if (pieces.length === 1) return only
  return { text: pieces.map(({ text }) => text).join(between), values: pieces.flatMap(({ values }) => values) }
}

export const allOf = (pieces: readonly Sql[]): Sql => join(pieces.map(bracketed), ' AND ', TRUE)
export const anyOf = (pieces: readonly Sql[]): Sql => join(pieces.map(bracketed), ' OR ', FALSE)

const bracketed = ({ text, values }: Sql): Sql => ({ text: `(${text})`, values })
