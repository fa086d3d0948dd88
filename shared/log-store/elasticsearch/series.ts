import type { LeafName } from '../../query/ast.ts'
import { type LogStoreReader, NO_SERIES, ReadTooLargeError, type Series, withLeaf } from '../log-store.ts'
import { headOf, type Spans, startsOf } from '../spans.ts'
import { type CountedNumber, countOf, ROUNDED_NUMBERS_MAX, statisticOf } from '../statistics.ts'
import { countGroups, countingOf, leafPattern, leafValue } from './groups.ts'
import { bySpan, spansOf } from './histogram.ts'
import type { Clause } from './query-dsl.ts'
import { aggregate, type Searcher, type Terms } from './searcher.ts'

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

export function createSeriesReader(searcher: Searcher): LogStoreReader['series'] {
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
