import type { Metrics } from '../../shared/runtime/metrics.ts'
import type { Send } from './publication.ts'

/** Measures every micro-batch that the next step makes durable. */
export function measureSends(metrics: Metrics, next: Send): Send {
  const seconds = metrics.histogram('sluice_publish_seconds')
  const records = metrics.histogram('sluice_publish_batch_records')
  return async (batch) => {
    const begun = performance.now()
    await next(batch)
    seconds.observe((performance.now() - begun) / 1_000)
    records.observe(batch.count)
  }
}
