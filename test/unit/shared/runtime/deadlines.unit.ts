import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDeadlines } from '../../../../shared/runtime/deadlines.ts'
import * as fc from '../../../support/fast-check.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('deadlines', () => {
  test('each is met at its time and not before, unless it is cancelled', () => {
    const waits = fc.array(fc.record({ later: fc.integer({ min: 0, max: 500 }), cancelled: fc.boolean() }), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(waits, (items) => {
        const deadlines = createDeadlines()
        const met = new Set<number>()
        let at = performance.now()
        const times = items.map(({ later, cancelled }, index) => {
          at += later
          const deadline = deadlines.add(at, () => met.add(index))
          if (cancelled) deadlines.cancel(deadline)
          return at
        })
        for (const [index, time] of times.entries()) {
          vi.advanceTimersByTime(Math.max(0, time - performance.now() - 1))
          if (time > performance.now()) expect(met.has(index)).toBe(false)
          vi.advanceTimersByTime(2)
          expect(met.has(index)).toBe(items[index]?.cancelled === false)
        }
        deadlines.close()
      }),
    )
  })

  test('have one timer, whatever their number', () => {
    const deadlines = createDeadlines()
    for (let index = 0; index < 1_000; index += 1) deadlines.add(performance.now() + 100 + index, () => undefined)
    expect(vi.getTimerCount()).toBe(1)
    deadlines.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('all expire at the end, in their order; what is over lets go of its function', () => {
    const deadlines = createDeadlines()
    const met: string[] = []
    const first = deadlines.add(performance.now() + 1_000, () => met.push('first'))
    const cancelled = deadlines.add(performance.now() + 1_000, () => met.push('cancelled'))
    deadlines.add(performance.now() + 2_000, () => met.push('second'))
    deadlines.cancel(cancelled)
    deadlines.close()
    expect(met).toEqual(['first', 'second'])
    expect([first.expire, cancelled.expire]).toEqual([undefined, undefined])
  })
})
