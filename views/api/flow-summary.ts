import { type Level, type LevelCounts, levelRank } from '../../shared/contract/levels.ts'
import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import type { Flow, FlowGroup } from '../../shared/log-store/log-store.ts'
import type { EntityRef, FlowStep, FlowSummary } from '../schemas/answers.ts'
import { stateOf } from './flow-state.ts'
import { isInUse, type Names } from './names.ts'

/** `now` is in milliseconds since 1970. */
export function summaryOf(flow: Flow, names: Names, now: number): FlowSummary {
  const groups = byFirst(flow.groups)
  const summary = {
    correlationKey: flow.correlationKey,
    firstAt: flow.firstAt,
    lastAt: flow.lastAt,
    total: countOf(groups),
    levels: levelsOf(groups),
    worstLevel: worstOf(groups),
    events: distinct(groups.map((group) => group.event)).map(names.event),
    steps: distinct(groups.map((group) => group.step)).map(names.step),
    projects: distinct(groups.map((group) => group.project)).map(names.project),
    nextSteps: nextStepsOf(groups, names),
    lastErrorAt: lastOf(groups.filter(isError)),
    lastProgressAt: lastOf(groups.filter((group) => group.project === null && !isError(group))),
  }
  return { ...summary, ...stateOf(summary, now) }
}

function nextStepsOf(groups: readonly FlowGroup[], names: Names): readonly EntityRef[] {
  const seen = new Set(groups.map((group) => group.step))
  return distinct(groups.map((group) => group.event)).flatMap((event) => {
    const steps = names.stepsOf(event)
    const furthest = steps.findLastIndex((step) => seen.has(step.identifier))
    const next = steps.slice(furthest + 1).find(isInUse)
    return next === undefined ? [] : [names.step(next.identifier)]
  })
}

/**
 * Every Step of every Event that the flow touched: for each Event the Steps that the registry has, in their order and seen or
 * not, then those seen that it no longer has; at the end the Steps seen that stand alone.
 */
export function stepsOf(flow: Flow, names: Names): readonly FlowStep[] {
  const groups = byFirst(flow.groups)
  const byEvent = Map.groupBy(groups, (group) => group.event)
  const touched = distinct(groups.map((group) => group.event))
  return [...touched, null].flatMap((event) => {
    const seen = Map.groupBy(byEvent.get(event) ?? [], (group) => group.step)
    // An archived Step that was not seen is none that could still come.
    const registered =
      event === null ? [] : names.stepsOf(event).filter((one) => isInUse(one) || seen.has(one.identifier))
    const steps = new Set([...registered.map((step) => step.identifier), ...distinct([...seen.keys()])])
    return [...steps].map((step) => stepRow(event, step, seen.get(step) ?? [], names))
  })
}

function stepRow(event: string | null, step: string, groups: readonly FlowGroup[], names: Names): FlowStep {
  return {
    event: event === null ? null : names.event(event),
    step: names.step(step),
    seen: groups.length > 0,
    firstAt: groups.map((group) => group.firstAt).toSorted(compareTimestamps)[0] ?? null,
    lastAt: lastOf(groups),
    count: countOf(groups),
    worstLevel: worstOf(groups),
  }
}

const byFirst = (groups: readonly FlowGroup[]): readonly FlowGroup[] =>
  groups.toSorted((a, b) => compareTimestamps(a.firstAt, b.firstAt))

const distinct = (values: readonly (string | null)[]): readonly string[] => [
  ...new Set(values.filter((value) => value !== null)),
]

const lastOf = (groups: readonly FlowGroup[]): string | null =>
  groups
    .map((group) => group.lastAt)
    .toSorted(compareTimestamps)
    .at(-1) ?? null

const isError = ({ level }: FlowGroup): boolean => levelRank(level) >= levelRank('Error')

const countOf = (groups: readonly FlowGroup[]): number => groups.reduce((sum, group) => sum + group.count, 0)

const worstOf = (groups: readonly FlowGroup[]): Level | null =>
  groups.map((group) => group.level).toSorted((a, b) => levelRank(b) - levelRank(a))[0] ?? null

function levelsOf(groups: readonly FlowGroup[]): LevelCounts {
  const levels: Partial<Record<Level, number>> = {}
  for (const { level, count } of groups) levels[level] = (levels[level] ?? 0) + count
  return levels
}
