import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRefusalOutbox } from '../../../../gateway/refusals/outbox.ts'
import { decodeRefusal, type NotedRefusal } from '../../../../shared/contract/refusals.ts'
import { AppendError } from '../../../../shared/journal/journal.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { createGatewayJournal } from '../../../support/gateway.ts'

const TOPIC = 'sluice.refusals.v1'

const refusal = (message = 'no', body = '{}'): NotedRefusal => ({
  kind: 'refusal',
  team: 'a',
  at: '2026-03-04T05:06:07.000Z',
  endpoint: '/api/ExternalLogs',
  code: 'missing_payload',
  message,
  details: null,
  index: null,
  identifier: 'order',
  keyPrefix: 'sl_abc',
  userAgent: null,
  body,
  bodyCut: false,
})

function setUp() {
  const journal = createGatewayJournal(1)
  const metrics = createMetrics()
  const warned: unknown[] = []
  const logger = { ...createLogger('silent', 'test'), warn: (...args: unknown[]) => void warned.push(args) }
  const outbox = createRefusalOutbox({
    journal,
    topic: TOPIC,
    clock: { now: () => Date.parse('2026-03-04T05:06:07.000Z') },
    logger: logger as never,
    metrics,
  })
  const records = () =>
    journal.batches.flatMap((batch) => batch.records.map(({ value }) => decodeRefusal(Buffer.from(value as string))))
  const counted = async (outcome: string): Promise<number> => {
    const { values } = await metrics.counter('sluice_refusals_noted_total').get()
    return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
  }
  return { journal, outbox, records, counted, warned }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settle = () => vi.advanceTimersByTimeAsync(1_000)

describe('the outbox of notes', () => {
  test('appends what came together at once, and later what came later', async () => {
    const { journal, outbox, records } = setUp()
    outbox.push(refusal('one'))
    outbox.push(refusal('two'))
    expect(journal.attempts).toEqual([])
    await settle()
    expect(journal.batches).toHaveLength(1)
    expect(journal.batches[0]).toMatchObject({ topic: TOPIC, partition: 0 })
    outbox.push(refusal('three'))
    await settle()
    expect(records()).toEqual([refusal('one'), refusal('two'), refusal('three')])
  })

  test('says how many were missed, by Team and code, and once', async () => {
    const { outbox, records, counted } = setUp()
    for (let n = 0; n < 1_000; n += 1) outbox.miss('a', 'missing_payload')
    outbox.miss('a', 'invalid_api_key')
    outbox.miss('b', 'invalid_api_key')
    await settle()
    await settle()
    const at = '2026-03-04T05:06:07.000Z'
    expect(records()).toEqual([
      { kind: 'unnoted', team: 'a', at, counts: { missing_payload: 1_000, invalid_api_key: 1 } },
      { kind: 'unnoted', team: 'b', at, counts: { invalid_api_key: 1 } },
    ])
    expect(await counted('unnoted')).toBe(1_002)
  })

  test('tells the counts of many Teams a few at a time', async () => {
    const { journal, outbox, records } = setUp()
    for (let n = 0; n < 450; n += 1) outbox.miss(`team-${n}`, 'missing_payload')
    await settle()
    await settle()
    expect(journal.batches.map((batch) => batch.records.length)).toEqual([200, 200, 50])
    expect(new Set(records().map((record) => record?.team)).size).toBe(450)
  })

  test('has one append under way at a time, and takes no more than one may hold, nor all of it of one Team', async () => {
    const { journal, outbox, counted } = setUp()
    journal.hold()
    outbox.push(refusal())
    await settle()
    const body = 'x'.repeat(8_192)
    const taken = Array.from({ length: 1_000 }, () => outbox.push(refusal('no', body))).filter(Boolean).length
    expect(taken).toBeGreaterThan(40)
    expect(taken * 8_192).toBeLessThan(500_000)
    expect(outbox.push({ ...refusal('no', body), team: 'b' })).toBe(true)
    await settle()
    expect(journal.attempts).toHaveLength(1)
    journal.release()
    await settle()
    expect(journal.attempts).toHaveLength(2)
    expect(journal.batches[1]?.records).toHaveLength(taken + 1)
    expect(await counted('noted')).toBe(taken + 2)
  })

  test('lets go of what the journal does not take, warns once, and goes on', async () => {
    const { journal, outbox, records, counted, warned } = setUp()
    journal.fail('not_written')
    for (let n = 0; n < 3; n += 1) {
      outbox.push(refusal(`lost ${n}`))
      await settle()
    }
    expect(await counted('lost')).toBe(3)
    expect(warned).toEqual([[{ err: expect.any(AppendError), topic: TOPIC }, expect.any(String)]])
    journal.fail(null)
    outbox.push(refusal('kept'))
    await settle()
    expect(records()).toEqual([refusal('kept')])
  })

  test('a stop sends what waits, and does not wait for a journal beyond its deadline', async () => {
    const { journal, outbox, records } = setUp()
    const now = Date.parse('2026-03-04T05:06:07.000Z')
    outbox.push(refusal())
    const stopped = outbox.stop(now + 5_000)
    await settle()
    await stopped
    expect(records()).toEqual([refusal()])
    journal.hold()
    outbox.push(refusal())
    let over = false
    const late = outbox.stop(now + 5_000).then(() => {
      over = true
    })
    await vi.advanceTimersByTimeAsync(4_999)
    expect(over).toBe(false)
    await vi.advanceTimersByTimeAsync(2)
    await late
  })

  test('a stop tells the counts of all Teams, however many there are', async () => {
    const { outbox, records } = setUp()
    for (let n = 0; n < 450; n += 1) outbox.miss(`team-${n}`, 'missing_payload')
    const told = outbox.stop(Date.parse('2026-03-04T05:06:12.000Z')).then(() => records().length)
    await settle()
    expect(await told).toBe(450)
  })

  test('a stop without anything to send ends at once, also the second time', async () => {
    const { journal, outbox } = setUp()
    await outbox.stop(Date.parse('2026-03-04T05:06:08.000Z'))
    await outbox.stop(Date.parse('2026-03-04T05:06:08.000Z'))
    expect(journal.attempts).toEqual([])
  })
})
