import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHotKeys } from '../../../../gateway/ingest/hot-keys.ts'

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
})
