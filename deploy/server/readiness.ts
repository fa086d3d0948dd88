import type { HealthCheck } from '../../shared/role.ts'
import type { Health } from '../../shared/runtime/lifecycle.ts'
import { askWithin } from '../../shared/runtime/waiting.ts'

/** By default an orchestrator's probe waits no longer than a second. */
const LIMIT_MS = 900

/** A busy thread answers late but is no less ready. */
const GOOD_FOR_MS = 10_000

/**
 * Runs all checks at once. A part is not ready if its check fails, or if it does not answer within `limitMs` and its last answer is not
 * younger than `goodForMs`; a younger answer still counts.
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
