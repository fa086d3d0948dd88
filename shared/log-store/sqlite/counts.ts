import type { SQLOutputValue } from 'node:sqlite'
import { LEVELS } from '../../contract/levels.ts'
import { fromNanos, MINUTE_NANOS } from '../../contract/timestamp.ts'
import type { EntryFilter, FacetName } from '../log-store.ts'
import type { LevelCount, Spans } from '../spans.ts'
import { compileQuery } from './compile-query.ts'
import { type Database, goOn } from './database.ts'
import { FACTS, RANKS, WIDTHS } from './rollups.ts'
import { factPredicates, kindsOf, type Slice } from './scan.ts'
import { KINDS, ROLLUP_DETAILS } from './schema.ts'
import { type EachPlace, fingerprintsOf, forEachPlace } from './segments.ts'
import { allOf, compose, FALSE, type Sql, sql, TRUE } from './sql.ts'
import { tablesWithin } from './text-tables.ts'

/**
 * The counts of a filter's matches in whole minutes, from what rollups.ts has counted. Two structures have them:
 *
 * - The rows of `rollups`, sums by minute, hour and day, for filters by facts (`countsOfRollups`).
 * - The columnar segments (segments.ts), with the facts of each entry, for filters by words or fingerprints too (`countsOfMatches`).
 */
export interface Counts {
  count(): number
  /** Counts by level in spans of whole minutes. */
  byLevel(spans: Spans): Iterable<LevelCount>
  /** Counts by combination of facts. Only if facts were wanted of the plan. */
  byCombination(): Iterable<{ readonly combination: Combination; readonly count: number }>
  /** A slice that has the first or last match, if there is any; null if there is none. */
  edge(order: 'asc' | 'desc'): Slice | null
}

/** A combination of facts, named like the facet columns of `entries`. */
export type Combination = Readonly<Record<FacetName, SQLOutputValue>>

/** A filter's matches in whole minutes one by one, by segments. */
export interface Matches {
  /** The combinations of facts that matches may have, by number. */
  combinations(): ReadonlyMap<number, Combination>
  /** Calls `each` with the place of every match, in the order of arrival. */
  forEach(each: EachPlace): void
}

/** A filter in two parts: a full-text query, null if it has no words, and the rest. Both in whole minutes of one Team. */
export interface CountedFilter {
  readonly words: string | null
  readonly rest: EntryFilter
  readonly team: number
  readonly minutes: Minutes
}

/** Minutes since 1970; `to` is exclusive. */
export interface Minutes {
  readonly from: number
  readonly to: number
}

const MINUTE_MS = 60_000

/** The minutes of a span; null if its width is not whole minutes. */
export const minutesOfSpan = ({ widthMs }: Spans): number | null =>
  widthMs % MINUTE_MS === 0 ? widthMs / MINUTE_MS : null

/** The slice of a filter's matches that is in a minute since 1970. */
export const minuteSlice = (filter: EntryFilter, minute: number): Slice => ({
  filter: { ...filter, from: timeOf(minute), to: timeOf(minute + 1) },
})

/** The start of a minute since 1970. */
export const timeOf = (minute: number): string => fromNanos(BigInt(minute) * MINUTE_NANOS)

/** The facts by which entries are told apart in facets. */
const FACET_COLUMNS = FACTS.slice(2).join()

/** The combinations of a Team that satisfy a filter without words, as a FROM and WHERE. */
const combinationsWhere = (team: number, predicates: readonly Sql[]): Sql =>
  compose`FROM rollup_facts AS e WHERE ${allOf([sql('e.team = ?', team), ...predicates])}`

const combinationPredicates = (filter: EntryFilter): readonly Sql[] => [
  ...(filter.kinds.length === 0 ? [] : [sql(`e.kind IN (${kindsOf(filter).map((kind) => KINDS[kind])})`)]),
  ...factPredicates(filter),
  ...(filter.query.type === 'all' ? [] : [compileQuery(filter.query, () => FALSE)]),
]

function* withCombinations(combinations: ReadonlyMap<number, Combination>, counts: ReadonlyMap<number, number>) {
  for (const [number, combination] of combinations) {
    const count = counts.get(number)
    if (count !== undefined) yield { combination, count }
  }
}

export function matchesOf(database: Database, { words, rest, team, minutes }: CountedFilter): Matches {
  let known: ReadonlyMap<number, Combination> | undefined
  const read = (): ReadonlyMap<number, Combination> => {
    const where = combinationsWhere(team, combinationPredicates(rest))
    const rows = database.all(compose`SELECT e.number AS number, ${FACET_COLUMNS} ${where}`)
    return new Map(rows.map((row) => [Number(row['number']), row as Combination]))
  }
  const combinations = (): ReadonlyMap<number, Combination> => (known ??= read())
  const hasFingerprints = fingerprintsOf(rest)
  return {
    combinations,
    forEach: (each) => {
      const wanted = combinations()
      const offer: EachPlace = (segment, index) => {
        const minute = segment.minutes[index] ?? 0
        if (minute < minutes.from || minute >= minutes.to || !wanted.has(segment.facts[index] ?? 0)) return
        if (hasFingerprints(segment, index)) each(segment, index)
      }
      forEachPlace(database, tablesWithin(database, rest), words, offer)
    },
  }
}

