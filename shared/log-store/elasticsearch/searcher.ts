import type { EntryKind } from '../../contract/records.ts'
import { type EntryRow, mayBeLong, parseRecord, rowOf } from '../../contract/rows.ts'
import { compareTimestamps, parseTimestamp, timestampOf } from '../../contract/timestamp.ts'
import type { Clock } from '../../runtime/clock.ts'
import { type EntryFilter, ReadTooLargeError } from '../log-store.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import type { IndexNames } from './index-names.ts'
import { hasTooManyClauses } from './outcome.ts'
import { type Clause, compileFilter } from './query-dsl.ts'

export interface Hit<Source> {
  readonly _id: string
  readonly _index: string
  readonly _source: Source
  readonly sort?: readonly (string | number)[]
  /** The requested doc values. */
  readonly fields?: unknown
}

interface SearchAnswer<Source, Aggregations = unknown> {
  /** In every answer of Elasticsearch. */
  readonly timed_out?: boolean
  /** The total is counted if the body has `track_total_hits`. */
  readonly hits?: { readonly total?: { readonly value: number }; readonly hits?: readonly Hit<Source>[] }
  readonly aggregations?: Aggregations
}

/** The answer of a terms aggregation: the most frequent values, and how many matches have others. */
export interface Terms<Key = string> {
  readonly sum_other_doc_count: number
  readonly buckets: readonly { readonly key: Key; readonly doc_count: number }[]
}

/** An entry's hit has its record as exact text: as `source` or, if it may be long, as its row and, if requested, the `whole`. */
export interface EntrySource {
  readonly source?: string
  readonly row?: string
  readonly whole?: string
}

/** The same with the order of its arrival among those of other shards (`entryBody`). */
export interface StampedSource extends EntrySource {
  readonly writtenAt: number
}

/** The members of a hit that make a row, and those that make an entry. */
export const ROW = ['source', 'row'] as const
export const WHOLE = ['source', 'whole'] as const

export const textOf = ({ _source: { source, row, whole } }: Hit<EntrySource>): string => whole ?? row ?? source ?? ''

/** The row of a record; one that was stored before rows existed is cut here. */
export const rowOfText = (text: string): EntryRow => (mayBeLong(text) ? rowOf(parseRecord(text)) : parseRecord(text))

/** The order of entries, ascending or descending. Ids are unique, so no two entries are equal in it. */
export const entrySort = (order: 'asc' | 'desc'): readonly object[] => [timeSort(order), { id: { order } }]

/** The format of instants in answers, to the nanosecond. */
const NANOS = { format: 'strict_date_optional_time_nanos' }

/** The order of instants, to the nanosecond. */
export const timeSort = (order: 'asc' | 'desc', field = 'timestamp'): object => ({
  [field]: { order, ...NANOS, numeric_type: 'date_nanos' },
})

/** The doc value of an entry's instant. */
export const INSTANT = { field: 'timestamp', ...NANOS }

/** An aggregation of the first or the last entry of a bucket, with its exact instant. */
export const edge = (order: 'asc' | 'desc'): object => ({
  top_hits: { size: 1, _source: false, sort: [timeSort(order)], docvalue_fields: [INSTANT] },
})

export interface TopHit {
  readonly hits: { readonly hits: readonly { readonly fields: { readonly timestamp: readonly string[] } }[] }
}

export const instantOf = ({ hits }: TopHit): string => parseTimestamp(hits.hits[0]?.fields.timestamp[0] ?? '') ?? ''

interface SearchOptions {
  readonly signal?: AbortSignal | undefined
  /** As in `ElasticsearchRequest`. */
  readonly answerBytesMax?: number
}

