import type { HealthCheck } from '../../shared/role.ts'
import type { Health } from '../../shared/runtime/lifecycle.ts'
import { askWithin } from '../../shared/runtime/waiting.ts'

/** A probe of an orchestrator waits no longer than a second by default. */
const LIMIT_MS = 900

/** A thread that has much to do answers late, and is no less ready for it. */
const GOOD_FOR_MS = 10_000

/**
 * Makes all checks at once. A part whose check fails is not ready, nor is a part that does not answer within `limitMs`, unless its last
 * answer is younger than `goodForMs`: then that answer counts.
 */
export function createReadiness(
  checks: readonly HealthCheck[],
  limitMs = LIMIT_MS,
  goodForMs = GOOD_FOR_MS,
): () => Promise<readonly Health[]> {
  const asks = checks.map(({ name, health }) => {
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
