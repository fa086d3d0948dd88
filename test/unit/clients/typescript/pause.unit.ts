import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { backOffMs, createPause } from '../../../../clients/typescript/src/pause.ts'
import * as fc from '../../../support/fast-check.ts'

const OPTIONS = { minBackOffMs: 100, maxBackOffMs: 1_000 }

test('the back-off is a random part of a time that doubles up to its bound', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), (failures) => {
      const ms = backOffMs(failures, OPTIONS)
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThanOrEqual(Math.min(1_000, 100 * 2 ** (failures - 1)))
    }),
  )
  const drawn = Array.from({ length: 100 }, () => backOffMs(50, OPTIONS))
  expect(Math.max(...drawn) - Math.min(...drawn)).toBeGreaterThan(100)
})

describe('a pause', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }))
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  test('is not shorter than what the server asks for, and hurry does not end that', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const pause = createPause(OPTIONS)
    expect(pause.failed(0, 2_000)).toBe(2_050)
    expect(pause.leftMs()).toBe(2_050)
    pause.hurry()
    expect(pause.leftMs()).toBe(2_000)
    vi.advanceTimersByTime(2_000)
    expect(pause.leftMs()).toBeLessThanOrEqual(0)
  })

  test('requests that failed together are one failure', () => {
    const pause = createPause(OPTIONS)
    vi.advanceTimersByTime(10)
    expect(pause.failed(0, 0)).toBeDefined()
    vi.advanceTimersByTime(1)
    expect(pause.failed(5, 0)).toBeUndefined()
    expect(pause.failures).toBe(1)
    expect(pause.failed(11, 0)).toBeDefined()
    expect(pause.failures).toBe(2)
    pause.succeeded()
    expect(pause.failures).toBe(0)
  })
})
