import type { SQLOutputValue } from 'node:sqlite'
import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { EntryFilter, FacetName } from '../log-store.ts'
import type { Spans } from '../spans.ts'
import { type Detail, detailOfQuery, greatest, wordsAndRest } from './compile-query.ts'
import type { StoreContext } from './context.ts'
import { type Database, goOn } from './database.ts'
import { FACTS, RANKS, uncountedAfter, WIDTHS } from './rollups.ts'
import { BY_TIME, combinationPredicates, hasFingerprint, type Slice } from './scan.ts'
import { ROLLUP_DETAILS } from './schema.ts'
import { type EachCounted, fingerprintsOf, forEachCounted, type Segment } from './segments.ts'
import { allOf, compose, type Sql, sql, TRUE } from './sql.ts'
import { isRenewed, lastArrival, tablesWithin } from './text-tables.ts'

/**
 * How the matches of a filter are counted: in whole minutes by what rollups.ts has counted, the others by scans of their rows. For a filter
 * from 12:00:30 to 14:00, when the entries up to arrival 990 of 1,000 are counted:
 *
 * - `counts` and `matches` are of 12:01 to 14:00, up to arrival 990,
 * - `slices` are 12:00:30 to 12:01, and 12:01 to 14:00 from arrival 991 on.
 *
 * Together they have each match once.
 */
export interface Plan {
  /** Null if nothing counted answers the filter; then the only slice is the whole filter. */
  readonly counts: Counts | null
  /** Null also if facts were not wanted, and not all of them are counted. */
  readonly matches: Matches | null
  readonly slices: readonly Slice[]
}

/** Numbers of matches in whole minutes. */
export interface Counts {
  /** By the number of their facts. */
  byFacts(): ReadonlyMap<number, number>
  /** By their span of `unit` minutes and their level: the span, counted from 1970, times RANKS, and the rank of the level. */
  byLevel(unit: number): ReadonlyMap<number, number>
  /** A slice that has the first or last match, if there is any; null if there is none. */
  edge(order: 'asc' | 'desc'): Slice | null
}

/** A filter's matches in whole minutes one by one, by segments. */
export interface Matches {
  /** The combinations of facts that matches may have, by number. */
  combinations(): ReadonlyMap<number, Combination>
  /** In the order of arrival. */
  forEach(each: EachCounted): void
}

/** A combination of facts, named like the facet columns of `entries`. */
type Combination = Readonly<Record<FacetName, SQLOutputValue>>

/** A number of minutes that no time is beyond: a multiple of every width. */
const END = 1_440 * 150_000

/** Minutes since 1970; `to` is exclusive. */
interface Minutes {
  readonly from: number
  readonly to: number
}

/** A filter in two parts: a full-text query, null if it has no words, and the rest. Both in whole minutes of one Team. */
interface CountedFilter {
  readonly words: string | null
  readonly rest: EntryFilter
  readonly team: number
  readonly minutes: Minutes
}

/**
 * The plan of a filter. Nothing counted answers it if it needs more than the counted facts, words and fingerprints, if no whole minute is in
 * its range, while many entries are uncounted or were counted without fingerprints that it needs, and if its Team has more combinations of
 * facts than are counted. `wanted`: what is to be returned; the filter itself may use more.
 */
