import { type Level, type LevelCounts, levelRank } from '../../shared/contract/levels.ts'
import { compareTimestamps, toNanos } from '../../shared/contract/timestamp.ts'
import type { Flow, FlowGroup } from '../../shared/log-store/log-store.ts'
import { isInUse } from '../../shared/registry/registry.ts'
import type { EntityRef, FlowStep, FlowSummary } from '../schemas/answers.ts'
import { type FlowWaits, stateOf } from './flow-state.ts'
import type { Names } from './names.ts'
import { within } from './page.ts'

/** `now` is in milliseconds since 1970. */
export function summaryOf(flow: Flow, names: Names, now: number, waits: FlowWaits): FlowSummary {
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
  return { ...summary, ...stateOf(summary, now, waits) }
}

/** A summary as it is shown: a flow that touches thousands of names does not name them all. */
export const shownOf = (summary: FlowSummary): FlowSummary => ({
  ...summary,
  events: within(summary.events, NAMES_CHARACTERS_MAX),
  steps: within(summary.steps, NAMES_CHARACTERS_MAX),
  projects: within(summary.projects, NAMES_CHARACTERS_MAX),
  nextSteps: within(summary.nextSteps, NAMES_CHARACTERS_MAX),
})

/** A summary as it is shown, as JSON text. */
export function shownText(summary: FlowSummary): string {
  // No list is longer than the whole, so that usual names are serialised once.
  const text = JSON.stringify(summary)
  return text.length <= NAMES_CHARACTERS_MAX ? text : JSON.stringify(shownOf(summary))
}

/** Maximum characters of each list of names in a summary: those of a thousand usual names. */
const NAMES_CHARACTERS_MAX = 256 * 1024

/** For each Event, the next Step in use after the furthest Step seen. */
function nextStepsOf(groups: readonly FlowGroup[], names: Names): readonly EntityRef[] {
  const seen = new Set(groups.map((group) => group.step))
  return distinct(groups.map((group) => group.event)).flatMap((event) => {
    const next = nextStepOf(event, seen, names)
    return next === undefined ? [] : [names.step(next)]
  })
}

/** The identifier of the Event's next Step in use after the furthest one seen; undefined if that was the last. */
export function nextStepOf(event: string, seen: ReadonlySet<string | null>, names: Names): string | undefined {
  const steps = names.stepsOf(event)
  const furthest = steps.findLastIndex((step) => seen.has(step.identifier))
  return steps.slice(furthest + 1).find(isInUse)?.identifier
}

/**
 * The time a flow took to reach each Step of one Event, in milliseconds: from the first log of the preceding Step, or of the Event itself,
 * to the Step's own first log. The earliest has none. `groups` are those of the Event.
 */
export function stepTimes(groups: readonly FlowGroup[]): ReadonlyMap<string, number> {
  const firsts = [...Map.groupBy(groups, ({ step }) => step)]
    .map(([step, ofStep]) => ({ step, at: toNanos(firstOf(ofStep) ?? '') }))
    .sort((a, b) => Number(a.at - b.at) || ((a.step ?? '') < (b.step ?? '') ? -1 : 1))
  const times = new Map<string, number>()
  for (const [index, { step, at }] of firsts.entries()) {
    const before = firsts[index - 1]
    if (step !== null && before !== undefined) times.set(step, milliseconds(before.at, at))
  }
  return times
}

/** The time from the first to the last log of these groups, in milliseconds. */
export const spanOf = (groups: readonly FlowGroup[]): number =>
  milliseconds(toNanos(firstOf(groups) ?? ''), toNanos(lastOf(groups) ?? ''))

const milliseconds = (from: bigint, to: bigint): number => Number((to - from) / 1_000_000n)

/**
 * Every Step of every Event that the flow touched: for each Event its registered Steps in order, seen or not, then seen Steps that the
 * registry no longer has; finally the seen Steps without an Event.
 */
export function stepsOf(flow: Flow, names: Names): readonly FlowStep[] {
  const groups = byFirst(flow.groups)
  const byEvent = Map.groupBy(groups, (group) => group.event)
  const touched = distinct(groups.map((group) => group.event))
  return [...touched, null].flatMap((event) => {
    const seen = Map.groupBy(byEvent.get(event) ?? [], (group) => group.step)
    // An archived Step that was not seen will not come any more.
    const registered =
      event === null ? [] : names.stepsOf(event).filter((one) => isInUse(one) || seen.has(one.identifier))
    const steps = new Set([...registered.map((step) => step.identifier), ...distinct([...seen.keys()])])
    // Steps without an Event do not follow one another.
    const times = event === null ? null : stepTimes(byEvent.get(event) ?? [])
    return [...steps].map((step) => ({
      ...stepRow(event, step, seen.get(step) ?? [], names),
      duration: times?.get(step) ?? null,
    }))
  })
}

function stepRow(
  event: string | null,
  step: string,
  groups: readonly FlowGroup[],
  names: Names,
): Omit<FlowStep, 'duration'> {
  return {
    event: event === null ? null : names.event(event),
    step: names.step(step),
    seen: groups.length > 0,
    firstAt: firstOf(groups),
    lastAt: lastOf(groups),
    count: countOf(groups),
    worstLevel: worstOf(groups),
  }
}

const byFirst = (groups: readonly FlowGroup[]): readonly FlowGroup[] =>
  groups.toSorted((a, b) => compareTimestamps(a.firstAt, b.firstAt))

export const distinct = (values: readonly (string | null)[]): readonly string[] => [
  ...new Set(values.filter((value) => value !== null)),
]

const firstOf = (groups: readonly FlowGroup[]): string | null =>
  groups.map((group) => group.firstAt).toSorted(compareTimestamps)[0] ?? null

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
