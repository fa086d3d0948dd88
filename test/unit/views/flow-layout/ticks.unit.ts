import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ticksOf } from '../../../../views/flow-layout/ticks.ts'
import { createTimeScale } from '../../../../views/flow-layout/time-scale.ts'
import * as fc from '../../../support/fast-check.ts'
import { HOUR, MINUTE, SECOND, START } from '../web/flow/flow-fixture.ts'

const scaleOf = (ms: number, width = 800) => createTimeScale([{ from: START, to: START + ms, folded: false }], width)
const labels = (ms: number) => ticksOf(scaleOf(ms), true).map(({ label }) => label)

describe('ticks', () => {
  test('stand at round times, as precise as they are close', () => {
    expect(labels(6 * HOUR)).toEqual(['01-31 10:00', '11:00', '12:00', '13:00', '14:00', '15:00'])
    expect(labels(30 * SECOND)[1]).toBe('09:30:05')
    expect(labels(100)[1]).toBe('09:30:00.020')
    expect(labels(20 * 24 * HOUR).every((label) => /^2026-0[12]-\d\d$/.test(label))).toBe(true)
  })

  test.each([
    ['2026-03-29T01:00:00Z', -60, -120],
    ['2026-10-25T01:00:00Z', -120, -60],
  ])('stand at round times of the reader before and after the clocks change at %s', (change, before, after) => {
    const offset = vi.spyOn(Date.prototype, 'getTimezoneOffset')
    offset.mockImplementation(function (this: Date) {
      return this.getTime() < Date.parse(change) ? before : after
    })
    onTestFinished(() => offset.mockRestore())
    const from = Date.parse(change) - 10 * HOUR
    const scale = createTimeScale([{ from, to: from + 48 * HOUR, folded: false }], 900)
    const times = ticksOf(scale, false).map(({ label }) => label.slice(-5))
    expect(times).toEqual([...times.slice(0, 2), '06:00', '12:00', '18:00', '00:00', '06:00', '12:00'])
  })

  test('name the day again where it changed', () => {
    expect(labels(20 * HOUR).filter((label) => label.startsWith('02-01'))).toHaveLength(1)
  })

  test('give a stretch that is too short for a round time one at its start', () => {
    const scale = createTimeScale(
      [
        { from: START, to: START + 10 * MINUTE, folded: false },
        { from: START + 10 * MINUTE, to: START + 5 * HOUR, folded: true },
        { from: START + 5 * HOUR + 7, to: START + 5 * HOUR + 8, folded: false },
      ],
      1_200,
    )
    expect(ticksOf(scale, true).length).toBeGreaterThan(2)
    const lonely = createTimeScale([{ from: START + 7, to: START + 7, folded: false }], 300)
    expect(ticksOf(lonely, true).map(({ label }) => label)).toEqual(['01-31 09:30:00.007'])
  })

  test('do not stand on one another and stay within the drawing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3e12 }), fc.integer({ min: 100, max: 3_000 }), (ms, width) => {
        const ticks = ticksOf(scaleOf(ms, width), true)
        for (const [index, { x, label }] of ticks.entries()) {
          const before = ticks[index - 1]
          if (before !== undefined) expect(x).toBeGreaterThan(before.x + before.label.length * 6)
          expect(x + label.length * 6).toBeLessThanOrEqual(width)
        }
      }),
    )
  })
})
