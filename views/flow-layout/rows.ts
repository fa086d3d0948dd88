import type { FlowStep } from '../schemas/answers.ts'
import { type FlowLog, groupOf, laneOf, nameOf } from './flow-log.ts'
import { shortCategory } from './format.ts'

/** A row of the drawing: an Event or a Project, or below it a Step or category. */
export interface Row {
  readonly id: string
  readonly kind: 'event' | 'project' | 'steps' | 'lane'
  readonly label: string
  /** The identifier or full name, shown on hover. */
  readonly hint: string
  /** The logs that it represents, in order of time; empty for a Step that was not seen. */
  readonly all: readonly FlowLog[]
  /** The logs drawn on this row: an open group leaves those of its lanes to the lanes. */
  readonly logs: readonly FlowLog[]
  /** Whether a group's lanes are shown; undefined for a lane. */
  readonly open?: boolean
  /** How many Steps of an Event were not seen. */
  readonly unseen?: number
  /** Pixels. */
  readonly top: number
  readonly height: number
}

const GROUP_PX = 30
const LANE_PX = 26

/** Maximum number of lanes for a Project's categories, and of unseen Steps shown for an Event. */
export const LANES_MAX = 30

/**
 * The rows of a flow. Groups and lanes are ordered by their first log; unseen Steps follow in their Event's order. Events are open and
 * Projects closed, except those in `toggled`; Events in `optional` omit their unseen Steps.
 */
export function rowsOf(
  logs: readonly FlowLog[],
  steps: readonly FlowStep[],
  toggled: ReadonlySet<string>,
  optional: ReadonlySet<string>,
): readonly Row[] {
  const rows: Row[] = []
  const stepsOf = Map.groupBy(steps, ({ event }) => event && groupOf(event))
  const add = (row: Omit<Row, 'top' | 'height'>): void => {
    const top = heightOf(rows)
    rows.push({ ...row, top, height: row.kind === 'lane' ? LANE_PX : GROUP_PX })
  }
  for (const [id, all] of Map.groupBy(logs, ({ group }) => group)) {
    const byLane = Map.groupBy(all, ({ lane }) => lane)
    const own = byLane.get(id) ?? []
    byLane.delete(id)
    const missing = (stepsOf.get(id) ?? []).filter(({ step }) => !byLane.has(laneOf(id, step)))
    const { entry, where } = all[0] as FlowLog
    const kind = entry.kind === 'application' ? 'project' : entry.event ? 'event' : 'steps'
    const open = (kind !== 'project') !== toggled.has(id)
    const hint = entry.kind === 'application' ? entry.project.id : (entry.event?.identifier ?? '')
    add({ id, kind, label: where[0] ?? '', hint, all, logs: open ? own : all, open, unseen: missing.length })
    if (!open) continue
    for (const [lane, some] of kind === 'project' ? fewLanes(id, byLane) : byLane) add(laneRow(lane, some))
    if (optional.has(id)) continue
    for (const { step } of missing.slice(0, LANES_MAX))
      add({ id: laneOf(id, step), kind: 'lane', label: nameOf(step), hint: step.identifier, all: [], logs: [] })
  }
  return rows
}

function laneRow(id: string, logs: readonly FlowLog[]): Omit<Row, 'top' | 'height'> {
  const { entry, where } = logs[0] as FlowLog
  const name = where[1] ?? ''
  const lane = { id, kind: 'lane', all: logs, logs } as const
  if (entry.kind === 'event') return { ...lane, label: name, hint: entry.step?.identifier ?? '' }
  const others = new Set(logs.map((log) => log.lane)).size
  return others > 1
    ? { ...lane, label: `${others} more categories`, hint: '' }
    : { ...lane, label: shortCategory(name), hint: name }
}

/** The categories of a Project with the most logs get lanes of their own; the others share one. */
function fewLanes(
  project: string,
  byLane: ReadonlyMap<string, readonly FlowLog[]>,
): readonly (readonly [string, readonly FlowLog[]])[] {
  if (byLane.size <= LANES_MAX) return [...byLane]
  const lanes = [...byLane]
  const large = new Set(lanes.toSorted(([, a], [, b]) => b.length - a.length).slice(0, LANES_MAX - 1))
  const rest = lanes.filter((lane) => !large.has(lane)).flatMap(([, logs]) => logs)
  return [...lanes.filter((lane) => large.has(lane)), [`rest:${project}`, rest.sort((a, b) => a.at - b.at)]]
}

export function heightOf(rows: readonly Row[]): number {
  const last = rows.at(-1)
  return last === undefined ? 0 : last.top + last.height
}