export function planOf(
  { database, limits }: Pick<StoreContext, 'database' | 'limits'>,
  filter: EntryFilter,
  wanted: 'level' | 'facts' | 'fingerprints',
): Plan {
  const { words, rest: query } = wordsAndRest(filter.query)
  const rest = { ...filter, query }
  const byFingerprint = wanted === 'fingerprints' || hasFingerprint(filter)
  const bySegments = words !== null || byFingerprint
  const detail = detailOf(rest, bySegments || wanted === 'facts' ? 'facts' : 'level')
  const minutes = minutesOf(filter)
  const after = uncountedAfter(database, limits)
  const team = numberOf(database, filter.team)
  const hasAll = !byFingerprint || isRenewed(database)
  const isCounted = detail !== null && minutes.from < minutes.to && after !== null && team !== null && hasAll
  if (!isCounted || (detail === ROLLUP_DETAILS.facts && hasUnnumbered(database, team, minutes)))
    return { counts: null, matches: null, slices: [{ filter }] }
  const counted: CountedFilter = { words, rest, team, minutes }
  const matches = matchesOf(database, counted)
  // Half a minute has few rows: along time, unless only tables tell which of them match.
  const path = words === null ? { path: BY_TIME } : {}
  const uncounted = { by: 'arrivals', after, last: lastArrival(database) } as const
  return {
    counts: bySegments ? countsOfMatches(filter, matches) : countsOfRollups(database, detail, counted),
    matches: detail === ROLLUP_DETAILS.facts ? matches : null,
    slices: [
      ...endsOf(filter, minutes).map((end) => ({ filter: end, ...path })),
      ...(after === uncounted.last ? [] : [{ filter: within(filter, minutes), path: uncounted }]),
    ],
  }
}

const numberOf = (database: Database, team: string): number | null => {
  const row = database.prepare('SELECT number FROM rollup_teams WHERE team = ?').get(team)
  return row === undefined ? null : Number(row['number'])
}

/** Whether some entries in these minutes are of a combination without a number. */
const hasUnnumbered = (database: Database, team: number, { from, to }: Minutes): boolean =>
  database
    .prepare('SELECT 1 FROM rollups WHERE team = ? AND detail = ? AND width = 1 AND start >= ? AND start < ? LIMIT 1')
    .get(team, ROLLUP_DETAILS.unnumbered, from, to) !== undefined

/** The smallest detail that has everything a filter needs; null if none has. */
function detailOf(filter: EntryFilter, wanted: 'level' | 'facts'): Detail | null {
  const { correlationKey, environment, event, step, project, category, query } = filter
  if (correlationKey !== null) return null
  const isByFacts = [environment, event, step, project, category].some((value) => value !== null)
  return greatest([ROLLUP_DETAILS[wanted], ROLLUP_DETAILS[isByFacts ? 'facts' : 'level'], detailOfQuery(query)])
}

/** The whole minutes of a filter's range. */
const minutesOf = ({ from, to }: EntryFilter): Minutes => ({
  from: from === null ? 0 : Number((toNanos(from) + MINUTE_NANOS - 1n) / MINUTE_NANOS),
  to: to === null ? END : Number(toNanos(to) / MINUTE_NANOS),
})

/** The start of a minute since 1970. */
const timeOf = (minute: number): string => fromNanos(BigInt(minute) * MINUTE_NANOS)

/** A filter in whole minutes of its range. */
const within = (filter: EntryFilter, { from, to }: Minutes): EntryFilter => ({
  ...filter,
  from: from === 0 ? null : timeOf(from),
  to: to === END ? null : timeOf(to),
})

/** The filter in a minute since 1970. */
export const inMinute = (filter: EntryFilter, minute: number): EntryFilter =>
  within(filter, { from: minute, to: minute + 1 })

/** The filter in the parts of a minute at the ends of its range. */
function endsOf(filter: EntryFilter, minutes: Minutes): readonly EntryFilter[] {
  const { from, to } = filter
  const [first, end] = [timeOf(minutes.from), timeOf(minutes.to)]
  return [
    ...(from !== null && toNanos(from) < toNanos(first) ? [{ ...filter, to: first }] : []),
    ...(to !== null && toNanos(to) > toNanos(end) ? [{ ...filter, from: end }] : []),
  ]
}

const MINUTE_MS = 60_000

/** The minutes of a span; null if its width is not whole minutes. */
export const minutesOfSpan = ({ widthMs }: Spans): number | null =>
  widthMs % MINUTE_MS === 0 ? widthMs / MINUTE_MS : null

/** The facts by which entries are told apart in facets. */
const FACET_COLUMNS = FACTS.slice(2).join()

