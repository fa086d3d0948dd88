import type { FlowSummary } from '../schemas/answers.ts'

type FlowState = Pick<FlowSummary, 'state' | 'reason'>

/** A flow that logged within this time is taken to be at work. */
export const RUNNING_MS = 5 * 60_000

/** The facts that the guess is made from. */
type Seen = Pick<FlowSummary, 'events' | 'lastAt' | 'lastErrorAt' | 'lastProgressAt' | 'nextSteps' | 'steps'>

/** The state of a flow at `now`, in milliseconds since 1970. */
export function stateOf(flow: Seen, now: number): FlowState {
  const { events, lastAt, nextSteps, steps } = flow
  if (failed(flow)) return { state: 'failed', reason: 'No Event or Step logged anything after the last error.' }
  const next = nextSteps.map(({ identifier, name }) => name ?? identifier).join(', ')
  if (next === '' && events.length > 0 && steps.length > 0)
    return { state: 'finished', reason: 'Every Event reached its last Step.' }
  if (now - Date.parse(lastAt) < RUNNING_MS)
    return { state: 'running', reason: 'The last log is less than 5 minutes old.' }
  if (next === '') return { state: 'finished', reason: 'No Step is expected, and nothing was logged for 5 minutes.' }
  return { state: 'stalled', reason: `The next Step would be ${next}, but nothing was logged for 5 minutes.` }
}

/** Whether an error ended it: application logs after one may still be of the same failure, logs of Events and Steps are not. */
function failed({ lastAt, lastErrorAt, lastProgressAt }: Seen): boolean {
  if (lastErrorAt === null) return false
  return Date.parse(lastErrorAt) >= Date.parse(lastProgressAt ?? lastAt)
}
