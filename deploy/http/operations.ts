import { Router } from 'express'
import { AggregatorRegistry, type MetricObject } from 'prom-client'
import { answerJson } from '../../shared/http/answer.ts'
import { serveReads } from '../../shared/http/method-not-allowed.ts'
import type { BaseServices, HealthCheck } from '../../shared/role.ts'
import type { Health } from '../../shared/runtime/lifecycle.ts'
import { askWithin, restingFlight } from '../../shared/runtime/waiting.ts'

export interface OperationsDeps extends Pick<BaseServices, 'logger' | 'metrics'> {
  /** Instruments of other threads of the process. */
  readonly moreMetrics: () => Promise<object>
  /** All parts that have to be ready before the process is; always resolves. */
  readonly health: () => Promise<readonly Health[]>
  /** Whether the process is shutting down. */
  readonly draining: () => boolean
}

/** How long a scrape waits for other threads. */
const METRICS_LIMIT_MS = 1_000

/** A scrape takes about 10 ms and no key: scrapes without end would leave others little of the thread. */
const REST = { times: 4, restMsMax: 250 }

/** A cache in between would answer for a process that is gone. */
const NEVER_KEPT = { 'cache-control': 'no-store' }

/** `GET /health/live` and `GET /health/ready`: real statuses, and JSON that says what is not ready. */
export function healthRoutes({ health, draining }: OperationsDeps): Router {
  const router = Router()
  serveReads(router, '/health/live', (_request, response) =>
    answerJson(response, 200, JSON.stringify({ live: true }), NEVER_KEPT),
  )
  serveReads(router, '/health/ready', async (_request, response) => {
    const parts = draining() ? [{ name: 'process', ready: false, reason: 'the process is stopping' }] : await health()
    const ready = parts.every((part) => part.ready)
    answerJson(response, ready ? 200 : 503, JSON.stringify({ ready, parts }), NEVER_KEPT)
  })
  return router
}

/** By default an orchestrator's probe waits no longer than a second. */
const HEALTH_LIMIT_MS = 900

/** A busy thread answers late but is no less ready. */
const GOOD_FOR_MS = 10_000

/**
 * Runs all checks at once. A part is not ready if its check fails, or if it does not answer within `limitMs` and its last answer is not
 * younger than `goodForMs`; a younger answer still counts.
 */
export function createReadiness(
  checks: readonly HealthCheck[],
  limitMs = HEALTH_LIMIT_MS,
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

/** `GET /metrics` in the Prometheus text format, for all threads together; a thread that does not answer is left out. */
export function metricsRoutes({ metrics, moreMetrics, logger }: OperationsDeps): Router {
  const ask = askWithin(METRICS_LIMIT_MS, moreMetrics)
  let isTold = false
  const metricsOfThreads = async (): Promise<object> => {
    const found = await ask().catch(() => undefined)
    if (found === undefined && !isTold)
      logger.warn('the metrics of the consumers are left out, as their thread does not answer')
    isTold = found === undefined
    return found ?? []
  }
  const collect = restingFlight(async () => {
    const all = [await metrics.registry.getMetricsAsJSON(), await metricsOfThreads()]
    return AggregatorRegistry.aggregate(all as MetricObject[][] as never).metrics()
  }, REST)
  const router = Router()
  serveReads(router, '/metrics', async (_request, response) => {
    const text = await collect()
    response.writeHead(200, { 'content-type': metrics.registry.contentType, ...NEVER_KEPT })
    response.end(text)
  })
  return router
}
