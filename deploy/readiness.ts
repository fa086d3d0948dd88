import type { Health } from '../shared/runtime/lifecycle.ts'
import { askWithin } from '../shared/runtime/waiting.ts'

/** A part of the process, which may have to be asked in another thread or at a server. */
export interface Part {
  readonly name: string
  health(): Promise<Health | readonly Health[]>
}

/** A probe of an orchestrator waits no longer than a second by default. */
const LIMIT_MS = 900

/** A thread that has much to do answers late, and is no less ready for it. */
const GOOD_FOR_MS = 10_000

/**
 * Asks all parts at once for their health. One that fails is not ready, nor is one that does not answer within `limitMs`, unless it was
 * heard of within `goodForMs`: then it is as it was.
 */
export function createReadiness(
  parts: readonly Part[],
  limitMs = LIMIT_MS,
  goodForMs = GOOD_FOR_MS,
): () => Promise<readonly Health[]> {
  const asks = parts.map(({ name, health }) => {
    let last: { readonly at: number; readonly health: Health | readonly Health[] } | undefined
    const ask = askWithin(limitMs, async () => {
      const answer = await health()
      last = { at: performance.now(), health: answer }
      return answer
    })
    const known = () => (last !== undefined && performance.now() - last.at < goodForMs ? last.health : undefined)
    const notReady = (reason: string): Health => ({ name, ready: false, reason })
    return () =>
      ask().then(
        (answer) => answer ?? known() ?? notReady('it does not answer'),
        (error: unknown) => notReady(error instanceof Error ? error.message : String(error)),
      )
  })
  return async () => (await Promise.all(asks.map((ask) => ask()))).flat()
}
