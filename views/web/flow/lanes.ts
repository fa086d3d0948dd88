import type { FlowStep } from '../api/types.ts'
import { type FlowLog, groupOfEvent, LONE_STEPS, laneOfStep, type TimeOrder } from './flow-log.ts'

/** A row of the drawing with its logs in order of time. */
export interface Lane {
  readonly id: string
  readonly label: string
  /** The identifier or full name, for those who want to know which one it is. */
  readonly hint: string
  readonly logs: readonly FlowLog[]
}

/** An Event with its Steps or a Project with its categories. */
export interface Group {
  readonly id: string
  readonly kind: 'event' | 'project' | 'steps'
  readonly label: string
  readonly hint: string
  readonly logs: readonly FlowLog[]
  /** What addressed the Event itself; empty for others. */
  readonly own: readonly FlowLog[]
  /** By first log; a Step without any follows in its Event's order. */
  readonly lanes: readonly Lane[]
}

/** Most categories of a Project with a lane of their own; the others share one. */
export const CATEGORY_LANES_MAX = 30

/** Most Steps of an Event that are shown though they were not seen. */
export const UNSEEN_LANES_MAX = 100

/** The groups of a flow by their first log. `logs` are in order of time; `steps` says which Steps to expect and in which order. */
export function groupLanes(logs: readonly FlowLog[], steps: readonly FlowStep[]): readonly Group[] {
  const byGroup = Map.groupBy(logs, ({ group }) => group)
  return [...byGroup].map(([id, own]) => groupOf(id, own, steps))
}

function groupOf(id: string, logs: readonly FlowLog[], steps: readonly FlowStep[]): Group {
  const first = logs[0]?.entry
  const base = { id, logs, own: logs.filter(({ lane }) => lane === id) }
  if (first?.kind === 'application') {
    const { project } = first
    const label = project.name ?? project.id
    return { ...base, kind: 'project', label, hint: project.id, lanes: categoryLanes(id, logs) }
  }
  const lanes = [...seenLanes(logs, id), ...unseenLanes(id, logs, steps)]
  const event = first?.event
  if (!event) return { ...base, kind: 'steps', label: 'Steps without an Event', hint: '', lanes }
  return { ...base, kind: 'event', label: event.name ?? event.identifier, hint: event.identifier, lanes }
}

const seenLanes = (logs: readonly FlowLog[], group: string): readonly Lane[] =>
  [...Map.groupBy(logs, ({ lane }) => lane)].filter(([id]) => id !== group).map(([id, own]) => laneOf(id, own))

function laneOf(id: string, logs: readonly FlowLog[]): Lane {
  const entry = logs[0]?.entry
  if (entry?.kind === 'application') {
    const { categoryName } = entry
    return { id, label: shortCategory(categoryName), hint: categoryName, logs }
  }
  const step = entry?.step
  return { id, label: step?.name ?? step?.identifier ?? id, hint: step?.identifier ?? '', logs }
}

function unseenLanes(group: string, logs: readonly FlowLog[], steps: readonly FlowStep[]): readonly Lane[] {
  if (group === LONE_STEPS) return []
  const seen = new Set(logs.map(({ lane }) => lane))
  return steps
    .filter(
      ({ event, step }) => event && groupOfEvent(event.identifier) === group && !seen.has(laneOfStep(step.identifier)),
    )
    .slice(0, UNSEEN_LANES_MAX)
    .map(({ step: { identifier, name } }) => ({
      id: laneOfStep(identifier),
      label: name ?? identifier,
      hint: identifier,
      logs: [],
    }))
}

/** The categories with most logs have lanes of their own. */
function categoryLanes(group: string, logs: readonly FlowLog[]): readonly Lane[] {
  const lanes = seenLanes(logs, group)
  if (lanes.length <= CATEGORY_LANES_MAX) return lanes
  const large = new Set(lanes.toSorted((a, b) => b.logs.length - a.logs.length).slice(0, CATEGORY_LANES_MAX - 1))
  const rest = new Set(lanes.filter((lane) => !large.has(lane)).map(({ id }) => id))
  return [
    ...lanes.filter((lane) => large.has(lane)),
    {
      id: `${group}:rest`,
      label: `${rest.size} more categories`,
      hint: '',
      logs: logs.filter(({ lane }) => rest.has(lane)),
    },
  ]
}

/** The last part of a dotted category, as .NET's own short form. */
export const shortCategory = (category: string): string => category.slice(category.lastIndexOf('.') + 1) || category

/** A stay in one Step: its logs between two of other Steps of the same Event. Times in milliseconds since 1970. */
export interface Visit {
  readonly lane: string
  readonly from: number
  readonly to: number
}

/**
 * The visits to Steps, by their first log. Logs of other Events, of Projects and of the Event itself interrupt none: they come
 * from elsewhere at the same time.
 */
export function visitsOf(logs: readonly FlowLog[], order: TimeOrder): readonly Visit[] {
  const visits: Visit[] = []
  const current = new Map<string, number>()
  for (const log of logs) {
    if (log.entry.kind !== 'event' || log.entry.step === null) continue
    const at = log[order]
    const index = current.get(log.group)
    const visit = index === undefined ? undefined : visits[index]
    if (index !== undefined && visit?.lane === log.lane) visits[index] = { ...visit, to: at }
    else current.set(log.group, visits.push({ lane: log.lane, from: at, to: at }) - 1)
  }
  return visits
}
