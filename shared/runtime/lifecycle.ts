import { systemClock } from './clock.ts'

/**
 * A running part of the process. `stop` is safe without `start` and safe to call twice; it flushes what was taken, ends timers and resolves
 * by the deadline (milliseconds since 1970) at the latest. Services start from the store upwards, so that none receives work before the one
 * it passes work to, and stop in reverse.
 */
export interface Service {
  readonly name: string
  start(): Promise<void>
  stop(deadline: number): Promise<void>
}

/** Whether a part can do its work now; `reason` says what is wrong, also with a part that can do most of it. */
export interface Health {
  readonly name: string
  readonly ready: boolean
  readonly reason?: string
}

/** Time for services to stop after another one could not start. */
const STOP_AFTER_FAILURE_MS = 5_000

/** Starts in the given order; if one fails, stops those already started and rethrows. */
export async function startAll(services: readonly Service[]): Promise<void> {
  const started: Service[] = []
  for (const service of services) {
    try {
      started.push(service)
      await service.start()
    } catch (error) {
      // A failure to stop would hide why the start failed, and often has the same cause.
      await stopAll(started, systemClock.now() + STOP_AFTER_FAILURE_MS).catch(() => undefined)
      throw error
    }
  }
}

/** Several services as one: they start in order and stop at the same time, so that each has all of the time until the deadline. */
export const stoppedTogether = (name: string, services: readonly Service[]): Service => ({
  name,
  start: async () => {
    for (const service of services) await service.start()
  },
  stop: async (deadline) => {
    const stops = await Promise.allSettled(services.map((service) => service.stop(deadline)))
    for (const stop of stops) if (stop.status === 'rejected') throw stop.reason
  },
})

/** Stops in reverse order; every service is asked to stop, and the first failure is thrown at the end. */
export async function stopAll(services: readonly Service[], deadline: number): Promise<void> {
  const failures: unknown[] = []
  for (const service of services.toReversed()) {
    try {
      await service.stop(deadline)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
