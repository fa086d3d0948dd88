import type { FlowDelta } from '../../contract/documents.ts'
import { searchText } from '../../contract/keyword.ts'
import { levelRank } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'

/** What is known of a flow, apart from its entries. Times are nanoseconds since 1970. */
export interface FlowSummary {
  readonly firstAt: bigint
  readonly lastAt: bigint
  /** The last day (yyyy-mm-dd, UTC) on which an entry was received. */
  readonly lastDay: string
  readonly worstLevel: number
  readonly environments: readonly string[]
  readonly events: readonly string[]
  readonly steps: readonly string[]
  readonly projects: readonly string[]
}

/** Sets keep so many members, the first ones in order: which are kept does not depend on the order of merging. */
export const FLOW_SET_MAX = 500

export const summaryOf = (delta: FlowDelta): FlowSummary => ({
  firstAt: toNanos(delta.firstAt),
  lastAt: toNanos(delta.lastAt),
  lastDay: delta.days.reduce(later, ''),
  worstLevel: levelRank(delta.worstLevel),
  environments: union(delta.environments.map(searchText), []),
  events: union(delta.events.map(searchText), []),
  steps: union(delta.steps.map(searchText), []),
  projects: union(delta.projects.map(searchText), []),
})

/** Commutative, associative and idempotent: the same facts in any order, however often, make the same summary. */
export const mergeSummaries = (a: FlowSummary, b: FlowSummary): FlowSummary => ({
  firstAt: a.firstAt < b.firstAt ? a.firstAt : b.firstAt,
  lastAt: a.lastAt > b.lastAt ? a.lastAt : b.lastAt,
  lastDay: later(a.lastDay, b.lastDay),
  worstLevel: Math.max(a.worstLevel, b.worstLevel),
  environments: union(a.environments, b.environments),
  events: union(a.events, b.events),
  steps: union(a.steps, b.steps),
  projects: union(a.projects, b.projects),
})

const later = (a: string, b: string): string => (a > b ? a : b)

const union = (a: readonly string[], b: readonly string[]): readonly string[] =>
  [...new Set([...a, ...b])].sort().slice(0, FLOW_SET_MAX)
