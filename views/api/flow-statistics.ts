import { successBody } from '../../shared/http/answer.ts'
import type { Flow, FlowFilter, FlowState, LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { EventStatistics, FlowStatistics } from '../schemas/answers.ts'
import type { Answer } from './call.ts'
import { flowFilter } from './filter.ts'
import { durationsOf, FLOWS_SAMPLED_MAX, sampleFlows } from './flow-sample.ts'
import type { FlowWaits } from './flow-state.ts'
import { distinct, nextStepOf, spanOf, stepTimes, summaryOf } from './flow-summary.ts'
import { isInUse, type Names } from './names.ts'

/** Maximum number of Events in an answer, and of Steps per Event. */
const EVENTS_MAX = 50
const STEPS_MAX = 200

/** Statistics of the selected flows, by Event. */
export const statisticsOfFlows: Answer = async ({ team, values, names, signal }, { store, clock, waits }) => {
  const filter = flowFilter(team, values, null)
  const at = { now: clock.now(), waits: await waits.of(team, names) }
  return successBody(await readStatistics(store, filter, names, at, signal))
}

/** The time at which flow states are determined, in milliseconds since 1970, and the waits used for it. */
interface Moment {
  readonly now: number
  readonly waits: FlowWaits
}

/** Counts the flows of a filter by Event; only one Event when the filter names it. */
export async function readStatistics(
  store: LogStoreReader,
  filter: FlowFilter,
  names: Names,
  { now, waits }: Moment,
  signal: AbortSignal,
): Promise<FlowStatistics> {
  const tallies = new Map<string, Tally>()
  const { sampled, more } = await sampleFlows(store, filter, FLOWS_SAMPLED_MAX, signal, (flow) =>
    countIn(tallies, flow, summaryOf(flow, names, now, waits).state, names),
  )
  const all = [...tallies]
    .filter(([event]) => filter.event === null || filter.event === event)
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

/** Counts of the flows of one Event. Times are in milliseconds. */
interface Tally {
  readonly states: Record<FlowState, number>
  readonly durations: number[]
  readonly steps: Map<string, StepTally>
}

interface StepTally {
  reached: number
  stalled: number
  readonly times: number[]
}

function countIn(tallies: Map<string, Tally>, flow: Flow, state: FlowState, names: Names): void {
  for (const [event, groups] of Map.groupBy(flow.groups, (group) => group.event)) {
    if (event === null) continue
    const tally: Tally = tallies.get(event) ?? {
      states: { running: 0, stalled: 0, failed: 0, finished: 0 },
      durations: [],
      steps: new Map(),
    }
    tallies.set(event, tally)
    tally.states[state] += 1
    if (state === 'finished') tally.durations.push(spanOf(groups))
    const times = stepTimes(groups)
    const seen = new Set(groups.map(({ step }) => step))
    for (const step of distinct([...seen])) {
      const counted = stepOf(tally, step)
      counted.reached += 1
      counted.times.push(...[times.get(step)].filter((time) => time !== undefined))
    }
    const next = state === 'stalled' ? nextStepOf(event, seen, names) : undefined
    if (next !== undefined) stepOf(tally, next).stalled += 1
  }
}

function stepOf({ steps }: Tally, step: string): StepTally {
  const tally = steps.get(step) ?? { reached: 0, stalled: 0, times: [] }
  steps.set(step, tally)
  return tally
}

/** The Event's Steps as in a flow: Steps that are in use or were seen, in registry order, then Steps that the registry no longer has. */
function statisticsOf(event: string, tally: Tally, names: Names): EventStatistics {
  const { states, durations, steps } = tally
  const started = Object.values(states).reduce((sum, count) => sum + count, 0)
  const registered = names.stepsOf(event).filter((step) => isInUse(step) || steps.has(step.identifier))
  const all = new Set([...registered.map(({ identifier }) => identifier), ...[...steps.keys()].sort()])
  return {
    event: names.event(event),
    started,
    ...states,
    duration: durationsOf(durations),
    steps: [...all].map((identifier) => {
      const { reached, stalled, times } = stepOf(tally, identifier)
      return { step: names.step(identifier), reached, share: reached / started, duration: durationsOf(times), stalled }
    }),
  }
}
