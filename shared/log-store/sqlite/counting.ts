import { LEVELS, type Level } from '../../contract/levels.ts'
import { timestampOf, toNanos } from '../../contract/timestamp.ts'
import type { EntryFilter, FacetName, Facets, Histogram } from '../log-store.ts'
import { type Spans, spansOver } from '../spans.ts'
import type { Database } from './database.ts'
import { placesOf } from './entry-reader.ts'
import { kindsOf, type Select, type Selection, whereKinds } from './selection.ts'

const NOTHING: Histogram = { intervalMs: 1, buckets: [], total: 0 }

export function createHistogramReader(database: Database, select: Select) {
  const read = (filter: EntryFilter, bucketsMax: number): Histogram => {
    const selection = select(filter)
    const spans = spansOf(database, filter, selection, bucketsMax)
    return spans === null ? NOTHING : histogram(spans, countLevels(database, filter, selection, spans))
  }
  return { histogram: (filter: EntryFilter, bucketsMax: number) => database.read(() => read(filter, bucketsMax)) }
}

/** At most so many spans over the filter's range, its open ends closed by those of the matches; null where nothing matches. */
export function spansOf(database: Database, filter: EntryFilter, selection: Selection, countMax: number): Spans | null {
  const from = filter.from === null ? edge(database, filter, selection, 'asc') : toNanos(filter.from)
  const last = filter.to === null ? edge(database, filter, selection, 'desc') : toNanos(filter.to) - 1n
  return from === null || last === null || last < from ? null : spansOver(from, last + 1n, Math.max(1, countMax))
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

const NAMES = ['level', 'environment', 'event', 'step', 'project', 'category'] as const satisfies readonly FacetName[]
const COLUMNS = NAMES.map((name) => `e.${name} AS ${name}`).join(', ')

/** Counts all facets in one pass: entries are alike in most of them, so there are few combinations. */
export function createFacetReader(database: Database, select: Select) {
  const read = (filter: EntryFilter, valuesMax: number): Facets => {
    const selection = select(filter)
    const { text, values } = whereKinds(selection, kindsOf(filter))
    const rows = database
      .prepare(`SELECT ${COLUMNS}, count(*) AS count FROM ${selection.from} WHERE ${text} GROUP BY 1, 2, 3, 4, 5, 6`)
      .iterate(...values)
    const counts = { level: new Map(), environment: new Map(), event: new Map(), step: new Map() }
    const all: Record<FacetName, Map<string, number>> = { ...counts, project: new Map(), category: new Map() }
    for (const row of rows) {
      for (const name of NAMES) add(all[name], facetValue(name, row[name]), Number(row['count']))
    }
    const top = (name: FacetName) => most(all[name], valuesMax)
    return {
      level: top('level'),
      environment: top('environment'),
      event: top('event'),
      step: top('step'),
      project: top('project'),
      category: top('category'),
    }
  }
  return { facets: (filter: EntryFilter, valuesMax: number) => database.read(() => read(filter, valuesMax)) }
}

const facetValue = (name: FacetName, stored: unknown): string | null =>
  stored === null ? null : name === 'level' ? (LEVELS[Number(stored)] ?? null) : String(stored)

function add(counts: Map<string, number>, value: string | null, count: number): void {
  if (value !== null) counts.set(value, (counts.get(value) ?? 0) + count)
}

const most = (counts: ReadonlyMap<string, number>, valuesMax: number): Facets[FacetName] =>
  [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, valuesMax)
