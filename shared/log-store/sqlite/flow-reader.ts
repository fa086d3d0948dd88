/** The functions answer the calls of their names in `LogStoreReader`. */
import { levelOf, levelRank } from '../../contract/levels.ts'
import { earlier, fromNanoDigits, later, toNanos } from '../../contract/timestamp.ts'
import {
  type Flow,
  type FlowCounts,
  type FlowCursor,
  type FlowFilter,
  type FlowGroup,
  type FlowPage,
  type FlowPageRequest,
  type FlowSort,
  type FlowState,
  type FlowStates,
  type FlowTally,
  type ListedFlow,
  NO_FLOWS,
  PAGE_GROUPS_MAX,
  TALLIED_MAX,
  weightOf,
} from '../log-store.ts'
import type { StoreContext } from './context.ts'
import { type Database, goOn, type Row } from './database.ts'
import { memberNeedle, setMembers } from './leaf-bytes.ts'
import { columnsOf, entriesBy } from './names.ts'
import { allOf, compose, digitsOf, type Sql, sql } from './sql.ts'

const GROUPS = `SELECT ${columnsOf(['event', 'step', 'project', 'level'])}, count(*) AS count,
    ${digitsOf('min(timestamp)')} AS first_at, ${digitsOf('max(timestamp)')} AS last_at
  FROM ${entriesBy('INDEXED BY entries_by_flow')} WHERE team = ? AND correlation_key = ? AND ${goOn('arrival')}
  GROUP BY 1, 2, 3, 4 ORDER BY min(timestamp), 1, 2, 3, 4`
const SPAN = `${digitsOf('first_at')} AS first_at, ${digitsOf('last_at')} AS last_at`

/** Times are mostly whole milliseconds, so the lowest bits of their nanoseconds vary too little. */
const GO_ON = sql(goOn('(last_at >> 6)'))

/** A summary may exist before its entries are stored, and after they were removed: it is a flow only while it has entries. */
const HAS_ENTRIES = sql('EXISTS (SELECT 1 FROM entries WHERE team = flows.team AND correlation_key = flows.key)')

/** The sort key before the latest activity, for each sort. */
const RANKS: Readonly<Record<FlowSort, string>> = {
  latest: '0',
  longest: '(last_at - first_at) / 1000000',
  worst: 'worst_level',
}

export function searchFlows(
  { database }: StoreContext,
  filter: FlowFilter,
  { limit, sort, after }: FlowPageRequest,
): FlowPage {
  const ends = filter.state === null ? sql('') : endsOf(filter.state)
  const matching = allOf([GO_ON, ...conditions(filter), ...beyond(sort, after), HAS_ENTRIES])
  // A constant sort key would keep the index from providing the order, and so would `last_at` without its table name, which means the
  // selected text of that name.
  const order = `${sort === 'latest' ? '' : 'rank DESC, '}flows.last_at DESC, key`
  const rows = database.all(
    compose`${ends} SELECT key, ${SPAN}, ${RANKS[sort]} AS rank FROM flows INDEXED BY flows_by_last
      WHERE ${matching} ORDER BY ${order} LIMIT ${sql('?', limit + 1)}`,
  )
  const flows: ListedFlow[] = []
  let weightLeft = PAGE_GROUPS_MAX
  for (const row of rows.slice(0, limit)) {
    const key = String(row['key'])
    const groups = groupsOf(database, filter.team, key)
    weightLeft -= weightOf(groups)
    if (weightLeft < 0 && flows.length > 0) break
    flows.push({ correlationKey: key, ...spanOf(row), groups, rank: Number(row['rank']) })
  }
  const last = flows.at(-1)
  const more = rows.length > flows.length && last !== undefined
  return { flows, next: more ? { rank: last.rank, lastAt: last.lastAt, correlationKey: last.correlationKey } : null }
}

export function countFlows({ database }: StoreContext, filter: FlowFilter, states: FlowStates): FlowCounts {
  const rows = database.all(
    compose`${endsOf(states)} SELECT ${stateOf(states)} AS state, count(*) AS count FROM flows INDEXED BY flows_by_last
      WHERE ${allOf([GO_ON, ...conditions(filter), HAS_ENTRIES])} GROUP BY 1`,
  )
  return { ...NO_FLOWS, ...Object.fromEntries(rows.map((row) => [row['state'], Number(row['count'])])) }
}

