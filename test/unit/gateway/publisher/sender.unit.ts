import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { MicroBatch } from '../../../../gateway/publisher/publication.ts'
import {
  type BreakerState,
  createBreaker,
  createFailureLog,
  holdBytes,
  limitTime,
  measureSends,
  PausedError,
  type Send,
  traceSends,
  UnsettledError,
} from '../../../../gateway/publisher/sender.ts'
import { AppendError } from '../../../../shared/journal/journal.ts'
import { createByteBudget } from '../../../../shared/runtime/byte-budget.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { LINKS_MAX } from '../../../../shared/runtime/tracing.ts'
import { createMemoryTracer, traceparentOf } from '../../../support/memory-tracer.ts'

const BATCH: MicroBatch = {
  topic: 'logs',
  partition: 0,
  records: [{ key: null, value: 'x', headers: {} }],
  count: 1,
  parts: [],
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A next step whose sends settle when the test says so. */
function pendingSend() {
  const sends: PromiseWithResolvers<void>[] = []
  const send: Send = () => {
    const pending = Promise.withResolvers<void>()
    sends.push(pending)
    return pending.promise
  }
  return { send, sends }
}

describe('the time limit', () => {
  test('gives up a send that does not settle in time, and lets one go that does', async () => {
    const { send, sends } = pendingSend()
    const limited = limitTime(1_000, send)
    const slow = limited(BATCH)
    vi.advanceTimersByTime(500)
    const quick = limited(BATCH)
    sends[1]?.resolve()
    await quick
    const failing = limited(BATCH)
    sends[2]?.reject(new Error('its own'))
    await expect(failing).rejects.toThrow('its own')
    vi.advanceTimersByTime(600)
    await expect(slow).rejects.toBeInstanceOf(UnsettledError)
  })

  test('a send that settles after it was given up changes nothing', async () => {
    const { send, sends } = pendingSend()
    const slow = limitTime(10, send)(BATCH)
    vi.advanceTimersByTime(20)
    sends[0]?.resolve()
    await expect(slow).rejects.toBeInstanceOf(UnsettledError)
  })
})

describe('holding bytes', () => {
  test('counts the bytes of a send until it has settled, well or not', async () => {
    const budget = createByteBudget(1_000)
    const { send, sends } = pendingSend()
    const held = holdBytes(send)
    const batch = { ...BATCH, parts: [30, 70].map((bytes) => ({ share: budget, bytes, traceparent: undefined })) }
    const [one, other] = [held(batch), held(batch)]
    expect(budget.held).toBe(200)
    sends[0]?.resolve()
    await one
    sends[1]?.reject(new Error('failed'))
    await expect(other).rejects.toThrow('failed')
    expect(budget.held).toBe(0)
  })
})

describe('the breaker', () => {
  const OPTIONS = { failuresPercent: 50, sendsMin: 4, windowMs: 10_000, openMs: 1_000 }

  function setUp() {
    const states: BreakerState[] = []
    let works = false
    let sent = 0
    const breaker = createBreaker(
      OPTIONS,
      (state) => states.push(state),
      async () => {
        sent += 1
        if (!works) throw new Error('the journal is down')
      },
    )
    const send = () =>
      breaker.send(BATCH).then(
        () => 'sent',
        (error: Error) => error.name,
      )
    return {
      breaker,
      states,
      send,
      sent: () => sent,
      mend: (now = true) => {
        works = now
      },
    }
  }

  test('opens when too many sends fail, not before there were enough of them', async () => {
    const { breaker, states, send, sent } = setUp()
    for (let count = 0; count < 4; count += 1) expect(await send()).toBe('Error')
    expect(states).toEqual(['open'])
    expect(await send()).toBe('PausedError')
    expect(sent()).toBe(4)
    breaker.close()
  })

  test('half open, lets one send through: success closes it, failure opens it again', async () => {
    const { breaker, states, send, sent, mend } = setUp()
    for (let count = 0; count < 4; count += 1) await send()
    vi.advanceTimersByTime(1_000)
    expect(await Promise.all([send(), send(), send()])).toEqual(['Error', 'PausedError', 'PausedError'])
    expect(states).toEqual(['open', 'halfOpen', 'open'])
    mend()
    expect(await send()).toBe('PausedError')
    vi.advanceTimersByTime(1_000)
    expect(await send()).toBe('sent')
    expect(await send()).toBe('sent')
    expect(states).toEqual(['open', 'halfOpen', 'open', 'halfOpen', 'closed'])
    expect(sent()).toBe(7)
    breaker.close()
  })

  test('stays closed while at least half of the sends succeed', async () => {
    const { breaker, states, send, mend } = setUp()
    for (let count = 0; count < 40; count += 1) {
      mend(count % 2 === 0)
      await send()
    }
    expect(states).toEqual([])
    breaker.close()
  })

  test('stays closed, or closes, where the journal refuses one topic alone', async () => {
    const states: BreakerState[] = []
    let error = new AppendError('no right', 'not_written', { isFinal: true, isOfTopic: true })
    const breaker = createBreaker(
      OPTIONS,
      (state) => states.push(state),
      () => Promise.reject(error),
    )
    const send = () => expect(breaker.send(BATCH)).rejects.toBe(error)
    for (let count = 0; count < 20; count += 1) await send()
    expect(states).toEqual([])
    const refused = error
    error = new AppendError('no login', 'not_written', { isFinal: true })
    while (states.length === 0) await send()
    vi.advanceTimersByTime(1_000)
    error = refused
    await send()
    expect(states).toEqual(['open', 'halfOpen', 'closed'])
    breaker.close()
  })

  test('closed for good refuses, and leaves no timer', async () => {
    const { breaker, send, mend } = setUp()
    mend()
    breaker.close()
    expect(await send()).toBe('PausedError')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('an error of the next step comes through as it is', async () => {
    const breaker = createBreaker(
      OPTIONS,
      () => undefined,
      () => Promise.reject(new RangeError('own')),
    )
    const failure = breaker.send(BATCH)
    await expect(failure).rejects.toBeInstanceOf(RangeError)
    await expect(failure).rejects.not.toBeInstanceOf(PausedError)
    breaker.close()
  })
})

describe('measuring', () => {
  test('counts what became durable, and only that', async () => {
    const metrics = createMetrics()
    const { send, sends } = pendingSend()
    const measured = measureSends(metrics, send)
    const durable = measured({ ...BATCH, count: 7 })
    const failed = measured(BATCH)
    vi.advanceTimersByTime(250)
    sends[0]?.resolve()
    sends[1]?.reject(new Error('failed'))
    await durable
    await expect(failed).rejects.toThrow()
    const text = await metrics.registry.metrics()
    expect(text).toMatch(/^sluice_publish_batch_records_sum 7$/m)
    expect(text).toMatch(/^sluice_publish_seconds_sum 0.25$/m)
    expect(text).toMatch(/^sluice_publish_seconds_count 1$/m)
  })
})

describe('the log of failures', () => {
  test('has the first at once, then one line an interval with the number of those between', () => {
    const lines: { unsaid: number; msg: string }[] = []
    const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line)) })
    const report = createFailureLog(logger, 1_000)
    for (const failures of [10, 3, 1]) {
      for (let count = 0; count < failures; count += 1) report(new Error('down'), BATCH)
      vi.advanceTimersByTime(1_001)
    }
    expect(lines.map(({ unsaid }) => unsaid)).toEqual([0, 9, 2])
    expect(lines[0]).toMatchObject({
      topic: 'logs',
      partition: 0,
      records: 1,
      msg: 'the journal did not confirm a send',
    })
    expect(JSON.stringify(lines)).not.toContain('"value"')
  })
})