/** The combinations of a Team that satisfy a filter without words, as a FROM and WHERE. */
const combinationsWhere = (team: number, predicates: readonly Sql[]): Sql =>
  compose`FROM rollup_facts AS e WHERE ${allOf([sql('e.team = ?', team), ...predicates])}`

function matchesOf(database: Database, { words, rest, team, minutes }: CountedFilter): Matches {
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
      forEachCounted(database, tablesWithin(database, rest), words, (segment, index) => {
        const minute = segment.minutes[index] ?? 0
        if (minute < minutes.from || minute >= minutes.to || !wanted.has(segment.facts[index] ?? 0)) return
        if (hasFingerprints(segment, index)) each(segment, index)
      })
    },
  }
}

/** The counts of a filter with words or fingerprints. */
function countsOfMatches(filter: EntryFilter, { forEach }: Matches): Counts {
  const countBy = (keyOf: (segment: Segment, index: number) => number): ReadonlyMap<number, number> => {
    const counts = new Map<number, number>()
    forEach((segment, index) => {
      const key = keyOf(segment, index)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    })
    return counts
  }
  return {
    byFacts: () => countBy(({ facts }, index) => facts[index] ?? 0),
    byLevel: (unit) =>
      countBy(({ minutes, facts }, index) => {
        return Math.floor((minutes[index] ?? 0) / unit) * RANKS + ((facts[index] ?? 0) % RANKS)
      }),
    // The first match of a list is found faster than all matches are counted.
    edge: () => ({ filter }),
  }
}

const GO_ON = sql(goOn('start'))

/** The counts of a filter by facts alone, in the rows of one detail. */
function countsOfRollups(database: Database, detail: Detail, { rest: filter, team, minutes }: CountedFilter): Counts {
  const predicates = combinationPredicates(filter)
  const where = combinationsWhere(detail === ROLLUP_DETAILS.facts ? team : 0, predicates)
  const facts = predicates.length === 0 ? TRUE : compose`facts IN (SELECT e.number ${where})`

  const select = (columns: Sql, { width, from, to }: Piece, end: string) => {
    const row = sql('team = ? AND detail = ? AND width = ? AND start >= ? AND start < ?', team, detail, width, from, to)
    return database.iterate(compose`SELECT ${columns} FROM rollups WHERE ${allOf([row, GO_ON, facts])} ${end}`)
  }

  const sumBy = (key: Sql, all: readonly Piece[]): ReadonlyMap<number, number> => {
    const sums = new Map<number, number>()
    for (const piece of all)
      for (const row of select(compose`${key} AS key, sum(entries) AS sum`, piece, 'GROUP BY key')) {
        const one = Number(row['key'])
        sums.set(one, (sums.get(one) ?? 0) + Number(row['sum']))
      }
    return sums
  }

  /** The first or last minute of a piece, refined by smaller widths within its first or last row. */
  const edgeOf = (piece: Piece, order: 'asc' | 'desc'): number | null => {
    const [row] = [...select(sql('start'), piece, `ORDER BY start ${order} LIMIT 1`)]
    if (row === undefined) return null
    const start = Number(row['start'])
    const width = WIDTHS[WIDTHS.indexOf(piece.width) - 1]
    return width === undefined ? start : edgeOf({ width, from: start, to: start + piece.width }, order)
  }

  return {
    byFacts: () => sumBy(sql('facts'), pieces(minutes, END)),
    // A number would be bound as a REAL.
    byLevel: (unit) => sumBy(sql(`start / ? * ${RANKS} + facts % ${RANKS}`, BigInt(unit)), pieces(minutes, unit)),
    edge: (order) => {
      const all = pieces(minutes, END)
      for (const piece of order === 'asc' ? all : all.toReversed()) {
        const minute = edgeOf(piece, order)
        if (minute !== null) return { filter: inMinute(filter, minute) }
      }
      return null
    },
  }
}

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
