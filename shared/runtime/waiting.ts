import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from './clock.ts'

/** Does the work unless it is in progress; callers meanwhile share its outcome. */
export function singleFlight<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let flight: Promise<Value> | undefined
  return () => {
    flight ??= work().finally(() => {
      flight = undefined
    })
    return flight
  }
}

/**
 * A `singleFlight` that rests after its work for `times` as long as that took, but no longer than `restMsMax`: so the work takes only its
 * share of a thread, however often it is asked for. Callers that ask during a rest share the work after it.
 */
export function restingFlight<Value>(
  work: () => Promise<Value>,
  { times, restMsMax }: { readonly times: number; readonly restMsMax: number },
): () => Promise<Value> {
  let restUntil = Number.NEGATIVE_INFINITY
  return singleFlight(async () => {
    const restMs = restUntil - performance.now()
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
    const start = performance.now()
    try {
      return await work()
    } finally {
      const end = performance.now()
      restUntil = end + Math.min(times * (end - start), restMsMax)
    }
  })
}

/** The maximum delay of a timer in Node. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** The outcome of work, or `late` after `ms` milliseconds; the work itself continues. */
async function orAfter<Value, Late>(ms: number, work: Promise<Value>, late: Late): Promise<Value | Late> {
  const { promise: over, resolve } = Promise.withResolvers<Late>()
  const timer = setTimeout(resolve, Math.min(Math.max(0, ms), TIMER_MS_MAX), late)
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Asks something that may not answer, such as another thread, and waits at most `limitMs`; undefined if there is no answer by then. It is
 * not asked again before it has answered, so that questions do not pile up.
 */
export function askWithin<Value>(limitMs: number, ask: () => Promise<Value>): () => Promise<Value | undefined> {
  const asked = singleFlight(ask)
  return singleFlight(() => orAfter(limitMs, asked(), undefined))
}

/** Whether the work ended by the deadline (milliseconds since 1970). Rejects as the work does, if it does so in time. */
export const byDeadline = (work: Promise<unknown>, deadline: number, clock: Clock): Promise<boolean> =>
  orAfter(
    deadline - clock.now(),
    work.then(() => true),
    false,
  )

/** The time that `within` allowed is over. */
export class OvertimeError extends Error {
  override readonly name = 'OvertimeError'
}

const OVERTIME = Symbol('overtime')

/** The promise's outcome, or an `OvertimeError` after `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const outcome = await orAfter(ms, promise, OVERTIME)
  if (outcome === OVERTIME) throw new OvertimeError(`not done within ${Math.round(ms)} ms`)
  return outcome
}

/** Whether a signal with this reason aborted because its time was over, as that of `AbortSignal.timeout`. */
export const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

/** Waits that can end early. */
interface Waker {
  /** Ends all current waits. */
  wake(): void
  /** Resolves after `ms` milliseconds, at `wake`, or when the signal aborts. */
  wait(ms: number): Promise<void>
}

export function createWaker(signal: AbortSignal): Waker {
  const waiting = new Set<() => void>()
  const wake = (): void => {
    for (const go of [...waiting]) go()
  }
  signal.addEventListener('abort', wake, { once: true })
  return {
    wake,
    wait: (ms) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const go = (): void => {
          clearTimeout(timer)
          waiting.delete(go)
          resolve()
        }
        const timer = setTimeout(go, ms)
        waiting.add(go)
      }),
  }
}

/** Resolves after `ms` milliseconds, or when the signal aborts. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}

/** The outcome of work; rejects with the signal's reason as soon as that aborts, while the work goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => reject(signal.reason)
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

const LONGEST_PAUSE_MS = 5_000

/**
 * Repeats work until it succeeds, after pauses that double from `firstPauseMs` to five seconds. Rejects with what `onFailure` throws, as for
 * a failure that will not pass, and with the signal's reason.
 */
export async function insist<Value>(
  work: () => Promise<Value>,
  signal: AbortSignal,
  firstPauseMs: number,
  onFailure: (error: unknown, isFirst: boolean) => void,
): Promise<Value> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      onFailure(error, pauseMs === firstPauseMs)
    }
    await pause(pauseMs, signal)
  }
}
