import type { Health } from '../shared/lifecycle.ts'
import { askWithin } from '../shared/single-flight.ts'

/** A part of the process, which may have to be asked in another thread or at a server. */
export interface Part {
  readonly name: string
  health(): Promise<Health | readonly Health[]>
}

/** A probe of an orchestrator waits no longer than a second by default. */
const LIMIT_MS = 900

/** Asks all parts at once for their health; one that fails, or does not answer within `limitMs`, is not ready. */
export function createReadiness(parts: readonly Part[], limitMs = LIMIT_MS): () => Promise<readonly Health[]> {
  const asks = parts.map(({ name, health }) => {
    const ask = askWithin(limitMs, health)
    const notReady = (reason: string): Health => ({ name, ready: false, reason })
    return () =>
      ask().then(
        (answer) => answer ?? notReady('it does not answer'),
        (error: unknown) => notReady(error instanceof Error ? error.message : String(error)),
      )
  })
  return async () => (await Promise.all(asks.map((ask) => ask()))).flat()
}
