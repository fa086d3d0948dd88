/** A parsed search: what to find, free of any store. See docs/query.md for the grammar. */
export type Query =
  | { readonly type: 'all' }
  /** Every word must stand in one of the texts, in any order; `prefix` matches words that begin with the last one. */
  | {
      readonly type: 'words'
      readonly field: TextField | null
      readonly words: readonly string[]
      readonly phrase: boolean
      readonly prefix: boolean
    }
  /** The field's value equals one text (case matters), or begins with it. */
  | { readonly type: 'equals'; readonly field: KeywordField; readonly value: string; readonly prefix: boolean }
  /** The leaf of the payload or the scope data equals one text, or begins with it. */
  | {
      readonly type: 'leaf'
      readonly field: LeafField
      readonly path: string
      readonly value: string
      readonly prefix: boolean
    }
  /** The field has a value. */
  | { readonly type: 'exists'; readonly field: KeywordField | TextField }
  | { readonly type: 'leafExists'; readonly field: LeafField; readonly path: string }
  | { readonly type: 'level'; readonly comparison: Comparison; readonly rank: number }
  | { readonly type: 'number'; readonly field: NumberField; readonly comparison: Comparison; readonly value: number }
  | { readonly type: 'time'; readonly field: TimeField; readonly comparison: Comparison; readonly value: string }
  | { readonly type: 'not'; readonly query: Query }
  | { readonly type: 'and' | 'or'; readonly queries: readonly Query[] }

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
export type NumberField = 'eventId'
export type TimeField = 'timestamp' | 'receivedAt'

/** How a search text was read; what does not parse is searched as text, and `at` is where parsing stopped (characters from 0). */
export type QueryReading =
  | { readonly read: 'query' }
  | { readonly read: 'text'; readonly problem: string; readonly at: number }

export interface ParsedQuery {
  readonly query: Query
  readonly reading: QueryReading
}
