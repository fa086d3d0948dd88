import type { Clock } from '../shared/clock.ts'

/** The longest that a timer of Node can be set to. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Whether the work ended by the deadline (milliseconds since 1970). Rejects as the work does, if it does so in time. */
export async function byDeadline(work: Promise<unknown>, deadline: number, clock: Clock): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, Math.min(Math.max(0, deadline - clock.now()), TIMER_MS_MAX), false)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
