import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { createTracer } from '../../../../deploy/server/tracer.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { LINKS_MAX } from '../../../../shared/runtime/tracing.ts'
import { eventually } from '../../../support/eventually.ts'
import { traceparentOf } from '../../../support/memory-tracer.ts'
import { startTraceReceiver, type TraceReceiver } from '../../../support/trace-receiver.ts'

const WAITING_MAX = 1_024

let receiver: TraceReceiver
afterEach(() => receiver.close())

async function setUp(answer?: (response: ServerResponse) => void) {
  receiver = await startTraceReceiver(answer)
  const logged: { msg: string; level: number }[] = []
  const metrics = createMetrics()
  const tracer = createTracer({
    config: { ...loadConfig({}), OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    messagingSystem: 'memory',
    clock: systemClock,
    logger: pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) }),
    metrics,
  })
  const outcomes = async (): Promise<Record<string, number>> => {
    const { values } = await metrics.counter('sluice_trace_spans_total').get()
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels['outcome']), value]))
  }
  const span = (links: readonly string[] = []) => tracer.start('work', { kind: 'consumer', links, attributes: {} })
  const stop = (): Promise<void> => tracer.stop(systemClock.now() + 5_000)
  return { tracer, span, stop, outcomes, logged }
}

describe('a tracer', () => {
  test('sends what waits before it stops, with as many links as a span may have', async () => {
    const { span, stop, outcomes } = await setUp()
    span(Array.from({ length: LINKS_MAX + 9 }, (_, index) => traceparentOf(index + 1))).end()
    await stop()
    expect(receiver.spans).toHaveLength(1)
    expect(receiver.spans[0]?.links).toHaveLength(LINKS_MAX)
    expect(await outcomes()).toEqual({ sent: 1, failed: 0, dropped: 0 })
  })

  test('drops the spans that find no room, and lets go of those that are not taken when it stops', async () => {
    const unanswered: ServerResponse[] = []
    const { tracer, span, outcomes } = await setUp((response) => void unanswered.push(response))
    for (let index = 0; index < WAITING_MAX + 7; index++) span().end()
    expect(await outcomes()).toEqual({ sent: 0, failed: 0, dropped: 7 })
    await eventually(() => expect(unanswered).not.toEqual([]))
    await tracer.stop(systemClock.now())
    await eventually(() => expect(unanswered.every(({ destroyed }) => destroyed)).toBe(true))
    await eventually(async () => expect((await outcomes())['failed']).toBe(WAITING_MAX))
  })

  test('counts the spans that the receiver refuses, says so once, and goes on', async () => {
    const { span, stop, outcomes, logged } = await setUp((response) => void response.writeHead(503).end())
    for (let index = 0; index < 600; index++) span().end()
    await eventually(async () => expect((await outcomes())['failed']).toBeGreaterThanOrEqual(512))
    await stop()
    expect(await outcomes()).toEqual({ sent: 0, failed: 600, dropped: 0 })
    expect(logged).toMatchObject([{ msg: 'traces cannot be sent; the metrics count them' }])
  })

  test('knows the requests that have not ended, and the span that work runs in', async () => {
    const { tracer, span, stop } = await setUp()
    const request = tracer.start('request', { kind: 'server', attributes: {} })
    const chunk = span()
    expect([tracer.isOpenRequest(request.traceparent), tracer.isOpenRequest(chunk.traceparent)]).toEqual([true, false])
    request.end()
    expect(tracer.isOpenRequest(request.traceparent)).toBe(false)
    const seen = await tracer.within(chunk, async () => {
      await new Promise(setImmediate)
      return tracer.current()
    })
    expect([seen, tracer.current()]).toEqual([chunk, undefined])
    await stop()
  })
})
