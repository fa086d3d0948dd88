import type { FlowSummary } from '../api/types.ts'
import { durationText } from '../lib/times.ts'

export type FlowState = 'running' | 'finished' | 'stalled' | 'failed'

/** What a flow seems to be doing, and why one may think so. Logs say what was done, never that nothing more will be. */
export interface Guess {
  readonly state: FlowState
  readonly reason: string
}

/** A flow that logged within this time is taken to be at work. */
export const RUNNING_MS = 5 * 60_000

/** The state of a flow at `now`, in milliseconds since 1970. */
export function guessState(flow: FlowSummary, now: number): Guess {
  const since = (at: string): string => `${durationText(Math.max(0, now - Date.parse(at)))} ago`
  const { lastAt, lastErrorAt, nextSteps, steps } = flow
  if (failed(flow)) {
    return {
      state: 'failed',
      reason: `No Event or Step logged anything after the error ${since(lastErrorAt ?? lastAt)}.`,
    }
  }
  const next = nextSteps.map(({ identifier, name }) => name ?? identifier).join(', ')
  if (next === '' && steps.length > 0) {
    return { state: 'finished', reason: `Every Event reached its last Step; the last log is from ${since(lastAt)}.` }
  }
  if (now - Date.parse(lastAt) < RUNNING_MS)
    return { state: 'running', reason: `The last log is from ${since(lastAt)}.` }
  if (next === '')
    return { state: 'finished', reason: `No Step is expected, and the last log is from ${since(lastAt)}.` }
  return { state: 'stalled', reason: `The next Step would be ${next}, but the last log is from ${since(lastAt)}.` }
}

/** Whether an error ended it: application logs after one may still be of the same failure, logs of Events and Steps are not. */
function failed({ lastAt, lastErrorAt, lastProgressAt }: FlowSummary): boolean {
  if (lastErrorAt === null) return false
  return Date.parse(lastErrorAt) >= Date.parse(lastProgressAt ?? lastAt)
}
