import type { SQLOutputValue } from 'node:sqlite'
import type { Level } from '../../contract/levels.ts'
import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { EntryFilter, FacetName } from '../log-store.ts'
import { lastArrival } from './arrivals.ts'
import { compileQuery } from './compile-query.ts'
import type { CountedSpan } from './counted-entries.ts'
import type { Database } from './database.ts'
import { FACTS } from './rollups.ts'
import { factConditions, kindsOf } from './selection.ts'
import { allOf, FALSE, type Sql, sql } from './sql.ts'
import type { ArrivalRange } from './text-tables.ts'

/** The matches of a filter in whole minutes, as counted by the rollups. Only in `Database.read`. */
export interface Rollup extends RollupCounts, Matches {
  /** The other matches, whose rows have to be read: those in partial minutes at the ends of the range, and those not counted yet. */
  readonly beside: readonly RowsPart[]
}

/** The counts of a filter's matches. */
export interface RollupCounts {
  count(): number
  /** Counts by level, each for a span that starts at `minute` (since 1970). No span crosses a multiple of `unit` minutes. */
  levels(unit: number): Iterable<{ readonly minute: number; readonly level: Level; readonly count: number }>
  /** The combinations of facts of the matches, each with its count. Only if facts were wanted. */
  facts(): Iterable<{ readonly facts: Facts; readonly count: number }>
  /** A part of the matches that has the first or last one, if there is any; null if there is none. */
  edge(order: 'asc' | 'desc'): RowsPart | null
}

/** A filter's matches one by one, by the arrays of counted entries. Only if facts were wanted. */
export interface Matches {
  /** The combinations of facts that matches may have, by number. */
  combinations(): ReadonlyMap<number, Facts>
  /** Calls `each` with the place of every match in the arrays. */
  forEach(each: (span: CountedSpan, index: number) => void): void
}

/** A combination of facts, named like the facet columns of `entries`. */
export type Facts = Readonly<Record<FacetName, SQLOutputValue>>

/** A part of the matches of a filter: the filter narrowed, and the range of arrivals unless all are meant. */
export interface RowsPart {
  readonly filter: EntryFilter
  readonly arrivals?: ArrivalRange
}

/**
 * The rollup of a filter; null if it cannot answer: if the filter needs more than the counted facts, if no whole minute is in its range,
 * while many entries are uncounted, and if a Team has more combinations of facts than are counted. Only in `Database.read`. `wanted`:
 * whether facts are to be returned, or only the filter may use them.
 */
export type RollupOf = (filter: EntryFilter, wanted: 'counts' | 'facts') => Rollup | null

/** Minutes since 1970; `to` is exclusive. */
export interface Minutes {
  readonly from: number
  readonly to: number
}

/** The number of minutes up to the latest possible timestamp or later: a multiple of every width. */
export const END = 1_440 * 150_000

export const minutesOf = ({ from, to }: EntryFilter): Minutes => ({
  from: from === null ? 0 : Number((toNanos(from) + MINUTE_NANOS - 1n) / MINUTE_NANOS),
  to: to === null ? END : Number(toNanos(to) / MINUTE_NANOS),
})

export const isWithin = ({ from, to }: Minutes, minute = 0): boolean => minute >= from && minute < to

/** Whether the filter names a template or a group of exceptions, which only the arrays of counted entries and the rows have. */
export const hasFingerprint = ({ template, exceptionGroup }: EntryFilter): boolean =>
  template !== null || exceptionGroup !== null

/** The part of a filter's matches that is in a minute since 1970. */
export const minuteOf = (filter: EntryFilter, minute: number): RowsPart => ({
  filter: { ...filter, from: timeOf(minute), to: timeOf(minute + 1) },
})

/** The facts by which entries are told apart in facets. */
const FACETS = FACTS.slice(2).join()

/** The combinations that satisfy a filter without words, by number. */
export function combinationsOf(database: Database, filter: EntryFilter, team: number): ReadonlyMap<number, Facts> {
  const { text, values } = allOf([sql('e.team = ?', team), ...factsOf(filter)])
  const rows = database
    .prepare(`SELECT e.number AS number, ${FACETS} FROM rollup_facts AS e WHERE ${text}`)
    .all(...values)
  return new Map(rows.map((row) => [Number(row['number']), row as Facts]))
}

export function* countedFacts(combinations: ReadonlyMap<number, Facts>, counts: ReadonlyMap<number, number>) {
  for (const [number, facts] of combinations) {
    const count = counts.get(number)
    if (count !== undefined) yield { facts, count }
  }
}

/** The conditions of a filter without words on `rollup_facts AS e`, except for the Team. */
export const factsOf = (filter: EntryFilter): readonly Sql[] => [
  ...(filter.kinds.length === 0 ? [] : [sql(`e.kind IN (${kindsOf(filter).join()})`)]),
  ...factConditions(filter),
  ...(filter.query.type === 'all' ? [] : [compileQuery(filter.query, () => FALSE, false).rest]),
]

/** The matches that are not counted in whole minutes: those at the ends of the range, and those after the arrival `counted`. */
export const besideOf = (
  database: Database,
  filter: EntryFilter,
  range: Minutes,
  counted: number,
): readonly RowsPart[] => [...atTheEnds(filter, range), ...uncounted(filter, range, counted, lastArrival(database))]

/** The matches in the parts of a minute at the ends of the range. */
function atTheEnds(filter: EntryFilter, { from, to }: Minutes): readonly RowsPart[] {
  const start = filter.from !== null && toNanos(filter.from) < nanosOf(from)
  const end = filter.to !== null && toNanos(filter.to) > nanosOf(to)
  return [
    ...(start ? [{ filter: { ...filter, to: timeOf(from) } }] : []),
    ...(end ? [{ filter: { ...filter, from: timeOf(to) } }] : []),
  ]
}

function uncounted(filter: EntryFilter, { from, to }: Minutes, counted: number, last: number): readonly RowsPart[] {
  if (counted === last) return []
  const range = { from: filter.from === null ? null : timeOf(from), to: filter.to === null ? null : timeOf(to) }
  return [{ filter: { ...filter, ...range }, arrivals: { after: counted, last } }]
}

/** The start of a minute since 1970, in nanoseconds. */
const nanosOf = (minute: number): bigint => BigInt(minute) * MINUTE_NANOS
const timeOf = (minute: number): string => fromNanos(nanosOf(minute))
