import { searchText } from '../../shared/contract/keyword.ts'
import { compareTimestamps, timestampOf } from '../../shared/contract/timestamp.ts'
import { EVENT_ENDS_MAX, type FlowStates } from '../../shared/log-store/log-store.ts'
import type { StepEntity } from '../../shared/registry/registry.ts'
import { durationText } from '../flow-layout/times.ts'
import type { FlowSummary } from '../schemas/answers.ts'
import { isInUse, type Names } from './names.ts'
import { invalidParameters } from './problems.ts'

type FlowState = Pick<FlowSummary, 'state' | 'reason'>

/** A flow that logged within this time is taken to be at work, as long as nothing is known of flows like it. */
export const RUNNING_MS = 5 * 60_000

/**
 * How long flows may be silent before a Step, by its identifier and in milliseconds: of all Steps of the Events of which something is
 * known. Of a flow in several Events these tell; where nothing is known of any, it is `RUNNING_MS`.
 */
export type FlowWaits = ReadonlyMap<string, number>

/** The facts that the guess is made from. */
type Seen = Pick<FlowSummary, 'events' | 'lastAt' | 'lastErrorAt' | 'lastProgressAt' | 'nextSteps' | 'steps'>

/** The time after which a flow logged lately at `now`, in milliseconds since 1970. */
const latelyAt = (now: number, wait: number): string => timestampOf(Math.max(0, now - wait))

const TOO_MANY_EVENTS = `is not told for more than ${EVENT_ENDS_MAX} Events with Steps: archive the Steps of Events that start no more flows`

/**
 * The facts at `now`, in milliseconds since 1970, by which the log store tells the states of flows as `stateOf` does. Throws an
 * `invalid_request` where there are too many.
 */
export function statesAt(now: number, names: Names, waits: FlowWaits): FlowStates {
  const processes = names.processes()
  if (processes.length > EVENT_ENDS_MAX) throw invalidParameters([{ path: 'state', message: TOO_MANY_EVENTS }])
  return {
    lately: latelyAt(now, RUNNING_MS),
    // A Step behind the last one in use ends the Event as well: it may have been archived since.
    ends: processes.map(([event, steps]) => ({
      event: searchText(event),
      steps: steps.slice(steps.findLastIndex(isInUse)).map(({ identifier }) => searchText(identifier)),
    })),
    waits: waitsAt(now, processes, waits),
  }
}

/** The Events of which waits are known, with the places before their last Step in use. */
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

/** The Steps after which another one of the Event comes. */
export const placesOf = (steps: readonly StepEntity[]): readonly StepEntity[] =>
  steps.slice(0, steps.findLastIndex(isInUse))

const waitFor = (step: string, waits: FlowWaits): number => waits.get(step) ?? RUNNING_MS

/** The state of a flow at `now`, in milliseconds since 1970; `FLOW_STATES` says what they mean. */
export function stateOf(flow: Seen, now: number, waits: FlowWaits): FlowState {
  const { events, lastAt, nextSteps, steps } = flow
  const isSilent = (wait: number): boolean => compareTimestamps(lastAt, latelyAt(now, wait)) <= 0
  if (failed(flow)) return { state: 'failed', reason: 'No Event or Step logged anything after the last error.' }
  if (nextSteps.length === 0) {
    if (events.length > 0 && steps.length > 0)
      return { state: 'finished', reason: 'Every Event reached its last Step.' }
    return isSilent(RUNNING_MS)
      ? { state: 'finished', reason: 'No Step is expected, and nothing was logged for 5 minutes.' }
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
    reason: `The next Step would be ${next.join(', ')}, but nothing was logged for ${waitText(first.wait)}${usual}.`,
  }
}

const waitText = (wait: number): string => (wait === RUNNING_MS ? '5 minutes' : durationText(wait))

/** Whether an error ended it: application logs after one may still be of the same failure, logs of Events and Steps are not. */
function failed({ lastAt, lastErrorAt, lastProgressAt }: Seen): boolean {
  if (lastErrorAt === null) return false
  return compareTimestamps(lastErrorAt, lastProgressAt ?? lastAt) >= 0
}
