import { LEVELS, levelOf } from '../../contract/levels.ts'
import { parseRecord } from '../../contract/rows.ts'
import type { LeafName } from '../../query/ast.ts'
import {
  type EntryFilter,
  FACETS,
  type FacetName,
  type Facets,
  facetsOf,
  type LogStoreReader,
  NO_SERIES,
  ReadTooLargeError,
  type Series,
  withLeaf,
} from '../log-store.ts'
import { headOf, type Spans, startsOf } from '../spans.ts'
import { type CountedNumber, countOf, ROUNDED_NUMBERS_MAX, statisticOf } from '../statistics.ts'
import type { Connection } from './connection.ts'
import { countGroups, countingOf, createGroupReader, leafPattern, leafValue } from './groups.ts'
import { bySpan, createHistogramReader, spansOf } from './histogram.ts'
import type { IndexNames } from './index-names.ts'
import { createPageReader } from './page-reader.ts'
import { allOf, type Clause, compileFilter, term } from './query-dsl.ts'
import { aggregate, type Searcher, type Terms, textOf, WHOLE } from './searcher.ts'

/**
 * Each shard returns its most frequent values; a value that is rare in every shard may be missing from the sum. With this many per shard,
 * that takes more values than any installation we know of has in a field.
 */
const FACET_VALUES_PER_SHARD = 5_000

type EntryReader = Pick<LogStoreReader, 'search' | 'get' | 'count' | 'histogram' | 'facets' | 'groups' | 'series'>

interface Deps {
  /** A connection that does not retry. */
  readonly connection: Connection
  readonly searcher: Searcher
  readonly names: IndexNames
}

export function createEntryReader({ connection, searcher, names }: Deps): EntryReader {
  const search = createPageReader(connection, searcher, names)
  return {
    search,

    async get(team, kind, id, signal) {
      const query = allOf([term('team', team), term('id', id)])
      const answer = await searcher.entries(team, [kind], { query, size: 1, _source: WHOLE }, { signal })
      const hit = answer.hits?.hits?.[0]
      return hit === undefined ? undefined : parseRecord(textOf(hit))
    },

    async count(filter, signal) {
      const body = { query: compileFilter(filter), size: 0, track_total_hits: true }
      const { hits } = await searcher.entries(filter.team, filter.kinds, body, { signal })
      return hits?.total?.value ?? 0
    },

    histogram: createHistogramReader(searcher),
    facets: (filter, valuesMax, signal) => readFacets(searcher, filter, valuesMax, signal),
    groups: createGroupReader(searcher, search),
    series: createSeriesReader(searcher),
  }
}

async function readFacets(
  searcher: Searcher,
  filter: EntryFilter,
  valuesMax: number,
  signal: AbortSignal | undefined,
): Promise<Facets> {
  // All levels are requested, as levels with equal counts are ordered here, not by rank.
  const sizes = { size: Math.max(valuesMax, LEVELS.length), shard_size: Math.max(valuesMax, FACET_VALUES_PER_SHARD) }
  const aggs = Object.fromEntries(FACETS.map((field) => [field, { terms: { field, ...sizes } }]))
  const found = await aggregate<Record<FacetName, Terms<string | number>>>(searcher, filter, aggs, signal)
  const countsOf = (field: FacetName) =>
    (found?.[field].buckets ?? []).map(({ key, doc_count }) => [facetValue(field, key), doc_count] as const)
  return facetsOf(countsOf, valuesMax)
}

const facetValue = (field: FacetName, key: string | number): string =>
  field === 'level' ? levelOf(Number(key)) : String(key)

/** Maximum buckets of an answer: some megabytes if the numbers have a long name, and below Elasticsearch's default limit of 65,536. */
const BUCKETS_MAX = ROUNDED_NUMBERS_MAX

const NUMBERS = { payload: 'payloadNumbers', scope: 'scopeNumbers' } as const satisfies Record<
  LeafName['field'],
  string
>

interface SpanBucket {
  readonly doc_count: number
  readonly numbers?: Terms
}

function createSeriesReader(searcher: Searcher): LogStoreReader['series'] {
  return async function series(filter, { fn, of, by, seriesMax, bucketsMax }, signal) {
    const spans = await spansOf(searcher, filter, bucketsMax, signal)
    if (spans === null) return NO_SERIES
    const one = async (value: string | null, ...narrowed: readonly Clause[]): Promise<Series> => {
      const ask: Ask = (aggs) => aggregate(searcher, filter, aggs, signal, ...narrowed)
      const found = of === null ? await countEntries(ask, spans) : await countNumbers(ask, of, spans)
      const count = found.reduce((sum, numbers) => sum + countOf(numbers), 0)
      return { value, count, points: found.map((numbers) => statisticOf(fn, numbers)) }
    }
    const head = headOf(spans)
    if (by === null) return { ...head, series: [await one(null)], more: false }
    const counting = countingOf(by)
    const { values } = await countGroups(searcher, withLeaf(filter, of), counting, seriesMax, signal)
    const all: Series[] = []
    for (const { key } of values.buckets.slice(0, seriesMax))
      all.push(await one(counting.textOf(key), counting.having([key])))
    return { ...head, series: all, more: values.buckets.length > seriesMax }
  }
}

/** Asks what aggregations make of the matches of one series. */
type Ask = <Answer>(aggs: object) => Promise<Answer | undefined>

/** The numbers of each span, in ascending order. */
type Counts = readonly (readonly CountedNumber[])[]

/** A zero for each entry. */
async function countEntries(ask: Ask, spans: Spans): Promise<Counts> {
  const answer = await ask<{ spans: { buckets: readonly SpanBucket[] } }>({ spans: bySpan(spans) })
  return startsOf(spans).map((_, index) => [[0, answer?.spans.buckets[index]?.doc_count ?? 0]])
}

/** Reads some spans at a time, so that no answer has too many buckets. */
async function countNumbers(ask: Ask, { field, path }: LeafName, spans: Spans): Promise<Counts> {
  const terms = { terms: { field: NUMBERS[field], include: leafPattern(path), size: ROUNDED_NUMBERS_MAX } }
  const all = (await ask<{ numbers: Terms }>({ numbers: terms }))?.numbers
  if (all !== undefined && all.sum_other_doc_count > 0)
    throw new ReadTooLargeError('the numbers of a series are too different')
  const different = Math.max(1, all?.buckets.length ?? 0)
  const spansMax = Math.floor(BUCKETS_MAX / different)
  const found: (readonly CountedNumber[])[] = []
  while (found.length < spans.count) {
    const some = { ...spans, first: spans.first + found.length, count: Math.min(spansMax, spans.count - found.length) }
    const aggs = { spans: { ...bySpan(some), aggs: { numbers: terms } } }
    const answer = await ask<{ spans: { buckets: readonly SpanBucket[] } }>(aggs)
    for (const index of startsOf(some).keys())
      found.push(numbersOf(answer?.spans.buckets[index]?.numbers?.buckets ?? [], path))
  }
  return found
}

const numbersOf = (buckets: Terms['buckets'], path: string): readonly CountedNumber[] =>
  buckets
    .map(({ key, doc_count }): CountedNumber => [Number(leafValue(path, key)), doc_count])
    .sort(([a], [b]) => a - b)
