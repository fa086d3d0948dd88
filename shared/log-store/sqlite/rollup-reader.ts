import { LEVELS } from '../../contract/levels.ts'
import type { Query } from '../../query/ast.ts'
import type { EntryFilter } from '../log-store.ts'
import { countsOfArrays, matchesOf } from './array-rollup.ts'
import { wordsAndRest } from './compile-query.ts'
import { type Database, goOn } from './database.ts'
import type { StoreLimits } from './limits.ts'
import {
  besideOf,
  countedFacts,
  END,
  factsOf,
  hasFingerprint,
  type Matches,
  type Minutes,
  minuteOf,
  minutesOf,
  type RollupCounts,
  type RollupOf,
} from './rollup.ts'
import { FACTS, RANKS, uncountedAfter, WIDTHS } from './rollups.ts'
import { ROLLUP_DETAILS } from './schema.ts'
import { allOf, type Sql, sql, TRUE } from './sql.ts'

const GO_ON = sql(goOn('start'))
const LEVEL_SUMS = LEVELS.map(
  (_, rank) => `sum(entries) FILTER (WHERE facts % ${RANKS} = ${rank}) AS level_${rank}`,
).join()

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
    const counts = byArrays
      ? countsOfArrays(filter, matches)
      : countsOfRows(database, filter, team, needed, range, matches)
    return { beside: besideOf(database, filter, range, counted), ...matches, ...counts }
  }

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

/** The counts of a filter whose matches are counted in the rows of `rollups`. */
function countsOfRows(
  database: Database,
  filter: EntryFilter,
  team: number,
  detail: Detail,
  range: Minutes,
  { combinations }: Matches,
): RollupCounts {
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
      yield* countedFacts(combinations(), counts)
    },
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

/** The numbers of the matching combinations, as a condition on rows of `rollups`. */
function conditions(filter: EntryFilter, team: number): Sql {
  const all = factsOf(filter)
  if (all.length === 0) return TRUE
  const { text, values } = allOf([sql('e.team = ?', team), ...all])
  return sql(`facts IN (SELECT e.number FROM rollup_facts AS e WHERE ${text})`, ...values)
}

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