export function tallyFlows({ database }: StoreContext, filter: FlowFilter, states: FlowStates): FlowTally {
  // Whether each flow has entries is not asked: that would take as long as the rest, and only those that just came or went have none.
  const rows = database.iterate(
    compose`${endsOf(states)} SELECT ${stateOf(states)} AS state, events, steps FROM flows INDEXED BY flows_by_last
      WHERE ${allOf([GO_ON, ...conditions(filter)])}`,
  )
  const events = new Map<string, Record<FlowState, number>>()
  const steps = new Map<string, Record<FlowState, number>>()
  for (const row of rows) {
    countMembers(events, row['events'], row['state'] as FlowState)
    countMembers(steps, row['steps'], row['state'] as FlowState)
  }
  return { events, steps }
}

export function flow({ database }: StoreContext, team: string, correlationKey: string): Flow | undefined {
  const groups = groupsOf(database, team, correlationKey)
  if (groups.length === 0) return undefined
  const summary = database.prepare(`SELECT ${SPAN} FROM flows WHERE team = ? AND key = ?`).get(team, correlationKey)
  return { correlationKey, ...(summary === undefined ? spanOfGroups(groups) : spanOf(summary)), groups }
}

const groupsOf = (database: Database, team: string, key: string): readonly FlowGroup[] =>
  database.prepare(GROUPS).all(team, key).map(groupOf)

function countMembers(counts: Map<string, Record<FlowState, number>>, set: unknown, state: FlowState): void {
  for (const member of setMembers(set)) {
    const known = counts.get(member)
    if (known !== undefined) known[state] += 1
    else if (counts.size < TALLIED_MAX) counts.set(member, { ...NO_FLOWS, [state]: 1 })
  }
}

function conditions(filter: FlowFilter): readonly Sql[] {
  const member = (column: string, value: string | null): readonly Sql[] =>
    value === null ? [] : [sql(`instr(${column}, ?) > 0`, memberNeedle(value))]
  return [
    sql('team = ?', filter.team),
    ...(filter.keyPart === null ? [] : [sql('instr(key_lower, ?) > 0', filter.keyPart.toLowerCase())]),
    ...(filter.from === null ? [] : [sql('last_at >= ?', toNanos(filter.from))]),
    ...(filter.to === null ? [] : [sql('first_at < ?', toNanos(filter.to))]),
    ...(filter.levelMin === null ? [] : [sql('worst_level >= ?', levelRank(filter.levelMin))]),
    ...member('environments', filter.environment),
    ...member('events', filter.event),
    ...member('steps', filter.step),
    ...member('projects', filter.project),
    ...(filter.state === null ? [] : [compose`${stateOf(filter.state)} = ${sql('?', filter.state.is)}`]),
  ]
}

function beyond(sort: FlowSort, after: FlowCursor | null): readonly Sql[] {
  if (after === null) return []
  const lastAt = toNanos(after.lastAt)
  const next = sql('last_at <= ? AND (last_at < ? OR key > ?)', lastAt, lastAt, after.correlationKey)
  if (sort === 'latest') return [next]
  const rank = sql('?', after.rank)
  return [compose`${RANKS[sort]} <= ${rank} AND (${RANKS[sort]} < ${rank} OR ${next})`]
}

function groupOf(row: Row): FlowGroup {
  const text = (column: string): string | null => (row[column] === null ? null : String(row[column]))
  return {
    event: text('event'),
    step: text('step'),
    project: text('project'),
    level: levelOf(Number(row['level'])),
    count: Number(row['count']),
    ...spanOf(row),
  }
}

const spanOf = (row: Row): Pick<Flow, 'firstAt' | 'lastAt'> => ({
  firstAt: fromNanoDigits(String(row['first_at'])),
  lastAt: fromNanoDigits(String(row['last_at'])),
})

