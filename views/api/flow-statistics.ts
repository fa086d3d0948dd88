import { searchText } from '../../shared/contract/keyword.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import {
  EVENT_ENDS_MAX,
  type Flow,
  type FlowCounts,
  type FlowFilter,
  type FlowState,
  type FlowTally,
  type LogStoreReader,
  NO_FLOWS,
} from '../../shared/log-store/log-store.ts'
import { isInUse } from '../../shared/registry/registry.ts'
import type { EventStatistics, FlowStatistics } from '../schemas/answers.ts'
import type { Answer } from './call.ts'
import { flowFilter } from './filter.ts'
import { durationsOf, FLOWS_SAMPLED_MAX, type Stretch, sampleFlows, stretchesOf } from './flow-sample.ts'
import { type FlowWaits, statesAt } from './flow-state.ts'
import { distinct, nextStepOf, spanOf, stepTimes, summaryOf } from './flow-summary.ts'
import type { Names } from './names.ts'

/** Maximum number of Events in an answer, and of Steps per Event. */
const EVENTS_MAX = 50
const STEPS_MAX = 200

/** Statistics of the selected flows, by Event. */
export const statisticsOfFlows: Answer = async ({ team, values, names, signal }, { store, clock, waits }) => {
  const filter = flowFilter(team, values, null)
  const at = { now: clock.now(), waits: await waits.of(team, names) }
  return await readStatistics(store, filter, names, at, signal)
}

/** The time at which flow states are determined, in milliseconds since 1970, and the waits used for it. */
interface Moment {
  readonly now: number
  readonly waits: FlowWaits
}

/**
 * The statistics of a filter's flows by Event; only one Event when the filter names it. If there are more than `flowsMax` flows, the log
 * store counts all of them, and the durations are those of a sample.
 */
export async function readStatistics(
  store: LogStoreReader,
  filter: FlowFilter,
  names: Names,
  { now, waits }: Moment,
  signal: AbortSignal,
  flowsMax = FLOWS_SAMPLED_MAX,
): Promise<FlowStatistics> {
  const tallies = new Map<string, Tally>()
  const sample = (stretches?: readonly Stretch[]) => {
    tallies.clear()
    const count = (flow: Flow): void => countIn(tallies, flow, summaryOf(flow, names, now, waits).state, names)
    return sampleFlows(store, filter, flowsMax, signal, count, stretches)
  }
  let { sampled, more } = await sample()
  if (more && names.processes().length <= EVENT_ENDS_MAX) {
    const states = statesAt(now, names, waits)
    const stretches = filter.from === null ? undefined : stretchesOf(filter.from, filter.to ?? timestampOf(now))
    if (stretches !== undefined) sampled = (await sample(stretches)).sampled
    countAll(tallies, await store.tallyFlows(filter, states, signal), names)
    const stalled = { ...filter, state: { ...states, is: 'stalled' } } as const
    await sampleFlows(store, stalled, flowsMax, signal, (flow) => countStalled(tallies, flow, names), stretches)
  }
  const all = [...tallies]
    .filter(([event]) => filter.event === null || filter.event === searchText(event))
    .map(([event, tally]) => statisticsOf(event, tally, names))
    .toSorted((a, b) => b.started - a.started || (a.event.identifier < b.event.identifier ? -1 : 1))
  const items = all.slice(0, EVENTS_MAX)
  return {
    sampled,
    complete: !more,
    items: items.map((item) => ({ ...item, steps: item.steps.slice(0, STEPS_MAX) })),
    more: all.length > EVENTS_MAX || items.some(({ steps }) => steps.length > STEPS_MAX),
  }
}

const sumOf = (counts: FlowCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Counts of the flows of one Event. Times are in milliseconds. */
interface Tally {
  states: FlowCounts
  /** The stalled flows that were read. */
  stalled: number
  readonly durations: number[]
  readonly steps: Map<string, StepTally>
}

interface StepTally {
  reached: number
  /** The stalled flows that were read and wait for this Step. */
  stalled: number
  readonly times: number[]
}

function countIn(tallies: Map<string, Tally>, flow: Flow, state: FlowState, names: Names): void {
  for (const [event, groups] of Map.groupBy(flow.groups, (group) => group.event)) {
    if (event === null) continue
    const tally = tallyOf(tallies, event)
    tally.states = { ...tally.states, [state]: tally.states[state] + 1 }
    if (state === 'finished') tally.durations.push(spanOf(groups))
    const times = stepTimes(groups)
    for (const step of distinct(groups.map((group) => group.step))) {
      const counted = stepOf(tally, step)
      counted.reached += 1
      counted.times.push(...[times.get(step)].filter((time) => time !== undefined))
    }
  }
  if (state === 'stalled') countStalled(tallies, flow, names)
}

/** Counts a stalled flow at the Step that it waits for in each of its Events. */
function countStalled(tallies: Map<string, Tally>, { groups }: Flow, names: Names): void {
  for (const event of distinct(groups.map((group) => group.event))) {
    const seen = new Set(groups.filter((group) => group.event === event).map(({ step }) => step))
    const tally = tallies.get(event)
    // The Event's first flow came after all flows were counted.
    if (tally === undefined) continue
    tally.stalled += 1
    const next = nextStepOf(event, seen, names)
    if (next !== undefined) stepOf(tally, next).stalled += 1
  }
}

/** Replaces the counts of a sample by those of all flows. It is unknown then where stalled flows wait. */
function countAll(tallies: Map<string, Tally>, { events, steps }: FlowTally, names: Names): void {
  for (const [event, states] of events) {
    const tally = tallyOf(tallies, event)
    tally.states = states
    tally.stalled = 0
    for (const { identifier } of names.stepsOf(event)) if (steps.has(searchText(identifier))) stepOf(tally, identifier)
    for (const [step, counted] of tally.steps) {
      const reached = steps.get(searchText(step))
      counted.reached = reached === undefined ? 0 : sumOf(reached)
      counted.stalled = 0
    }
  }
}

function tallyOf(tallies: Map<string, Tally>, event: string): Tally {
  const tally: Tally = tallies.get(event) ?? { states: NO_FLOWS, stalled: 0, durations: [], steps: new Map() }
  tallies.set(event, tally)
  return tally
}

function stepOf({ steps }: Tally, step: string): StepTally {
  const tally = steps.get(step) ?? { reached: 0, stalled: 0, times: [] }
  steps.set(step, tally)
  return tally
}

/** The Event's Steps as in a flow: Steps that are in use or were seen, in registry order, then Steps that the registry no longer has. */
function statisticsOf(event: string, tally: Tally, names: Names): EventStatistics {
  const { states, durations, steps } = tally
  const started = sumOf(states)
  const registered = names.stepsOf(event).filter((step) => isInUse(step) || steps.has(step.identifier))
  const all = new Set([...registered.map(({ identifier }) => identifier), ...[...steps.keys()].sort()])
  return {
    event: names.event(event),
    started,
    ...states,
    duration: durationsOf(durations),
    steps: [...all].map((identifier) => {
      const { reached, stalled, times } = stepOf(tally, identifier)
      return {
        step: names.step(identifier),
        reached,
        share: Math.min(1, reached / started),
        duration: durationsOf(times),
        stalled: stalled === 0 ? 0 : Math.round((stalled * states.stalled) / tally.stalled),
      }
    }),
  }
}
