import { MINUTE_NANOS, toNanos } from '../../contract/timestamp.ts'
import type { Query } from '../../query/ast.ts'
import type { EntryFilter } from '../log-store.ts'
import { wordsAndRest } from './compile-query.ts'
import type { StoreContext } from './context.ts'
import {
  type CountedFilter,
  type Counts,
  countsOfMatches,
  countsOfRollups,
  type Detail,
  END,
  type Matches,
  type Minutes,
  matchesOf,
  timeOf,
} from './counts.ts'
import type { Database } from './database.ts'
import { FACTS, uncountedAfter } from './rollups.ts'
import { BY_TIME, hasFingerprint, type Path, type Slice } from './scan.ts'
import { ROLLUP_DETAILS } from './schema.ts'
import { type ArrivalRange, lastArrival } from './text-tables.ts'

/**
 * How the matches of a filter are counted: in whole minutes by what is counted already, the others by scans of their rows. For a filter from
 * 12:00:30 to 14:00, when the entries up to arrival 990 of 1,000 are counted:
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

/**
 * The plan of a filter. Nothing counted answers it if it needs more than the counted facts, words and fingerprints, if no whole minute is in
 * its range, while many entries are uncounted, and if its Team has more combinations of facts than are counted. `wanted`: whether facts are
 * to be returned, or only the filter may use them.
 */
export function planOf(
  { database, limits }: Pick<StoreContext, 'database' | 'limits'>,
  filter: EntryFilter,
  wanted: 'counts' | 'facts',
): Plan {
  const { words, rest: query } = wordsAndRest(filter.query)
  const rest = { ...filter, query }
  const bySegments = words !== null || hasFingerprint(filter)
  const detail = detailOf(rest, bySegments ? 'facts' : wanted)
  const minutes = minutesOf(filter)
  const counted = uncountedAfter(database, limits)
  const team = numberOf(database, filter.team)
  const isCounted = detail !== null && minutes.from < minutes.to && counted !== null && team !== null
  if (!isCounted || (detail === ROLLUP_DETAILS.facts && hasUnnumbered(database, team, minutes)))
    return { counts: null, matches: null, slices: [{ filter }] }
  const parts: CountedFilter = { words, rest, team, minutes }
  const matches = matchesOf(database, parts)
  return {
    counts: bySegments ? countsOfMatches(filter, matches) : countsOfRollups(database, detail, parts, matches),
    matches: detail === ROLLUP_DETAILS.facts ? matches : null,
    slices: slicesOf(
      filter,
      minutes,
      { after: counted, last: lastArrival(database) },
      words === null ? BY_TIME : undefined,
    ),
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
function detailOf(filter: EntryFilter, wanted: 'counts' | 'facts'): Detail | null {
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

/** The whole minutes of a filter's range. */
const minutesOf = ({ from, to }: EntryFilter): Minutes => ({
  from: from === null ? 0 : Number((toNanos(from) + MINUTE_NANOS - 1n) / MINUTE_NANOS),
  to: to === null ? END : Number(toNanos(to) / MINUTE_NANOS),
})

/** The matches that are not counted in whole minutes: those at the ends of the range, and those of uncounted arrivals. */
function slicesOf(filter: EntryFilter, minutes: Minutes, uncounted: ArrivalRange, path?: Path): readonly Slice[] {
  const { from, to } = filter
  const [first, end] = [timeOf(minutes.from), timeOf(minutes.to)]
  const ends = path && { path }
  const whole = { ...filter, from: from && first, to: to && end }
  return [
    ...(from !== null && toNanos(from) < toNanos(first) ? [{ filter: { ...filter, to: first }, ...ends }] : []),
    ...(to !== null && toNanos(to) > toNanos(end) ? [{ filter: { ...filter, from: end }, ...ends }] : []),
    ...(uncounted.after === uncounted.last ? [] : [{ filter: whole, path: { by: 'arrivals', ...uncounted } as const }]),
  ]
}
