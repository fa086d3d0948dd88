import { levelOf } from '../../contract/levels.ts'
import { parseTimestamp, toNanos } from '../../contract/timestamp.ts'
import { type EntryFilter, type LogStoreReader, NO_HISTOGRAM } from '../log-store.ts'
import { histogramOf, type LevelCount, type Spans, spansOver, startsOf } from '../spans.ts'
import { compileFilter } from './query-dsl.ts'
import { aggregate, type Searcher, type Terms, timeSort } from './searcher.ts'

interface Counted {
  readonly spans: { readonly buckets: readonly { readonly levels: Terms<number> }[] }
}

export function createHistogramReader(searcher: Searcher): LogStoreReader['histogram'] {
  return async function histogram(filter, bucketsMax, signal) {
    const spans = await spansOf(searcher, filter, bucketsMax, signal)
    return spans === null ? NO_HISTOGRAM : histogramOf(spans, await countLevels(searcher, filter, spans, signal))
  }
}

/** At most `countMax` spans over the filter's range; open ends are closed by the matches'. Null if nothing matches. */
export async function spansOf(
  searcher: Searcher,
  filter: EntryFilter,
  countMax: number,
  signal: AbortSignal | undefined,
): Promise<Spans | null> {
  const [[from], [last]] = await Promise.all([
    filter.from === null ? edgesOf(searcher, filter, 'asc', signal) : [toNanos(filter.from)],
    filter.to === null
      ? searcher.latest(filter, null, 1, (within) => edgesOf(searcher, within, 'desc', signal))
      : [toNanos(filter.to) - 1n],
  ])
  if (from === undefined || last === undefined || last < from) return null
  return spansOver(from, last + 1n, Math.max(1, countMax))
}

/**
 * The instant of the first or last match; none if nothing matches. A sorted search skips most entries; an aggregation of the edges would
 * read all matches.
 */
async function edgesOf(
  searcher: Searcher,
  filter: EntryFilter,
  order: 'asc' | 'desc',
  signal: AbortSignal | undefined,
): Promise<readonly bigint[]> {
  const body = { query: compileFilter(filter), size: 1, sort: [timeSort(order)], _source: false }
  const answer = await searcher.entries(filter.team, filter.kinds, body, { signal })
  const instant = parseTimestamp(String(answer.hits?.hits?.[0]?.sort?.[0] ?? ''))
  return instant === undefined ? [] : [toNanos(instant)]
}

/**
 * An aggregation with a bucket for each span, oldest first, empty ones included. Explicit ranges allow spans of any width, whereas a date
 * histogram refuses some that are centuries wide.
 */
export function bySpan(spans: Spans): object {
  const ranges = startsOf(spans).map((from) => ({ from, to: from + spans.widthMs }))
  return { date_range: { field: 'timestamp', format: 'epoch_millis', ranges } }
}

async function countLevels(
  searcher: Searcher,
  filter: EntryFilter,
  spans: Spans,
  signal: AbortSignal | undefined,
): Promise<readonly LevelCount[]> {
  const aggs = { spans: { ...bySpan(spans), aggs: { levels: { terms: { field: 'level' } } } } }
  const found = await aggregate<Counted>(searcher, filter, aggs, signal)
  return (found?.spans.buckets ?? []).flatMap(({ levels }, span) =>
    levels.buckets.map(({ key, doc_count }) => ({ span, level: levelOf(key), count: doc_count })),
  )
}
