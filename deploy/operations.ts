import { Router } from 'express'
import { AggregatorRegistry, type MetricObject } from 'prom-client'
import { answerJson } from '../shared/http/answer.ts'
import type { Health } from '../shared/lifecycle.ts'
import type { Metrics } from '../shared/metrics.ts'

export interface OperationsDeps {
  readonly metrics: Metrics
  /** Instruments of other threads of the process. */
  readonly moreMetrics: () => Promise<object>
  /** Every part that has to be ready before the process is. */
  readonly health: () => Promise<readonly Health[]>
  /** Whether the process is on its way out. */
  readonly draining: () => boolean
}

/** `GET /health/live` and `GET /health/ready`: real statuses, and JSON that says what is not ready. */
export function healthRoutes({ health, draining }: OperationsDeps): Router {
  const router = Router()
  router.get('/health/live', (_request, response) => answerJson(response, 200, JSON.stringify({ live: true })))
  router.get('/health/ready', async (_request, response) => {
    const parts = draining() ? [{ name: 'process', ready: false, reason: 'the process is stopping' }] : await health()
    const ready = parts.every((part) => part.ready)
    answerJson(response, ready ? 200 : 503, JSON.stringify({ ready, parts }))
  })
  return router
}

/** `GET /metrics` in the Prometheus text format, those of every thread together. */
export function metricsRoutes({ metrics, moreMetrics }: OperationsDeps): Router {
  const router = Router()
  router.get('/metrics', async (_request, response) => {
    const all = [await metrics.registry.getMetricsAsJSON(), await moreMetrics()]
    const text = await AggregatorRegistry.aggregate(all as MetricObject[][] as never).metrics()
    response.writeHead(200, { 'content-type': metrics.registry.contentType })
    response.end(text)
  })
  return router
}