const spanOfGroups = (groups: readonly FlowGroup[]): Pick<Flow, 'firstAt' | 'lastAt'> => ({
  firstAt: groups.map(({ firstAt }) => firstAt).reduce(earlier),
  lastAt: groups.map(({ lastAt }) => lastAt).reduce(later),
})

/** The ends and places of Events as memberNeedle bytes, for the conditions below: a WITH clause. */
export const endsOf = ({ ends, waits }: FlowStates): Sql =>
  sql(
    `WITH ends (event, step) AS MATERIALIZED (
      SELECT ${needle("ends.value ->> 'event'")}, ${needle('steps.value')}
      FROM json_each(?) AS ends, json_each(ends.value, '$.steps') AS steps),
    places (event, number, step, lately) AS MATERIALIZED (
      SELECT ${needle("waits.value ->> 'event'")}, places.key, coalesce(${needle("places.value ->> 'step'")}, x''),
        CAST(places.value ->> 'lately' AS INTEGER)
      FROM json_each(?) AS waits, json_each(waits.value, '$.places') AS places)`,
    JSON.stringify(ends),
    JSON.stringify(waits.map(({ event, lately, places }) => ({ event, places: [{ lately }, ...places].map(inNanos) }))),
  )

const needle = (text: string): string => `CAST(char(0) || (${text}) || char(0) AS BLOB)`

const inNanos = <Place extends { readonly lately: string }>(place: Place) => ({
  ...place,
  lately: String(toNanos(place.lately)),
})

const FAILED = `worst_level >= ${levelRank('Error')}
  AND coalesce(last_error_at >= coalesce(last_progress_at, last_at), last_progress_at IS NULL)`

/**
 * The Events of a flow, in the form of `memberNeedle`. The rows of `ends` are looked up by them, as a Team may have a thousand Events, and
 * comparing a flow with each took longer than all else.
 */
const MEMBERS = `WITH RECURSIVE members (event, rest) AS (
    SELECT x'', flows.events
    UNION ALL SELECT substr(rest, 1, instr(substr(rest, 2), x'00') + 1), substr(rest, instr(substr(rest, 2), x'00') + 1)
    FROM members WHERE instr(substr(rest, 2), x'00') > 0)`

/** The rows of `ends` for Events that a flow is in and has not ended. */
const EXPECTED = `${MEMBERS} SELECT 1 FROM members CROSS JOIN ends ON ends.event = members.event WHERE NOT EXISTS
  (SELECT 1 FROM ends AS other WHERE other.event = members.event AND instr(flows.steps, other.step) > 0)`

/** Whether one of these Events has places: the first of them has an empty needle, which is in every set. */
const KNOWN = `EXISTS (${EXPECTED} AND members.event IN (SELECT event FROM places))`
const OVERDUE = `EXISTS (${EXPECTED} AND last_at <= (SELECT lately FROM places
  WHERE places.event = members.event AND instr(flows.steps, places.step) > 0 ORDER BY number DESC LIMIT 1))`

/** The state of a flow, one of `FLOW_STATES`, from its row in `flows` and `endsOf`. Few flows are so recent that their places matter. */
export function stateOf({ lately, waits }: FlowStates): Sql {
  const times = [{ lately }, ...waits, ...waits.flatMap(({ places }) => places)].map((one) => toNanos(one.lately))
  const first = times.reduce((a, b) => (a < b ? a : b))
  const last = times.reduce((a, b) => (a > b ? a : b))
  return sql(
    `CASE
      WHEN ${FAILED} THEN 'failed'
      WHEN EXISTS (${EXPECTED}) THEN CASE
        WHEN last_at <= ? THEN 'stalled'
        WHEN last_at > ? THEN 'running'
        WHEN ${OVERDUE} THEN 'stalled'
        WHEN ${KNOWN} OR last_at > ? THEN 'running'
        ELSE 'stalled' END
      WHEN length(events) = 0 OR length(steps) = 0 THEN iif(last_at > ?, 'running', 'finished')
      ELSE 'finished'
    END`,
    first,
    last,
    toNanos(lately),
    toNanos(lately),
  )
}
