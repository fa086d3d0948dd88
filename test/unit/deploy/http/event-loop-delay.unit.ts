import { afterEach, expect, test } from 'vitest'
import { createEventLoopDelay } from '../../../../deploy/http/event-loop-delay.ts'
import type { Service } from '../../../../shared/runtime/lifecycle.ts'
import { createMetrics, type Metrics } from '../../../../shared/runtime/metrics.ts'
import { eventually } from '../../../support/eventually.ts'

let delay: Service
let metrics: Metrics
afterEach(() => delay.stop(0))

async function start(windowMs?: number): Promise<void> {
  metrics = createMetrics()
  delay = createEventLoopDelay(metrics, windowMs)
  await delay.start()
  // Nothing is measured before the first look.
  await eventually(async () => (await reported('1')) > 0)
}

/** The delay of a quantile, in seconds. */
async function reported(quantile: string): Promise<number> {
  const text = await metrics.registry.getSingleMetricAsString('sluice_event_loop_delay_seconds')
  return Number(new RegExp(`\\{quantile="${quantile.replace('.', '\\.')}"\\} (\\S+)$`, 'm').exec(text)?.[1])
}

function hold(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('tells the longest delay to everybody who asks within the window', async () => {
  await start()
  hold(300)
  await eventually(async () => (await reported('1')) >= 0.25)
  expect(await reported('1')).toBeGreaterThanOrEqual(0.25)
  expect(await reported('0.5')).toBeLessThan(await reported('1'))
})

test('forgets a delay after two windows', async () => {
  await start(1_000)
  hold(300)
  await eventually(async () => (await reported('1')) >= 0.25)
  await eventually(async () => (await reported('1')) < 0.25)
})
