import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { EntryFilter } from '../log-store.ts'
import type { Spans } from '../spans.ts'
import { wordsAndRest } from './compile-query.ts'
import type { StoreContext } from './context.ts'
import { type Database, goOn, type Row } from './database.ts'
import { FACTS_AS_ENTRIES } from './names.ts'
import { FACTS, LEVEL_FACTS, RANKS, uncountedAfter, WIDTHS } from './rollups.ts'
import {
  BY_TIME,
  combinationPredicates,
  combinationsOf,
  hasFingerprint,
  inPartsOf,
  isOfFacts,
  type Slice,
} from './scan.ts'
import { ROLLUP_DETAILS } from './schema.ts'
import { type EachCounted, fingerprintsOf, forEachCounted, type Segment } from './segments.ts'
import { allOf, compose, type Sql, sql, TRUE } from './sql.ts'
import { isRenewed, lastArrival, tablesWithin } from './text-tables.ts'

/**
 * The parts in which the matches of a filter are counted: whole minutes from the counts of rollups.ts, the rest by scans of rows. For a filter
 * from 12:00:30 to 14:00, when the entries up to arrival 990 of 1,000 are counted:
 *
 * - `counted` are the matches from 12:01 to 14:00, up to arrival 990,
 * - `slices` are 12:00:30 to 12:01, and 12:01 to 14:00 from arrival 991 on.
 *
 * Together they have each match once.
 */
interface Plan {
  /** Null if nothing counted answers the filter; then the only slice is the whole filter. */
  readonly counted: Counted | null
  readonly slices: readonly Slice[]
}

/** A filter's matches in whole minutes. */
interface Counted extends Counts, Matches {}

/** The numbers of matches, from rollups if these have all that the filter needs, else from segments. */
interface Counts {
  /** By the number of their facts. */
  byFacts(): ReadonlyMap<number, number>
  /** By their span of `unit` minutes and their level: the span, counted from 1970, times RANKS, and the rank of the level. */
  byLevel(unit: number): ReadonlyMap<number, number>
  /** A slice that has the first or last match, if there is any; null if there is none. */
  edge(order: 'asc' | 'desc'): Slice | null
}

/** Matches one by one, from segments. Some may be missing if no more than the level was wanted. */
export interface Matches {
  /** The combinations of facts that matches may have, by number: rows with the columns of facets. */
  combinations(): ReadonlyMap<number, Row>
  /** In the order of arrival. */
  forEach(each: EachCounted): void
}

/** A number of minutes that no time is beyond: a multiple of every width. */
const END = 1_440 * 150_000

/** Minutes since 1970; `to` is exclusive. */
interface Minutes {
  readonly from: number
  readonly to: number
}

/**
 * The plan of a filter. Nothing counted answers it if it needs more than the counted facts, words and fingerprints, if no whole minute is in
 * its range, while many entries are uncounted or were counted without fingerprints that it needs, and if its Team has more combinations of
 * facts than are counted. `wanted`: what is to be returned; the filter itself may use more.
 */
export function planOf(
  context: Pick<StoreContext, 'database' | 'limits'>,
  filter: EntryFilter,
  wanted: 'level' | 'facts' | 'fingerprints',
): Plan {
  const { database, limits } = context
  const { words, rest: query } = wordsAndRest(filter.query)
  const rest = { ...filter, query }
  const byFingerprint = wanted === 'fingerprints' || hasFingerprint(filter)
  const bySegments = words !== null || byFingerprint
  const needsFacts = bySegments || wanted === 'facts' || !needsOnly(rest, LEVEL_FACTS)
  const minutes = minutesOf(filter)
  const after = uncountedAfter(database, limits)
  const team = numberOf(database, filter.team)
  const hasAll = needsOnly(rest, FACTS) && (!byFingerprint || isRenewed(database))
  const isCounted = hasAll && minutes.from < minutes.to && after !== null && team !== null
  if (!isCounted || (needsFacts && hasUnnumbered(database, team, minutes)))
    return { counted: null, slices: [inPartsOf(context, filter)] }
  const matches = matchesOf(database, words, rest, minutes)
  const counts = bySegments
    ? countsOfMatches(matches, () => inPartsOf(context, filter))
    : countsOfRollups(database, rest, { team, detail: ROLLUP_DETAILS[needsFacts ? 'facts' : 'level'], minutes })
  const uncounted = { by: 'arrivals', after, last: lastArrival(database) } as const
  return {
    counted: { ...matches, ...counts },
    slices: [
      // Half a minute has few rows: along time, unless only tables tell which of them match.
      ...endsOf(filter, minutes).map((end) =>
        words === null ? { filter: end, path: BY_TIME } : inPartsOf(context, end),
      ),
      ...(after === uncounted.last ? [] : [{ filter: within(filter, minutes), path: uncounted }]),
    ],
  }
}

/** Whether a filter needs nothing but these facts, besides fingerprints. */
const needsOnly = (filter: EntryFilter, facts: readonly string[]): boolean =>
  isOfFacts(filter.query, facts) && NAMED.every((name) => filter[name] === null || facts.includes(name))

const NAMED = ['correlationKey', 'environment', 'event', 'step', 'project', 'category'] as const

const numberOf = (database: Database, team: string): number | null => {
  const row = database.prepare('SELECT number FROM rollup_teams WHERE team = ?').get(team)
  return row === undefined ? null : Number(row['number'])
}

/** Whether some entries in these minutes are of a combination without a number. */
const hasUnnumbered = (database: Database, team: number, { from, to }: Minutes): boolean =>
  database
    .prepare('SELECT 1 FROM rollups WHERE team = ? AND detail = ? AND width = 1 AND start >= ? AND start < ? LIMIT 1')
    .get(team, ROLLUP_DETAILS.unnumbered, from, to) !== undefined

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

const COMBINATION = ['number', ...FACTS.slice(2)].map((column) => `e.${column}`).join()

/** The matches of a full-text query, null if the filter has no words, and of the rest of the filter. */
function matchesOf(database: Database, words: string | null, rest: EntryFilter, minutes: Minutes): Matches {
  let known: ReadonlyMap<number, Row> | undefined
  const combinations = (): ReadonlyMap<number, Row> => {
    known ??= new Map(combinationsOf(database, rest, COMBINATION).map((row) => [Number(row['number']), row]))
    return known
  }
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

/** The counts of a filter with words or fingerprints; `all` are its matches. */
function countsOfMatches({ forEach }: Matches, all: () => Slice): Counts {
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
    edge: all,
  }
}

const GO_ON = sql(goOn('start'))

/** The rows of `rollups` that have the sums of a filter. */
interface RollupRows {
  readonly team: number
  readonly detail: number
  readonly minutes: Minutes
}

/** The counts of a filter by facts alone. */
function countsOfRollups(database: Database, filter: EntryFilter, { team, detail, minutes }: RollupRows): Counts {
  const predicates = combinationPredicates(filter)
  const where = allOf([sql('e.team = ?', detail === ROLLUP_DETAILS.facts ? team : 0), ...predicates])
  const facts =
    predicates.length === 0 ? TRUE : compose`facts IN (SELECT e.number FROM ${FACTS_AS_ENTRIES} WHERE ${where})`

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
        if (minute !== null) return { filter: inMinute(filter, minute), path: BY_TIME }
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
