import { searchText } from '../../shared/contract/keyword.ts'
import { compareTimestamps, timestampOf } from '../../shared/contract/timestamp.ts'
import { EVENT_ENDS_MAX, type FlowStates } from '../../shared/log-store/log-store.ts'
import { isInUse, type StepEntity } from '../../shared/registry/registry.ts'
import { durationText } from '../flow-layout/times.ts'
import type { FlowSummary } from '../schemas/answers.ts'
import type { Names } from './names.ts'
import { invalidParameters } from './problems.ts'

type FlowState = Pick<FlowSummary, 'state' | 'reason'>

/** A flow that logged this recently counts as running, where no wait has been learnt for it. */
export const RUNNING_MS = 5 * 60_000

/**
 * How long flows may be silent before a Step, in milliseconds by the Step's identifier; holds all Steps of each Event with learnt waits.
 * For a flow in several Events, learnt waits take precedence; without any, `RUNNING_MS` applies.
 */
export type FlowWaits = ReadonlyMap<string, number>

/** The facts from which the state is derived. */
type Seen = Pick<FlowSummary, 'events' | 'lastAt' | 'lastErrorAt' | 'lastProgressAt' | 'nextSteps' | 'steps'>

/** The timestamp after which a flow's last log counts as recent at `now`, in milliseconds since 1970. */
const latelyAt = (now: number, wait: number): string => timestampOf(Math.max(0, now - wait))

const TOO_MANY_EVENTS = `is not told for more than ${EVENT_ENDS_MAX} Events with Steps: archive the Steps of Events that start no more flows`

/**
 * The facts at `now`, in milliseconds since 1970, from which the log store derives the same states as `stateOf`. Throws an
 * `invalid_request` when the Team has too many Events.
 */
export function statesAt(now: number, names: Names, waits: FlowWaits): FlowStates {
  const processes = names.processes()
  if (processes.length > EVENT_ENDS_MAX) throw invalidParameters([{ path: 'state', message: TOO_MANY_EVENTS }])
  return {
    lately: latelyAt(now, RUNNING_MS),
    // A Step after the last one in use ends the Event as well: it may have been archived since.
    ends: processes.map(([event, steps]) => ({
      event: searchText(event),
      steps: steps.slice(steps.findLastIndex(isInUse)).map(({ identifier }) => searchText(identifier)),
    })),
    waits: waitsAt(now, processes, waits),
  }
}

/** The Events with learnt waits, and the Steps before their last Step in use. */
const waitsAt = (now: number, processes: ReturnType<Names['processes']>, waits: FlowWaits): FlowStates['waits'] =>
  processes
    .filter(([, steps]) => steps.some(({ identifier }) => waits.has(identifier)))
    .map(([event, steps]) => {
      const latelyBefore = (index: number): string =>
        latelyAt(now, waitFor(steps.slice(index).find(isInUse)?.identifier ?? '', waits))
      return {
        event: searchText(event),
        lately: latelyBefore(0),
        places: placesOf(steps).map((step, index) => {
          return { step: searchText(step.identifier), lately: latelyBefore(index + 1) }
        }),
      }
    })

/** The Steps that another Step of the Event follows. */
export const placesOf = (steps: readonly StepEntity[]): readonly StepEntity[] =>
  steps.slice(0, steps.findLastIndex(isInUse))

const waitFor = (step: string, waits: FlowWaits): number => waits.get(step) ?? RUNNING_MS

/** The state of a flow at `now`, in milliseconds since 1970; `FLOW_STATES` describes the states. */
export function stateOf(flow: Seen, now: number, waits: FlowWaits): FlowState {
  const { events, lastAt, nextSteps, steps } = flow
  const isSilent = (wait: number): boolean => compareTimestamps(lastAt, latelyAt(now, wait)) <= 0
  if (failed(flow)) return { state: 'failed', reason: 'No Event or Step logged anything after the last error.' }
  if (nextSteps.length === 0) {
    if (events.length > 0 && steps.length > 0)
      return { state: 'finished', reason: 'Every Event reached its last Step.' }
    return isSilent(RUNNING_MS)
      ? { state: 'finished', reason: 'No Step is expected, and nothing was logged for more than 5 minutes.' }
      : { state: 'running', reason: 'The last log is less than 5 minutes old.' }
  }
  const known = nextSteps.filter(({ identifier }) => waits.has(identifier))
  const telling = (known.length > 0 ? known : nextSteps)
    .map((step) => ({ ...step, wait: waitFor(step.identifier, waits) }))
    .toSorted((a, b) => a.wait - b.wait)
  const [first] = telling
  if (first === undefined || !isSilent(first.wait))
    return { state: 'running', reason: `The last log is less than ${waitText(first?.wait ?? RUNNING_MS)} old.` }
  const next = telling.filter(({ wait }) => isSilent(wait)).map(({ name, identifier }) => name ?? identifier)
  const usual = first.wait === RUNNING_MS ? '' : ', longer than such flows take'
  return {
    state: 'stalled',
    reason: `The next Step would be ${next.join(', ')}, but nothing was logged for more than ${waitText(first.wait)}${usual}.`,
  }
}

const waitText = (wait: number): string => (wait === RUNNING_MS ? '5 minutes' : durationText(wait))

/** Whether the flow ended with an error. Later application logs may belong to the same failure; later Event and Step logs do not. */
function failed({ lastAt, lastErrorAt, lastProgressAt }: Seen): boolean {
  if (lastErrorAt === null) return false
  return compareTimestamps(lastErrorAt, lastProgressAt ?? lastAt) >= 0
}
