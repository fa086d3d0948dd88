import type { SQLOutputValue } from 'node:sqlite'
import type { FlowDelta } from '../../contract/documents.ts'
import { searchText } from '../../contract/keyword.ts'
import { levelRank } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'
import { joinFlowValues } from '../flow-values.ts'
import type { StoreContext } from './contents.ts'
import { setBytes, setMembers } from './leaf-bytes.ts'
import { digitsOf } from './sql.ts'

const SELECT = `SELECT ${digitsOf('first_at')} AS first_at, ${digitsOf('last_at')} AS last_at, last_day, worst_level,
  ${digitsOf('last_error_at')} AS last_error_at, ${digitsOf('last_progress_at')} AS last_progress_at,
  environments, events, steps, projects FROM flows WHERE team = ? AND key = ?`
const COLUMNS =
  'first_at, last_at, last_day, worst_level, last_error_at, last_progress_at, environments, events, steps, projects'
const UPSERT = `INSERT INTO flows (team, key, key_lower, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (team, key) DO UPDATE SET (${COLUMNS}) =
    (${COLUMNS.split(', ')
      .map((column) => `excluded.${column}`)
      .join(', ')})`

/** Folds the deltas into the summaries, in one transaction. */
export function mergeFlows({ database }: StoreContext, deltas: readonly FlowDelta[]): void {
  const merge = (delta: FlowDelta): void => {
    const { team, correlationKey: key } = delta
    const row = database.prepare(SELECT).get(team, key)
    const told = summaryOf(delta)
    const flow = row === undefined ? told : mergeSummaries(fromRow(row), told)
    const sets = [flow.environments, flow.events, flow.steps, flow.projects].map(setBytes)
    database.prepare(UPSERT).run(...[team, key, key.toLowerCase()], ...factsOf(flow), ...sets)
  }
  if (deltas.length > 0) database.write(() => deltas.forEach(merge))
}

const factsOf = (flow: FlowSummary) => [
  flow.firstAt,
  flow.lastAt,
  flow.lastReceived,
  flow.worstLevel,
  flow.lastErrorAt,
  flow.lastProgressAt,
]

function fromRow(row: Record<string, SQLOutputValue>): FlowSummary {
  const members = (column: string): readonly string[] => setMembers(row[column])
  const nanos = (column: string): bigint | null => (row[column] === null ? null : BigInt(String(row[column])))
  return {
    firstAt: BigInt(String(row['first_at'])),
    lastAt: BigInt(String(row['last_at'])),
    lastReceived: String(row['last_day']),
    worstLevel: Number(row['worst_level']) || 0,
    lastErrorAt: nanos('last_error_at'),
    lastProgressAt: nanos('last_progress_at'),
    environments: members('environments'),
    events: members('events'),
    steps: members('steps'),
    projects: members('projects'),
  }
}

/** A flow without its entries. Times are nanoseconds since 1970. */
interface FlowSummary {
  readonly firstAt: bigint
  readonly lastAt: bigint
  /** The minute (yyyy-mm-ddThh:mm, UTC) in which its last entry was received; its day if it is from an earlier release. */
  readonly lastReceived: string
  readonly worstLevel: number
  /** As in `FlowDelta`. */
  readonly lastErrorAt: bigint | null
  readonly lastProgressAt: bigint | null
  readonly environments: readonly string[]
  readonly events: readonly string[]
  readonly steps: readonly string[]
  readonly projects: readonly string[]
}

/** Characters of a timestamp up to its minute. */
export const MINUTE_CHARACTERS = 16

export const summaryOf = (delta: FlowDelta): FlowSummary => ({
  firstAt: toNanos(delta.firstAt),
  lastAt: toNanos(delta.lastAt),
  lastReceived: delta.lastReceivedAt.slice(0, MINUTE_CHARACTERS),
  worstLevel: levelRank(delta.worstLevel),
  lastErrorAt: delta.lastErrorAt === null ? null : toNanos(delta.lastErrorAt),
  lastProgressAt: delta.lastProgressAt === null ? null : toNanos(delta.lastProgressAt),
  environments: joinFlowValues(delta.environments.map(searchText), []),
  events: joinFlowValues(delta.events.map(searchText), []),
  steps: joinFlowValues(delta.steps.map(searchText), []),
  projects: joinFlowValues(delta.projects.map(searchText), []),
})

/** Commutative, associative and idempotent: the same facts in any order, however often, give the same summary. */
export const mergeSummaries = (a: FlowSummary, b: FlowSummary): FlowSummary => ({
  firstAt: a.firstAt < b.firstAt ? a.firstAt : b.firstAt,
  lastAt: later(a.lastAt, b.lastAt),
  lastReceived: later(a.lastReceived, b.lastReceived),
  worstLevel: Math.max(a.worstLevel, b.worstLevel),
  lastErrorAt: laterOf(a.lastErrorAt, b.lastErrorAt),
  lastProgressAt: laterOf(a.lastProgressAt, b.lastProgressAt),
  environments: joinFlowValues(a.environments, b.environments),
  events: joinFlowValues(a.events, b.events),
  steps: joinFlowValues(a.steps, b.steps),
  projects: joinFlowValues(a.projects, b.projects),
})

const later = <T extends string | bigint>(a: T, b: T): T => (a > b ? a : b)

const laterOf = (a: bigint | null, b: bigint | null): bigint | null =>
  a === null || b === null ? (a ?? b) : later(a, b)