/** The counts of a filter with words or fingerprints, whose matches are counted when they are asked for. */
export function countsOfMatches(filter: EntryFilter, { combinations, forEach }: Matches): Counts {
  const countFacts = (): ReadonlyMap<number, number> => {
    const counts = new Map<number, number>()
    forEach(({ facts }, index) => {
      const number = facts[index] ?? 0
      counts.set(number, (counts.get(number) ?? 0) + 1)
    })
    return counts
  }

  return {
    count: () => [...countFacts().values()].reduce((a, b) => a + b, 0),
    byLevel: function* (spans) {
      const unit = minutesOfSpan(spans) ?? 1
      const counts = new Map<number, number>()
      forEach(({ facts, minutes }, index) => {
        const key = Math.floor((minutes[index] ?? 0) / unit) * RANKS + ((facts[index] ?? 0) % RANKS)
        counts.set(key, (counts.get(key) ?? 0) + 1)
      })
      for (const [key, count] of counts) {
        const level = LEVELS[key % RANKS]
        if (level !== undefined) yield { span: Math.floor(key / RANKS) - spans.first, level, count }
      }
    },
    byCombination: () => withCombinations(combinations(), countFacts()),
    // The first match of a list is found faster than all matches are counted.
    edge: () => ({ filter }),
  }
}

const GO_ON = sql(goOn('start'))
const LEVEL_SUMS = LEVELS.map(
  (_, rank) => `sum(entries) FILTER (WHERE facts % ${RANKS} = ${rank}) AS level_${rank}`,
).join()

/** The details (ROLLUP_DETAILS) that have sums by hour and day. */
export type Detail = typeof ROLLUP_DETAILS.level | typeof ROLLUP_DETAILS.facts

/** The counts of a filter by facts, in the rows of one detail. */
export function countsOfRollups(
  database: Database,
  detail: Detail,
  { rest: filter, team, minutes }: CountedFilter,
  { combinations }: Matches,
): Counts {
  const predicates = combinationPredicates(filter)
  const where = combinationsWhere(detail === ROLLUP_DETAILS.facts ? team : 0, predicates)
  const facts = predicates.length === 0 ? TRUE : compose`facts IN (SELECT e.number ${where})`
  const all = pieces(minutes, END)

  function select(columns: string, { width, from, to }: Piece, end = '') {
    const conditions = allOf([
      sql('team = ? AND detail = ? AND width = ? AND start >= ? AND start < ?', team, detail, width, from, to),
      GO_ON,
      facts,
    ])
    return database.iterate(compose`SELECT ${columns} FROM rollups WHERE ${conditions} ${end}`)
  }

  /** The first or last minute of a piece, refined by smaller widths within its first or last row. */
  const firstIn = (piece: Piece, order: 'asc' | 'desc'): number | null => {
    const [row] = [...select('start', piece, `ORDER BY start ${order} LIMIT 1`)]
    if (row === undefined) return null
    const start = Number(row['start'])
    const width = WIDTHS[WIDTHS.indexOf(piece.width) - 1]
    return width === undefined ? start : firstIn({ width, from: start, to: start + piece.width }, order)
  }

  return {
    count: () => {
      let count = 0
      for (const piece of all) for (const row of select('sum(entries) AS count', piece)) count += Number(row['count'])
      return count
    },
    byLevel: function* (spans) {
      const unit = minutesOfSpan(spans) ?? 1
      for (const piece of pieces(minutes, unit))
        for (const row of select(`start, ${LEVEL_SUMS}`, piece, 'GROUP BY start'))
          for (const [rank, level] of LEVELS.entries()) {
            const count = Number(row[`level_${rank}`] ?? 0)
            if (count > 0) yield { span: Math.floor(Number(row['start']) / unit) - spans.first, level, count }
          }
    },
    byCombination: () => {
      const counts = new Map<number, number>()
      for (const piece of all)
        for (const row of select('facts, sum(entries) AS count', piece, 'GROUP BY facts')) {
          const number = Number(row['facts'])
          counts.set(number, (counts.get(number) ?? 0) + Number(row['count']))
        }
      return withCombinations(combinations(), counts)
    },
    edge: (order) => {
      for (const piece of order === 'asc' ? all : all.toReversed()) {
        const minute = firstIn(piece, order)
        if (minute !== null) return minuteSlice(filter, minute)
      }
      return null
    },
  }
}

/** The number of minutes up to the latest possible timestamp or later: a multiple of every width. */
export const END = 1_440 * 150_000

interface Piece extends Minutes {
  readonly width: (typeof WIDTHS)[number]
}

/**
 * Minutes as the fewest rows, in order, with widths that divide `unit`. From 22:58 on one day to 01:00 two days later: the minutes 22:58 and
 * 22:59, the hour 23, a day, and the hour 0.
 */
function pieces(minutes: Minutes, unit: number): readonly Piece[] {
  const widths = WIDTHS.filter((width) => unit % width === 0)
  const cover = ({ from, to }: Minutes, index: number): readonly Piece[] => {
    const width = widths[index]
    if (width === undefined || from >= to) return []
    const first = Math.ceil(from / width) * width
    const last = Math.floor(to / width) * width
    if (first >= last) return cover({ from, to }, index - 1)
    return [
      ...cover({ from, to: first }, index - 1),
      { width, from: first, to: last },
      ...cover({ from: last, to }, index - 1),
    ]
  }
  return cover(minutes, widths.length - 1)
}
