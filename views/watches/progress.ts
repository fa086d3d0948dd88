import { randomUUID } from 'node:crypto'
import { beginningOf } from '../../shared/contract/rows.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { Outcome } from '../schemas/watches.ts'
import type { KnownWatch, NextState } from './book.ts'
import { type Evaluation, SAMPLES_MAX } from './conditions.ts'
import { matchText } from './messages.ts'
import { POST_MS_MAX, type Posted } from './poster.ts'
import type { Delivery, Firing, Match } from './records.ts'

/* The state transitions of a watch. They are pure except for ids and the jitter of retries; times are in milliseconds since 1970. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Delays between attempts; the last one repeats. */
const DELAYS_MS = [10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR]
/** Each delay varies by up to this share, so that many watches do not hit their receivers at once. */
const JITTER = 0.2
/** The longest time from the announcement of an attempt to the next one. */
const WAIT_MS_MAX = POST_MS_MAX + Math.max(...DELAYS_MS) * (1 + JITTER)
/** The delays between as many attempts add up to about 24 hours. They are counted, as a clock that is set says nothing about the receiver. */
const ATTEMPTS_MAX = 13
const HISTORY_MAX = 50
const TEXT_MAX = 400

/** The current state; a watch that is new, or whose condition changed, starts over and keeps only its history. */
export function stateOf({ state, since }: KnownWatch): NextState {
  if (state?.memory.since === since) return state
  const memory = { since, hasLooked: false, isMet: false, told: [], floor: since }
  return { memory, error: null, delivery: null, next: null, history: state?.history ?? [] }
}

/** When the last message was given up; null if a later one was delivered, or if the watch has started over since. */
export function gaveUpAt({ history, memory: { since } }: NextState): string | null {
  const last = history.findLast(({ outcome }) => outcome === 'delivered' || outcome === 'gave_up')
  return last?.outcome === 'gave_up' && last.at >= since ? last.at : null
}

/** The state after an evaluation; undefined if nothing worth storing changed. */
export function afterEvaluation(
  watch: KnownWatch,
  { match, memory, problem }: Evaluation,
  now: number,
): NextState | undefined {
  const before = stateOf(watch)
  const error = problem ?? null
  const turned = turnOf(before.error, error)
  if (match === null && turned === undefined && memory === before.memory) return undefined
  const noted = { ...before, memory, error, history: turned ? withOutcome(before, turned, now) : before.history }
  if (match === null) return noted
  const text = matchText(watch.condition, match)
  const history = withOutcome(noted, { outcome: 'fired', text }, now)
  if (noted.delivery !== null) return { ...noted, history, next: merged(noted.next, match, now) }
  return { ...noted, history, delivery: begun(newFiring(match, now), now) }
}

/** The state after a failed evaluation. */
export function afterError(watch: KnownWatch, reason: string, now: number): NextState | undefined {
  const before = stateOf(watch)
  const turned = turnOf(before.error, reason)
  if (turned === undefined) return undefined
  return { ...before, error: reason, history: withOutcome(before, turned, now) }
}

const turnOf = (before: string | null, now: string | null): Omit<Outcome, 'at'> | undefined => {
  if (before === now) return undefined
  return now === null
    ? { outcome: 'recovered', text: 'The condition can be evaluated again.' }
    : { outcome: 'error', text: now }
}

/** The watch's delivery, if an attempt of it is due. */
export function dueDelivery(watch: KnownWatch, now: number): Delivery | undefined {
  const { delivery } = stateOf(watch)
  if (delivery === null) return undefined
  const waitMs = Date.parse(delivery.nextAt) - now
  // No delay is longer: the clock was set back since, and its old time may be years ahead.
  return waitMs > 0 && waitMs <= WAIT_MS_MAX ? undefined : delivery
}

/** The state while a process posts: the next attempt is due if its process dies, and never while it posts. Undefined if none is due. */
export function beforeAttempt(watch: KnownWatch, now: number): NextState | undefined {
  const delivery = dueDelivery(watch, now)
  if (delivery === undefined) return undefined
  const attempts = delivery.attempts + 1
  const nextAt = timestampOf(now + POST_MS_MAX + delayAfter(attempts))
  return { ...stateOf(watch), delivery: { ...delivery, attempts, nextAt } }
}

/** The state after an attempt; `watch` has the state during it. */
export function afterAttempt(watch: KnownWatch, posted: Posted, now: number): NextState {
  const before = stateOf(watch)
  const { delivery, next } = before
  if (delivery === null) return before
  if (posted.delivered) return nextDelivery(before, next, { outcome: 'delivered', text: posted.message }, now)
  const text = `Attempt ${delivery.attempts}: ${posted.message}`
  const history = withOutcome(before, { outcome: 'failed', text }, now)
  if (delivery.attempts < ATTEMPTS_MAX) {
    const nextAt = timestampOf(now + delayAfter(delivery.attempts))
    return { ...before, history, delivery: { ...delivery, nextAt, reason: posted.message } }
  }
  const given = { outcome: 'gave_up', text: `${delivery.attempts} attempts failed.` } as const
  return nextDelivery({ ...before, history }, next, given, now)
}

const nextDelivery = (
  before: NextState,
  next: Firing | null,
  outcome: Omit<Outcome, 'at'>,
  now: number,
): NextState => ({
  ...before,
  history: withOutcome(before, outcome, now),
  delivery: next === null ? null : begun(next, now),
  next: null,
})

const withOutcome = ({ history }: NextState, { outcome, text }: Omit<Outcome, 'at'>, now: number): readonly Outcome[] =>
  [...history, { at: timestampOf(now), outcome, text: beginningOf(text, TEXT_MAX) }].slice(-HISTORY_MAX)

const newFiring = (match: Match, now: number): Firing => ({ id: `msg_${randomUUID()}`, at: timestampOf(now), match })

const begun = (firing: Firing, now: number): Delivery => ({
  ...firing,
  attempts: 0,
  nextAt: timestampOf(now),
  reason: null,
})

/** Merges the firings during a delivery into one, to be posted when the delivery has ended. */
function merged(waiting: Firing | null, match: Match, now: number): Firing {
  if (waiting === null) return newFiring(match, now)
  const isCount = match.samples.length === 0
  return {
    ...waiting,
    match: {
      count: isCount ? match.count : waiting.match.count + match.count,
      samples: [...waiting.match.samples, ...match.samples].slice(0, SAMPLES_MAX),
    },
  }
}

function delayAfter(attempts: number): number {
  const delay = DELAYS_MS[Math.min(attempts, DELAYS_MS.length) - 1] ?? 0
  return Math.round(delay * (1 + JITTER * (2 * Math.random() - 1)))
}