export interface Searcher {
  /** Searches the entries of the kinds, of every day, for one Team. */
  entries<Aggregations>(
    team: string,
    kinds: readonly EntryKind[],
    body: object,
    options?: SearchOptions,
  ): Promise<SearchAnswer<EntrySource, Aggregations>>
  flows<Source, Aggregations = unknown>(
    team: string,
    body: object,
    options?: SearchOptions,
  ): Promise<SearchAnswer<Source, Aggregations>>
  /**
   * Reads the `count` latest hits of a filter up to `to`; null is now, and later. A shard meets its documents in the order of their arrival,
   * so nearly every match is later than those before it and takes a place among the hits: the time grows with all matches. Hence `read` is
   * first called for the last minute alone, then for the last hour. With fewer hits there, matches are rare, and it is called for all of
   * the filter.
   */
  latest<Filter extends { readonly from: string | null }, Found>(
    filter: Filter,
    to: string | null,
    count: number,
    read: (filter: Filter) => Promise<readonly Found[]>,
  ): Promise<readonly Found[]>
}

/** The spans before the end of a range that are read first for its latest hits, in milliseconds. */
const LATEST_MS = [60_000, 3_600_000]

/**
 * All searches go through here; they reject with a `ReadTooLargeError` if they have to be narrowed. An answer that lacks a shard's part is
 * an error, never a shorter answer. A Team is always served by the same copies of the shards, so that an entry once seen is not missing in
 * the next answer of a slower copy.
 */
export function createSearcher(connection: Connection, names: IndexNames, clock: Clock): Searcher {
  async function search<Source, Aggregations>(
    index: string,
    team: string,
    body: object,
    options: SearchOptions = {},
  ): Promise<SearchAnswer<Source, Aggregations>> {
    try {
      const answer = await connection.send<SearchAnswer<Source, Aggregations>>({
        method: 'POST',
        path: `/${index}/_search`,
        query: { ...PRESENT, allow_partial_search_results: false, preference: preferenceOf(team), filter_path: WANTED },
        body: { track_total_hits: false, ...body },
        ...options,
      })
      // Without its fields, an answer would look like one without matches.
      if (answer.timed_out === undefined) throw new ElasticsearchError('a search answered something else', null, {})
      return answer
    } catch (error) {
      throw asReadError(error)
    }
  }
  return {
    entries: (team, kinds, body, options) => search(names.all(kinds), team, body, options),
    flows: (team, body, options) => search(names.flows, team, body, options),
    latest: async (filter, to, count, read) => {
      const end = Math.min(to === null ? Number.POSITIVE_INFINITY : Date.parse(to), clock.now())
      for (const from of LATEST_MS.map((ms) => timestampOf(Math.max(0, end - ms)))) {
        if (filter.from !== null && compareTimestamps(filter.from, from) >= 0) break
        const hits = await read({ ...filter, from })
        if (hits.length >= count) return hits
      }
      return read(filter)
    },
  }
}

/** The results of aggregations over the matches of a filter, and of further clauses. */
export async function aggregate<Answer>(
  searcher: Searcher,
  filter: EntryFilter,
  aggs: object,
  signal: AbortSignal | undefined,
  ...more: readonly Clause[]
): Promise<Answer | undefined> {
  const body = { query: compileFilter(filter, ...more), size: 0, aggs }
  return (await searcher.entries<Answer>(filter.team, filter.kinds, body, { signal })).aggregations
}

/** A `ReadTooLargeError` for the error of a search that has to be narrowed; any other error unchanged. */
export const asReadError = (error: unknown): unknown =>
  error instanceof ElasticsearchError && hasTooManyClauses(error.body)
    ? new ReadTooLargeError('the beginning of a word stands for too many words', { cause: error })
    : error

/** The parameters of a request that passes over an index that does not exist any more. */
export const LENIENT = { ignore_unavailable: true, allow_no_indices: true } as const
/** The same, but the request fails without any index: a login without privileges sees none, and the Team may have entries. */
export const PRESENT = { ignore_unavailable: true, allow_no_indices: false } as const
const WANTED =
  'timed_out,hits.total.value,hits.hits._id,hits.hits._index,hits.hits._source,hits.hits.sort,hits.hits.fields,aggregations'

/** Any text without a leading underscore, which Elasticsearch reserves. */
export const preferenceOf = (team: string): string => `team-${team}`