describe('a traced send', () => {
  const batchOf = (traceparents: readonly (string | undefined)[]): MicroBatch => {
    const share = createByteBudget(Number.POSITIVE_INFINITY)
    const parts = traceparents.map((traceparent) => ({ share, bytes: 1, traceparent }))
    return { ...BATCH, parts, count: parts.length }
  }
  const startRequest = (tracer: ReturnType<typeof createMemoryTracer>) =>
    tracer.start('request', { kind: 'server', attributes: {} })

  test('is a part of its first traced request, and linked with the others, however many they are', async () => {
    const tracer = createMemoryTracer()
    const requests = Array.from({ length: LINKS_MAX + 9 }, () => startRequest(tracer).traceparent)
    const send = traceSends(tracer, async () => undefined)
    const [first = '', second = ''] = requests
    await send(batchOf([undefined, first, first, second]))
    await send(batchOf(requests))
    const sends = tracer.spans.filter(({ kind }) => kind === 'producer')
    expect(sends[0]).toMatchObject({
      name: 'send logs',
      parent: first,
      links: [second],
      ended: true,
      failure: undefined,
    })
    expect(sends[0]?.attributes).toMatchObject({ 'messaging.batch.message_count': 4 })
    expect(sends[1]?.links).toHaveLength(LINKS_MAX)
  })

  test('is none where no request is traced here, whatever its sender says', async () => {
    const tracer = createMemoryTracer()
    const ended = startRequest(tracer)
    ended.end()
    await traceSends(tracer, async () => undefined)(batchOf([undefined, traceparentOf(77), ended.traceparent]))
    expect(tracer.spans).toHaveLength(1)
  })

  test('fails as the send does', async () => {
    const tracer = createMemoryTracer()
    const send = traceSends(tracer, () => Promise.reject(new RangeError('no')))
    await expect(send(batchOf([startRequest(tracer).traceparent]))).rejects.toThrow('no')
    expect(tracer.spans[1]).toMatchObject({ ended: true, failure: 'RangeError' })
  })
})
