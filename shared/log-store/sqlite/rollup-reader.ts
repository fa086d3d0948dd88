import type { SQLOutputValue } from 'node:sqlite'
import { LEVELS, type Level } from '../../contract/levels.ts'
import { fromNanos, MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { Query } from '../../query/ast.ts'
import type { EntryFilter, FacetName } from '../log-store.ts'
import { lastArrival } from './arrivals.ts'
import { compileQuery, wordsAndRest } from './compile-query.ts'
import { type CountedSpan, createSpanReader, spansWithin } from './counted-entries.ts'
import { type Database, goOn } from './database.ts'
import { storedFingerprint } from './ids.ts'
import type { StoreLimits } from './limits.ts'
import { FACTS, uncountedAfter, WIDTHS } from './rollups.ts'
import { ROLLUP_DETAILS } from './schema.ts'
import { factConditions, kindsOf } from './selection.ts'
import { allOf, FALSE, type Sql, sql, TRUE } from './sql.ts'
import { type ArrivalRange, matchesIn, type TimedTable, tablesWithin, timedTables } from './text-tables.ts'

/** The matches of a filter in whole minutes, as counted by the rollups. Only in `Database.read`. */
export interface Rollup {
  /** The other matches, whose rows have to be read: those in partial minutes at the ends of the range, and those not counted yet. */
  readonly beside: readonly RowsPart[]
  count(): number
  /** Counts by level, each for a span that starts at `minute` (since 1970). No span crosses a multiple of `unit` minutes. */
  levels(unit: number): Iterable<{ readonly minute: number; readonly level: Level; readonly count: number }>
  /** The combinations of facts of the matches, each with its count. Only if facts were wanted. */
  facts(): Iterable<{ readonly facts: Facts; readonly count: number }>
  /** The combinations of facts that matches may have, by number. Only if facts were wanted. */
  combinations(): ReadonlyMap<number, Facts>
  /** Calls `each` with the place of every match in the arrays of counted entries. Only if facts were wanted. */
  forEach(each: (span: CountedSpan, index: number) => void): void
  /** A part of the matches that has the first or last one, if there is any; null if there is none. */
  edge(order: 'asc' | 'desc'): RowsPart | null
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

/** The number of minutes up to the latest possible timestamp or later: a multiple of every width. */
const END = 1_440 * 150_000

const GO_ON = sql(goOn('start'))
const LEVEL_SUMS = LEVELS.map((_, rank) => `sum(entries) FILTER (WHERE facts & 7 = ${rank}) AS level_${rank}`).join()
const FACETS = FACTS.slice(2).join()

export const createRollupOf =
  (database: Database, limits: StoreLimits): RollupOf =>
  (filter, wanted) => {
    const words = wordsAndRest(filter.query)
    const rest = words === null ? filter : { ...filter, query: words.rest }
    const byArrays = words !== null || hasFingerprint(filter)
    const needed = neededDetail(rest, byArrays ? 'facts' : wanted)
    const range = minutesOf(filter)
    const counted = uncountedAfter(database, limits)
    if (needed === null || range.to <= range.from || counted === null) return null
    const number = database.prepare('SELECT number FROM rollup_teams WHERE team = ?').get(filter.team)?.['number']
    if (number === undefined) return null
    const team = Number(number)
    if (needed === ROLLUP_DETAILS.facts && hasRest(database, team, range)) return null
    const matches = matchesOf(database, { match: words?.match ?? null, rest, team, range, counted })
    return byArrays
      ? createArrayRollup(database, filter, matches, range, counted)
      : createRollup(database, filter, team, needed, matches, range, counted)
  }

/** Whether the filter names a template or a group of exceptions, which only the arrays of counted entries and the rows have. */
export const hasFingerprint = ({ template, exceptionGroup }: EntryFilter): boolean =>
  template !== null || exceptionGroup !== null

/** Minutes since 1970; `to` is exclusive. */
interface Minutes {
  readonly from: number
  readonly to: number
}

const minutesOf = ({ from, to }: EntryFilter): Minutes => ({
  from: from === null ? 0 : Number((toNanos(from) + MINUTE_NANOS - 1n) / MINUTE_NANOS),
  to: to === null ? END : Number(toNanos(to) / MINUTE_NANOS),
})

const hasRest = (database: Database, team: number, { from, to }: Minutes): boolean =>
  database
    .prepare('SELECT 1 FROM rollups WHERE team = ? AND detail = ? AND width = 1 AND start >= ? AND start < ? LIMIT 1')
    .get(team, ROLLUP_DETAILS.rest, from, to) !== undefined

type Detail = typeof ROLLUP_DETAILS.level | typeof ROLLUP_DETAILS.facts

/** The smallest detail that has everything a filter needs; null if none has. */
function neededDetail(filter: EntryFilter, wanted: 'counts' | 'facts'): Detail | null {
  if (filter.correlationKey !== null) return null
  const { environment, event, step, project, category } = filter
  const isPlain = [environment, event, step, project, category].every((value) => value === null)
  const ofFilter = wanted === 'counts' && isPlain ? ROLLUP_DETAILS.level : ROLLUP_DETAILS.facts
  return greatest([ofFilter, detailOfQuery(filter.query)])
}

function detailOfQuery(query: Query): Detail | null {
  switch (query.type) {
    case 'all':
    case 'level':
      return ROLLUP_DETAILS.level
    case 'equals':
    case 'exists':
      return (FACTS as readonly string[]).includes(query.field) ? ROLLUP_DETAILS.facts : null
    case 'not':
      return detailOfQuery(query.query)
    case 'and':
    case 'or':
      return greatest(query.queries.map(detailOfQuery))
    default:
      return null
  }
}

const greatest = (details: readonly (Detail | null)[]): Detail | null =>
  details.reduce((a, b) => (a === null || b === null ? null : a > b ? a : b), ROLLUP_DETAILS.level)

function createRollup(
  database: Database,
  filter: EntryFilter,
  team: number,
  detail: Detail,
  matches: Matches,
  range: Minutes,
  counted: number,
): Rollup {
  const facts = conditions(filter, detail === ROLLUP_DETAILS.facts ? team : 0)
  const rows = ({ width, from, to }: Piece): Sql =>
    allOf([
      sql('team = ? AND detail = ? AND width = ? AND start >= ? AND start < ?', team, detail, width, from, to),
      GO_ON,
      facts,
    ])

  /** The first or last row of a piece, refined by smaller widths within it. */
  const firstIn = (piece: Piece, order: 'asc' | 'desc'): number | null => {
    const { text, values } = rows(piece)
    const start = database
      .prepare(`SELECT start FROM rollups WHERE ${text} ORDER BY start ${order} LIMIT 1`)
      .get(...values)?.['start']
    if (start === undefined) return null
    const width = WIDTHS[WIDTHS.indexOf(piece.width) - 1]
    return width === undefined
      ? Number(start)
      : firstIn({ width, from: Number(start), to: Number(start) + piece.width }, order)
  }

  return {
    beside: besideOf(database, filter, range, counted),
    count: () =>
      pieces(range, END).reduce((sum, piece) => {
        const { text, values } = rows(piece)
        const row = database.prepare(`SELECT sum(entries) AS count FROM rollups WHERE ${text}`).get(...values)
        return sum + Number(row?.['count'] ?? 0)
      }, 0),
    levels: function* (unit) {
      for (const piece of pieces(range, unit)) {
        const { text, values } = rows(piece)
        const select = `SELECT start, ${LEVEL_SUMS} FROM rollups WHERE ${text} GROUP BY start`
        for (const row of database.prepare(select).iterate(...values)) {
          for (const [rank, level] of LEVELS.entries()) {
            const count = Number(row[`level_${rank}`] ?? 0)
            if (count > 0) yield { minute: Number(row['start']), level, count }
          }
        }
      }
    },
    facts: function* () {
      const counts = new Map<number, number>()
      for (const piece of pieces(range, END)) {
        const { text, values } = rows(piece)
        const select = `SELECT facts, sum(entries) AS count FROM rollups WHERE ${text} GROUP BY facts`
        for (const row of database.prepare(select).iterate(...values)) {
          const number = Number(row['facts'])
          counts.set(number, (counts.get(number) ?? 0) + Number(row['count']))
        }
      }
      yield* countedFacts(matches.combinations(), counts)
    },
    ...matches,
    edge: (order) => {
      const ordered = order === 'asc' ? pieces(range, END) : pieces(range, END).toReversed()
      for (const piece of ordered) {
        const minute = firstIn(piece, order)
        if (minute !== null) return minuteOf(filter, minute)
      }
      return null
    },
  }
}

/** The matches of a filter that are counted, by the arrays of counted entries. */
type Matches = Pick<Rollup, 'combinations' | 'forEach'>

/** `match`: a full-text query; null if the filter has no words. `rest`: the rest of the filter. */
interface FilterParts {
  readonly match: string | null
  readonly rest: EntryFilter
  readonly team: number
  readonly range: Minutes
  readonly counted: number
}

function matchesOf(database: Database, { match, rest, team, range, counted }: FilterParts): Matches {
  let known: ReadonlyMap<number, Facts> | undefined
  const combinations = (): ReadonlyMap<number, Facts> => (known ??= combinationsOf(database, rest, team))
  const template = rest.template === null ? undefined : storedFingerprint(rest.template)
  const exceptionGroup = rest.exceptionGroup === null ? undefined : storedFingerprint(rest.exceptionGroup)
  return {
    combinations,
    forEach: (each) => {
      const wanted = combinations()
      const offer = (span: CountedSpan, index: number): void => {
        if (!isWithin(range, span.minutes[index]) || !wanted.has(span.facts[index] ?? 0)) return
        if (template !== undefined && span.templates[index] !== template) return
        if (exceptionGroup === undefined || span.exceptionGroups[index] === exceptionGroup) each(span, index)
      }
      for (const table of tablesWithin(timedTables(database, counted), [rest.from], [rest.to]))
        if (match === null) offerAll(database, table, offer)
        else offerMatches(database, table, match, offer)
    },
  }
}

function offerAll(
  database: Database,
  { firstArrival, nextArrival }: TimedTable,
  offer: Parameters<Matches['forEach']>[0],
) {
  for (const span of spansWithin(database, firstArrival, nextArrival - 1)) {
    const end = Math.min(nextArrival - 1, span.last) - span.first
    for (let index = Math.max(0, firstArrival - span.first); index <= end; index += 1) offer(span, index)
  }
}

function offerMatches(database: Database, table: TimedTable, match: string, offer: Parameters<Matches['forEach']>[0]) {
  const spanOf = createSpanReader(database)
  for (const arrival of matchesIn(database, table, match)) {
    const span = spanOf(arrival)
    if (span !== undefined) offer(span, arrival - span.first)
  }
}

/** The rollup of a filter with words or fingerprints, whose matches are counted when they are asked for. */
function createArrayRollup(
  database: Database,
  filter: EntryFilter,
  { combinations, forEach }: Matches,
  range: Minutes,
  counted: number,
): Rollup {
  const countFacts = (): ReadonlyMap<number, number> => {
    const counts = new Map<number, number>()
    forEach(({ facts }, index) => {
      const number = facts[index] ?? 0
      counts.set(number, (counts.get(number) ?? 0) + 1)
    })
    return counts
  }

  return {
    beside: besideOf(database, filter, range, counted),
    count: () => [...countFacts().values()].reduce((a, b) => a + b, 0),
    levels: function* (unit) {
      const counts = new Map<number, number>()
      forEach(({ facts, minutes }, index) => {
        const key = Math.floor((minutes[index] ?? 0) / unit) * LEVELS_MAX + ((facts[index] ?? 0) & 7)
        counts.set(key, (counts.get(key) ?? 0) + 1)
      })
      for (const [key, count] of counts) {
        const level = LEVELS[key % LEVELS_MAX]
        if (level !== undefined) yield { minute: Math.floor(key / LEVELS_MAX) * unit, level, count }
      }
    },
    facts: () => countedFacts(combinations(), countFacts()),
    combinations,
    forEach,
    // The first match of a list is found faster than all matches are counted.
    edge: () => ({ filter }),
  }
}

const LEVELS_MAX = 8

/** The part of a filter's matches that is in a minute since 1970. */
export const minuteOf = (filter: EntryFilter, minute: number): RowsPart => ({
  filter: { ...filter, from: timeOf(minute), to: timeOf(minute + 1) },
})

const isWithin = ({ from, to }: Minutes, minute = 0): boolean => minute >= from && minute < to

/** The combinations that satisfy a filter without words, by number. */
function combinationsOf(database: Database, filter: EntryFilter, team: number): ReadonlyMap<number, Facts> {
  const { text, values } = allOf([sql('e.team = ?', team), ...factsOf(filter)])
  const rows = database
    .prepare(`SELECT e.number AS number, ${FACETS} FROM rollup_facts AS e WHERE ${text}`)
    .all(...values)
  return new Map(rows.map((row) => [Number(row['number']), row as Facts]))
}

function* countedFacts(combinations: ReadonlyMap<number, Facts>, counts: ReadonlyMap<number, number>) {
  for (const [number, facts] of combinations) {
    const count = counts.get(number)
    if (count !== undefined) yield { facts, count }
  }
}

/** The numbers of the matching combinations, as a condition on rows of `rollups`. */
function conditions(filter: EntryFilter, team: number): Sql {
  const all = factsOf(filter)
  if (all.length === 0) return TRUE
  const { text, values } = allOf([sql('e.team = ?', team), ...all])
  return sql(`facts IN (SELECT e.number FROM rollup_facts AS e WHERE ${text})`, ...values)
}

/** The conditions of a filter without words on `rollup_facts AS e`, except for the Team. */
const factsOf = (filter: EntryFilter): readonly Sql[] => [
  ...(filter.kinds.length === 0 ? [] : [sql(`e.kind IN (${kindsOf(filter).join()})`)]),
  ...factConditions(filter),
  ...(filter.query.type === 'all' ? [] : [compileQuery(filter.query, () => FALSE, false).rest]),
]

const besideOf = (database: Database, filter: EntryFilter, range: Minutes, counted: number): readonly RowsPart[] => [
  ...atTheEnds(filter, range),
  ...uncounted(filter, range, counted, lastArrival(database)),
]

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

interface Piece extends Minutes {
  readonly width: (typeof WIDTHS)[number]
}

/** A range of minutes as the fewest rows: days between hours between minutes, in order, with widths that divide `unit`. */
function pieces(range: Minutes, unit: number): readonly Piece[] {
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
  return cover(range, widths.length - 1)
}
