import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHotKeys } from '../../../../gateway/ingest/hot-keys.ts'
import * as fc from '../../../support/fast-check.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const uses = (isHot: (key: string) => boolean, key: string, times: number): number =>
  Array.from({ length: times }, () => isHot(key)).filter(Boolean).length

describe('hot keys', () => {
  test('a key may be used so often in a second; what is beyond is hot', () => {
    const isHot = createHotKeys({ usesPerSecond: 100, keysMax: 10 })
    expect(uses(isHot, 'a', 150)).toBe(50)
    expect(uses(isHot, 'b', 100)).toBe(0)
  })

  test('the allowance comes back with time, up to that of one second', () => {
    const isHot = createHotKeys({ usesPerSecond: 100, keysMax: 10 })
    uses(isHot, 'a', 200)
    vi.advanceTimersByTime(500)
    expect(uses(isHot, 'a', 60)).toBe(10)
    vi.advanceTimersByTime(60_000)
    expect(uses(isHot, 'a', 150)).toBe(50)
  })

  test('a key under its rate is never hot', () => {
    const isHot = createHotKeys({ usesPerSecond: 100, keysMax: 10 })
    for (let second = 0; second < 10; second += 1) {
      expect(uses(isHot, 'a', 99)).toBe(0)
      vi.advanceTimersByTime(1_000)
    }
  })

  test('a key in use stays known however many others come and go', () => {
    const isHot = createHotKeys({ usesPerSecond: 10, keysMax: 100 })
    uses(isHot, 'hot', 20)
    for (let index = 0; index < 10_000; index += 1) {
      isHot(`other-${index}`)
      if (index % 40 === 0) expect(isHot('hot')).toBe(true)
    }
  })

  test('whatever keys are used, however few are remembered: none is hot that a bucket of its own would allow', () => {
    const key = fc.oneof(fc.constantFrom('', 'a', 'b', '\0'), fc.string())
    const use = fc.record({ key, afterMs: fc.constantFrom(0, 0, 0, 1, 200, 5_000) })
    fc.assert(
      fc.property(fc.array(use, { maxLength: 200 }), fc.constantFrom(1, 4, 64), (uses, keysMax) => {
        const isHot = createHotKeys({ usesPerSecond: 5, keysMax })
        const left = new Map<string, { tokens: number; at: number }>()
        for (const { key, afterMs } of uses) {
          vi.advanceTimersByTime(afterMs)
          const now = performance.now()
          const before = left.get(key) ?? { tokens: 5, at: now }
          const tokens = Math.min(5, before.tokens + ((now - before.at) / 1_000) * 5)
          const allowed = tokens >= 1
          left.set(key, { tokens: allowed ? tokens - 1 : tokens, at: now })
          if (allowed) expect(isHot(key)).toBe(false)
          else isHot(key)
        }
      }),
    )
  })

  test('keys that differ in one character only are different keys', () => {
    const isHot = createHotKeys({ usesPerSecond: 1, keysMax: 20_000 })
    const keys = Array.from({ length: 4_000 }, (_, index) => `order-${index}`)
    expect(keys.filter((key) => isHot(key))).toEqual([])
  })
})
