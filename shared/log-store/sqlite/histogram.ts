import { LEVELS, type Level } from '../../contract/levels.ts'
import { timestampOf, toNanos } from '../../contract/timestamp.ts'
import type { EntryFilter, Histogram } from '../log-store.ts'
import { type Spans, spansOver } from '../spans.ts'
import type { Database } from './database.ts'
import { placesOf } from './entry-reader.ts'
import { kindsOf, type Select, type Selection, whereKinds } from './selection.ts'

const NOTHING: Histogram = { intervalMs: 1, buckets: [], total: 0 }

export function createHistogramReader(database: Database, select: Select) {
  const read = (filter: EntryFilter, bucketsMax: number): Histogram => {
    const selection = select(filter)
    const from = filter.from === null ? edge(database, filter, selection, 'asc') : toNanos(filter.from)
    const last = filter.to === null ? edge(database, filter, selection, 'desc') : toNanos(filter.to) - 1n
    if (from === null || last === null || last < from) return NOTHING
    const spans = spansOver(from, last + 1n, Math.max(1, bucketsMax))
    return histogram(spans, countLevels(database, filter, selection, spans))
  }
  return { histogram: (filter: EntryFilter, bucketsMax: number) => database.read(() => read(filter, bucketsMax)) }
}

function edge(database: Database, filter: EntryFilter, selection: Selection, order: 'asc' | 'desc'): bigint | null {
  return placesOf(database, filter, selection, order, null, 1)[0]?.nanos ?? null
}

interface LevelCount {
  readonly span: number
  readonly level: Level
  readonly count: number
}

function countLevels(database: Database, filter: EntryFilter, selection: Selection, spans: Spans): LevelCount[] {
  const { text, values } = whereKinds(selection, kindsOf(filter))
  const rows = database
    .prepare(`SELECT e.timestamp / 1000000 / ? - ? AS span, e.level AS level, count(*) AS count
      FROM ${selection.from} WHERE ${text} GROUP BY 1, 2`)
    .all(BigInt(spans.widthMs), BigInt(spans.first), ...values)
  return rows.flatMap((row) => {
    const level = LEVELS[Number(row['level'])]
    return level === undefined ? [] : [{ span: Number(row['span']), level, count: Number(row['count']) }]
  })
}

function histogram({ widthMs, first, count }: Spans, counts: readonly LevelCount[]): Histogram {
  const buckets = Array.from({ length: count }, (_, index) => ({
    from: timestampOf((first + index) * widthMs),
    total: 0,
    levels: {} as Partial<Record<Level, number>>,
  }))
  for (const { span, level, count } of counts) {
    const bucket = buckets[span]
    if (bucket === undefined) continue
    bucket.total += count
    bucket.levels[level] = count
  }
  return { intervalMs: widthMs, buckets, total: buckets.reduce((sum, { total }) => sum + total, 0) }
}
