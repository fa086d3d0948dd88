/** A parsed search, independent of any store. See docs/query.md for the grammar, matches.ts for the exact meaning. */
export type Query =
  | { readonly type: 'all' }
  /**
   * Every word (as words.ts splits them) must occur in one of the texts, in any order; those of a phrase in the same text, one after the
   * other. With `prefix`, the last one may also be the beginning of a word.
   */
  | {
      readonly type: 'words'
      readonly field: TextField | null
      readonly words: readonly string[]
      readonly phrase: boolean
      readonly prefix: boolean
    }
  /**
   * The field's value equals a text (case-sensitive), or begins with it. A category also matches the categories above it: `Acme` finds
   * `Acme.Billing`.
   */
  | { readonly type: 'equals'; readonly field: KeywordField; readonly value: string; readonly prefix: boolean }
  /** The leaf of the payload or the scope data equals a text, or begins with it. */
  | {
      readonly type: 'leaf'
      readonly field: LeafField
      readonly path: string
      readonly value: string
      readonly prefix: boolean
    }
  /**
   * The leaf is a number, an instant or a duration between two bounds of the same type (sort-key.ts); null leaves an end open. At least one
   * bound is not null.
   */
  | {
      readonly type: 'leafRange'
      readonly field: LeafField
      readonly path: string
      readonly from: LeafBound | null
      readonly to: LeafBound | null
    }
  /** The field has a value that is not the empty text. */
  | { readonly type: 'exists'; readonly field: KeywordField | TextField | NumberField }
  | { readonly type: 'leafExists'; readonly field: LeafField; readonly path: string }
  | { readonly type: 'level'; readonly comparison: Comparison; readonly rank: number }
  /** Finds nothing if the field has no value, whatever the comparison. */
  | { readonly type: 'number'; readonly field: NumberField; readonly comparison: Comparison; readonly value: number }
  /** The value is a canonical timestamp. */
  | { readonly type: 'time'; readonly field: TimeField; readonly comparison: Comparison; readonly value: string }
  | { readonly type: 'not'; readonly query: Query }
  | { readonly type: 'and' | 'or'; readonly queries: readonly Query[] }

/** A value as written, and whether it belongs to the range. */
export interface LeafBound {
  readonly value: string
  readonly isIncluded: boolean
}

export type Comparison = '=' | '>' | '>=' | '<' | '<='
export type TextField = 'message' | 'exception' | 'payload'
export type KeywordField =
  | 'id'
  | 'environment'
  | 'correlationKey'
  | 'event'
  | 'step'
  | 'project'
  | 'category'
  | 'eventName'
export type LeafField = 'payload' | 'scope'
/** The leaves at one path of the payloads or the scope data. */
export interface LeafName {
  readonly field: LeafField
  readonly path: string
}
export type NumberField = 'eventId'
export type TimeField = 'timestamp' | 'receivedAt'

/** How a search text was read; unparsable text is searched as plain text, and `at` is where parsing stopped (characters from 0). */
export type QueryReading =
  | { readonly read: 'query' }
  | { readonly read: 'text'; readonly problem: string; readonly at: number }

export interface ParsedQuery {
  readonly query: Query
  readonly reading: QueryReading
}
