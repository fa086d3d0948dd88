import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createQuotas, RETRY_AFTER_SECONDS_MAX } from '../../../../gateway/ingest/quotas.ts'
import type { TeamLimits } from '../../../../shared/registry/registry.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import * as fc from '../../../support/fast-check.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Quotas of Teams whose limits, and of a gateway whose share, a test can change. */
function setUp(limits: Record<string, TeamLimits>, env: Record<string, string> = {}) {
  const metrics = createMetrics()
  const state = { limits, share: 1, random: 0 }
  const quotas = createQuotas({
    config: loadConfig(env),
    registry: {
      team: (id) => (state.limits[id] === undefined ? undefined : { id, name: id, limits: state.limits[id] }),
    },
    metrics,
    share: () => state.share,
    random: () => state.random,
  })
  /** How many of so many requests of one entry are taken. */
  const taken = (team: string, requests: number, bytes = 1): number =>
    Array.from({ length: requests }, () => quotas.take(team, 1, bytes)).filter((refusal) => refusal === undefined)
      .length
  const counted = async (
    name: 'sluice_quota_limited_total' | 'sluice_quota_entries_total' | 'sluice_quota_bytes_total',
  ) => (await metrics.counter(name).get()).values.map(({ labels, value }) => [...Object.values(labels), value])
  return { ...quotas, state, taken, counted }
}

const wait = (seconds: number): void => void vi.advanceTimersByTime(seconds * 1_000)

describe('a quota', () => {
  test('gives at once what comes in its burst, and then its rate', () => {
    const { taken } = setUp({ a: { entriesPerSecond: 10, burstSeconds: 3 } })
    expect(taken('a', 100)).toBe(30)
    wait(1)
    expect(taken('a', 100)).toBe(10)
    wait(3_600)
    expect(taken('a', 100)).toBe(30)
  })

  test('is that of one Team alone, and no quota limits nothing', () => {
    const { taken } = setUp({ a: { entriesPerSecond: 1, burstSeconds: 1 }, b: {} })
    expect([taken('a', 100), taken('b', 100), taken('unknown', 100)]).toEqual([1, 100, 100])
  })

  test('of bytes counts beside that of entries', () => {
    const { taken } = setUp({ a: { entriesPerSecond: 1_000, bytesPerSecond: 100, burstSeconds: 1 } })
    expect(taken('a', 10, 40)).toBe(3)
  })

  test('takes a batch larger than the bucket, and nothing more until the debt is paid', () => {
    const { take, refusal } = setUp({ a: { entriesPerSecond: 10, burstSeconds: 1 } })
    expect(take('a', 60, 1)).toBeUndefined()
    expect(take('a', 60, 1)).toMatchObject({ code: 'rate_limited', details: { retryAfterSeconds: 5 } })
    wait(4.9)
    expect(refusal('a')).toMatchObject({ code: 'rate_limited', details: { retryAfterSeconds: 1 } })
    wait(0.2)
    expect(refusal('a')).toBeUndefined()
    expect(take('a', 1, 1)).toBeUndefined()
  })

  test('tells the number of the Team, whatever the share of the gateway is, and who can change it', () => {
    const { take, state } = setUp({ a: { entriesPerSecond: 2_000, burstSeconds: 1 } })
    state.share = 0.25
    take('a', 2_000, 1)
    const refusal = take('a', 1, 1)
    expect(refusal?.message).toMatch(/quota, 2,000 entries a second\. An operator .* Retry-After/)
    expect(refusal?.details).toEqual({ team: 'a', entriesPerSecond: 2_000, retryAfterSeconds: 3 })
  })

  test.each([
    ['entries', { entriesPerSecond: 0 }],
    ['bytes', { bytesPerSecond: 0 }],
  ])('of zero %s takes nothing at all, and says so', (of, limits) => {
    const { take, refusal } = setUp({ a: limits })
    for (const refused of [refusal('a'), take('a', 1, 1), take('a', 0, 0)]) {
      expect(refused?.message).toContain(`a quota of 0 ${of} a second, so nothing of it is taken. An operator`)
      expect(refused).toMatchObject({ retryable: true, details: { retryAfterSeconds: RETRY_AFTER_SECONDS_MAX } })
    }
    wait(3_600)
    expect(take('a', 1, 1)?.code).toBe('rate_limited')
  })

  test('that is raised, also from zero, takes again as soon as the new rate has paid', () => {
    const { take, state } = setUp({ a: { entriesPerSecond: 1, burstSeconds: 1 } })
    take('a', 1_000, 1)
    expect(take('a', 1, 1)?.code).toBe('rate_limited')
    state.limits = { a: { entriesPerSecond: 0 } }
    expect(take('a', 1, 1)?.code).toBe('rate_limited')
    state.limits = { a: { entriesPerSecond: 1_000 } }
    wait(1)
    expect(take('a', 1, 1)).toBeUndefined()
    state.limits = { a: {} }
    expect(take('a', 1_000_000, 1_000_000)).toBeUndefined()
  })

  test('is that of the settings where the Team has none, field by field', () => {
    const env = { QUOTA_ENTRIES_PER_SECOND: '5', QUOTA_BYTES_PER_SECOND: '1000', QUOTA_BURST_SECONDS: '2' }
    const { taken } = setUp({ a: {}, b: { entriesPerSecond: 50 }, c: { burstSeconds: 1 } }, env)
    expect([taken('a', 1_000), taken('b', 1_000), taken('c', 1_000)]).toEqual([10, 100, 5])
  })
})

