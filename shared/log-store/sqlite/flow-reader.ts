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
} from '../log-store.ts'
import type { StoreContext } from './contents.ts'
import { type Database, goOn, type Row } from './database.ts'
import { endsOf, stateOf } from './flow-states.ts'
import { memberNeedle, setMembers } from './leaf-bytes.ts'
import { allOf, compose, digitsOf, type Sql, sql } from './sql.ts'

const GROUPS = `SELECT event, step, project, level, count(*) AS count,
    ${digitsOf('min(timestamp)')} AS first_at, ${digitsOf('max(timestamp)')} AS last_at
  FROM entries INDEXED BY entries_by_flow WHERE team = ? AND correlation_key = ? AND ${goOn('arrival')}
  GROUP BY event, step, project, level ORDER BY min(timestamp), event, step, project, level`
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
  let groupsLeft = PAGE_GROUPS_MAX
  for (const row of rows.slice(0, limit)) {
    const key = String(row['key'])
    const groups = groupsOf(database, filter.team, key)
    groupsLeft -= groups.length
    if (groupsLeft < 0 && flows.length > 0) break
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
