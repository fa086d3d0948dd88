import { parseKeepingDigits } from '../../contract/exact-json.ts'
import { LEVELS, type Level } from '../../contract/levels.ts'
import type { EntryKind, EntryRecord } from '../../contract/records.ts'
import type { Connection } from './connection.ts'
import type { IndexNames } from './index-names.ts'

export interface Hit<Source> {
  readonly _id: string
  readonly _index: string
  readonly _source: Source
  readonly sort?: readonly (string | number)[]
}

export interface SearchAnswer<Source, Aggregations = unknown> {
  readonly hits?: { readonly hits?: readonly Hit<Source>[] }
  readonly aggregations?: Aggregations
}

/** What an entry's hit brings along: the record as text, to the letter. */
export interface EntrySource {
  readonly source: string
}

export const recordOf = (hit: Hit<EntrySource>): EntryRecord => parseKeepingDigits(hit._source.source) as EntryRecord

/** The order of entries; read downwards or upwards. Ids are unique, so that no two entries share a place. */
export const entrySort = (order: 'asc' | 'desc'): readonly object[] => [
  { timestamp: { order, format: 'strict_date_optional_time_nanos', numeric_type: 'date_nanos' } },
  { id: { order } },
]

export interface Searcher {
  /** Searches the entries of the kinds, of every day, for one Team. */
  entries<Aggregations>(
    team: string,
    kinds: readonly EntryKind[],
    body: object,
  ): Promise<SearchAnswer<EntrySource, Aggregations>>
  flows<Source>(team: string, body: object): Promise<SearchAnswer<Source>>
}

/**
 * All searches go through here. An answer that lacks a shard's part is an error, never a shorter answer. The same Team is always
 * served by the same copies of the shards, so that an entry once seen is not missing in the next answer of a slower copy.
 */
export function createSearcher(connection: Connection, names: IndexNames): Searcher {
  const search = <Answer>(index: string, team: string, body: object): Promise<Answer> =>
    connection.send<Answer>({
      method: 'POST',
      path: `/${index}/_search`,
      query: { ...LENIENT, allow_partial_search_results: false, preference: preferenceOf(team), filter_path: WANTED },
      body: { track_total_hits: false, ...body },
    })
  return {
    entries: (team, kinds, body) => search(names.all(kinds), team, body),
    flows: (team, body) => search(names.flows, team, body),
  }
}

/** An index that is not there yet holds nothing. */
export const LENIENT = { ignore_unavailable: true, allow_no_indices: true } as const
const WANTED = 'hits.hits._id,hits.hits._index,hits.hits._source,hits.hits.sort,aggregations'

/** Any text but one that begins with an underscore, which Elasticsearch keeps for itself. */
export const preferenceOf = (team: string): string => `team-${team}`

/** The level of a stored rank; a rank that no level has was written past this store. */
export const levelOf = (rank: number): Level => LEVELS[rank] ?? 'Trace'