describe('the wait that a refused sender is told', () => {
  test('is spread, so that senders do not come back all at once, and bounded', () => {
    const { take, state } = setUp({ a: { entriesPerSecond: 1, burstSeconds: 1 } })
    take('a', 21, 1)
    const told = (random: number) => {
      state.random = random
      return Object(take('a', 1, 1)?.details)['retryAfterSeconds']
    }
    expect([told(0), told(0.5), told(0.999)]).toEqual([20, 25, 30])
    wait(19.9)
    expect([told(0), told(0.999)]).toEqual([1, 2])
    wait(1)
    take('a', 1_000_000, 1)
    expect([told(0), told(0.999)]).toEqual([60, 90])
  })
})

describe('a quota in shadow mode', () => {
  test('refuses nothing, and counts what it would have refused', async () => {
    const { taken, refusal, counted } = setUp({ a: { entriesPerSecond: 10, burstSeconds: 1, shadow: true } })
    expect(taken('a', 25)).toBe(25)
    expect(refusal('a')).toBeUndefined()
    expect(await counted('sluice_quota_limited_total')).toEqual([['a', 'shadow', 15]])
    expect(await counted('sluice_quota_entries_total')).toEqual([['a', 10]])
  })

  test('is chosen by the setting, where the Team does not choose', () => {
    const { taken } = setUp(
      { a: { entriesPerSecond: 1, burstSeconds: 1 }, b: { entriesPerSecond: 1, burstSeconds: 1, shadow: false } },
      { QUOTA_MODE: 'shadow' },
    )
    expect([taken('a', 10), taken('b', 10)]).toEqual([10, 1])
  })
})

describe('the metrics of quotas', () => {
  test('count what is taken and refused, and name a bounded number of Teams', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `team-${index}`)
    const { taken, counted } = setUp(
      Object.fromEntries(names.map((name) => [name, { entriesPerSecond: 1, burstSeconds: 1 }])),
    )
    for (const name of names) taken(name, 3, 7)
    const limited = await counted('sluice_quota_limited_total')
    expect(limited).toHaveLength(21)
    expect(limited[0]).toEqual(['team-0', 'enforced', 2])
    expect(limited.at(-1)).toEqual(['others', 'enforced', 2 * 980])
    expect((await counted('sluice_quota_entries_total')).at(-1)).toEqual(['others', 980])
    expect((await counted('sluice_quota_bytes_total')).at(-1)).toEqual(['others', 7 * 980])
  })
})

describe('a share', () => {
  test('is a part of the rate and of the burst, from the moment on in which it changes', () => {
    const { taken, state } = setUp({ a: { entriesPerSecond: 100, burstSeconds: 2 } })
    state.share = 0.5
    expect(taken('a', 1_000)).toBe(100)
    wait(1)
    expect(taken('a', 1_000)).toBe(50)
    state.share = 1
    wait(1)
    expect(taken('a', 1_000)).toBe(100)
  })
})

/** Eighths of a second: binary fractions, so that sums of them are exact. */
const STEP_SECONDS = 1 / 8

/** A bucket that is filled step by step. */
function createNaiveBucket(rate: number, burstSeconds: number) {
  const capacity = rate * burstSeconds
  let tokens = capacity
  return {
    step: () => {
      tokens = Math.min(capacity, tokens + rate * STEP_SECONDS)
    },
    isOpen: () => tokens > 0,
    take: (amount: number) => {
      tokens -= amount
    },
  }
}

describe('any requests at any times', () => {
  const limits = fc.record({
    entriesPerSecond: fc.integer({ min: 0, max: 200 }),
    bytesPerSecond: fc.integer({ min: 0, max: 5_000 }),
    burstSeconds: fc.integer({ min: 1, max: 20 }),
  })
  const request = fc.record({
    steps: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })),
    entries: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 10_000 })),
    bytes: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100_000 })),
  })

  test('are taken as by buckets that are filled step by step, and never more than the quota with its burst and one request', () => {
    fc.assert(
      fc.property(limits, fc.array(request, { maxLength: 60 }), (given, requests) => {
        const { take, refusal } = setUp({ a: given })
        const entries = createNaiveBucket(given.entriesPerSecond, given.burstSeconds)
        const bytes = createNaiveBucket(given.bytesPerSecond, given.burstSeconds)
        let seconds = 0
        let taken = 0
        let largest = 0
        for (const one of requests) {
          for (let step = 0; step < one.steps; step += 1) {
            entries.step()
            bytes.step()
          }
          wait(one.steps * STEP_SECONDS)
          seconds += one.steps * STEP_SECONDS
          const isOpen = entries.isOpen() && bytes.isOpen()
          expect(refusal('a') === undefined).toBe(isOpen)
          expect(take('a', one.entries, one.bytes) === undefined).toBe(isOpen)
          if (!isOpen) continue
          entries.take(one.entries)
          bytes.take(one.bytes)
          taken += one.entries
          largest = Math.max(largest, one.entries)
          expect(taken).toBeLessThanOrEqual(given.entriesPerSecond * (given.burstSeconds + seconds) + largest)
        }
      }),
      { numRuns: 500 },
    )
  })
})
