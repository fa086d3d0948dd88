import { compareTimestamps, timestampOf } from '../../shared/contract/timestamp.ts'
import { EVENT_ENDS_MAX, type FlowStates } from '../../shared/log-store/log-store.ts'
import type { FlowSummary } from '../schemas/answers.ts'
import type { Names } from './names.ts'
import { invalidParameters } from './problems.ts'

type FlowState = Pick<FlowSummary, 'state' | 'reason'>

/** A flow that logged within this time is taken to be at work. */
export const RUNNING_MS = 5 * 60_000

/** The facts that the guess is made from. */
type Seen = Pick<FlowSummary, 'events' | 'lastAt' | 'lastErrorAt' | 'lastProgressAt' | 'nextSteps' | 'steps'>

/** The time after which a flow logged lately at `now`, in milliseconds since 1970. */
const latelyAt = (now: number): string => timestampOf(Math.max(0, now - RUNNING_MS))

const TOO_MANY_EVENTS = `is not told for more than ${EVENT_ENDS_MAX} Events with Steps: archive the Steps of Events that start no more flows`

/**
 * The facts at `now`, in milliseconds since 1970, by which the log store tells the states of flows as `stateOf` does. Throws an
 * `invalid_request` where there are too many.
 */
export function statesAt(now: number, names: Names): FlowStates {
  const ends = names.ends()
  if (ends.length > EVENT_ENDS_MAX) throw invalidParameters([{ path: 'state', message: TOO_MANY_EVENTS }])
  return { lately: latelyAt(now), ends }
}

/** The state of a flow at `now`, in milliseconds since 1970; `FLOW_STATES` says what they mean. */
export function stateOf(flow: Seen, now: number): FlowState {
  const { events, lastAt, nextSteps, steps } = flow
  if (failed(flow)) return { state: 'failed', reason: 'No Event or Step logged anything after the last error.' }
  const next = nextSteps.map(({ identifier, name }) => name ?? identifier).join(', ')
  if (next === '' && events.length > 0 && steps.length > 0)
    return { state: 'finished', reason: 'Every Event reached its last Step.' }
  if (compareTimestamps(lastAt, latelyAt(now)) > 0)
    return { state: 'running', reason: 'The last log is less than 5 minutes old.' }
  if (next === '') return { state: 'finished', reason: 'No Step is expected, and nothing was logged for 5 minutes.' }
  return { state: 'stalled', reason: `The next Step would be ${next}, but nothing was logged for 5 minutes.` }
}

/** Whether an error ended it: application logs after one may still be of the same failure, logs of Events and Steps are not. */
function failed({ lastAt, lastErrorAt, lastProgressAt }: Seen): boolean {
  if (lastErrorAt === null) return false
  return compareTimestamps(lastErrorAt, lastProgressAt ?? lastAt) >= 0
}
