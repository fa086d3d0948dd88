import { describe, expect, test } from 'vitest'
import { partText, rangeOf, type Spans, spanAt, ticksOf } from '../../../../../views/web/logs/time-spans.ts'
import * as fc from '../../../../support/fast-check.ts'

const START = Date.parse('2026-01-31T09:00:00Z')

const spansOf = (count: number, interval = 60_000): Spans => ({
  interval,
  starts: Array.from({ length: count }, (_, index) => new Date(START + index * interval).toISOString()),
})

describe('the spans under the pointer', () => {
  const three = spansOf(3)

  test.each([
    [0, 0],
    [0.3, 0],
    [0.34, 1],
    [0.99, 2],
    [1, 2],
    [1.5, 2],
    [-1, 0],
  ])('at %j of the width is span %j', (part, expected) => {
    expect(spanAt(three, part)).toBe(expected)
  })

  test('of a drag are whole, in either direction', () => {
    const range = { from: '2026-01-31T09:01:00.000Z', to: '2026-01-31T09:03:00.000Z' }
    expect(rangeOf(three, 1, 2)).toEqual(range)
    expect(rangeOf(three, 2, 1)).toEqual(range)
    expect(rangeOf(three, 1, 1)).toEqual({ from: range.from, to: '2026-01-31T09:02:00.000Z' })
    expect(rangeOf(spansOf(0), 0, 0)).toBeUndefined()
  })

  test('any drag covers what is under it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
        const spans = spansOf(60)
        const range = rangeOf(spans, spanAt(spans, a), spanAt(spans, b))
        const width = 60 * 60_000
        expect(Date.parse(range?.from ?? '')).toBeLessThanOrEqual(START + Math.min(a, b) * width)
        expect(Date.parse(range?.to ?? '')).toBeGreaterThanOrEqual(START + Math.max(a, b) * width)
      }),
    )
  })
})

describe('spans whose time was not counted as a whole', () => {
  const AFTER = START + 86_400_000
  const three = { ...spansOf(3), counted: { from: '2026-01-31T09:00:30.000Z', to: '2026-01-31T09:02:30.000Z' } }

  test('say so, alone and as a part of others', () => {
    expect([0, 1, 2].map((index) => partText(three, index, index, AFTER))).toEqual(['in part', undefined, 'in part'])
    expect([partText(three, 1, 0, AFTER), partText(three, 1, 2, AFTER)]).toEqual(['in part', 'in part'])
  })

  test('are whole where the range begins and ends with them, or is open', () => {
    const whole = { from: '2026-01-31T09:00:00.000Z', to: '2026-01-31T09:03:00.000Z' }
    expect(partText({ ...spansOf(3), counted: whole }, 0, 2, AFTER)).toBeUndefined()
    expect(partText({ ...spansOf(3), counted: {} }, 0, 2, AFTER)).toBeUndefined()
  })

  test('that have not ended say that, also before the end of the range', () => {
    const now = START + 90_000
    expect([0, 1, 2].map((index) => partText(spansOf(3), index, index, now))).toEqual([
      undefined,
      'not over yet',
      'not over yet',
    ])
  })
})

describe('the times below the drawing', () => {
  const HOUR = 3_600_000

  test('are round, as many as fit, and none sticks out', () => {
    const ticks = ticksOf(spansOf(48, HOUR / 2), 1_000, true)
    expect(ticks.map(({ label }) => label)).toEqual([
      ...['01-31 09:00', '12:00', '15:00', '18:00', '21:00'],
      ...['02-01 00:00', '03:00', '06:00'],
    ])
    expect(ticks.map(({ x }) => x)).toEqual([0, 3, 6, 9, 12, 15, 18, 21].map((hours) => (1_000 * hours) / 24))
    expect(ticksOf(spansOf(48, HOUR / 2), 300, true).map(({ label }) => label)).toEqual(['01-31 12:00', '02-01 00:00'])
  })

  test('of many days are days', () => {
    const labels = ticksOf(spansOf(7 * 8, 3 * HOUR), 700, true).map(({ label }) => label)
    expect(labels).toEqual(Array.from({ length: 6 }, (_, day) => `2026-02-0${day + 1}`))
  })

  test('of some days are days also where they are narrow', () => {
    expect(ticksOf(spansOf(5 * 8, 3 * HOUR), 220, true).map(({ label }) => label)).toEqual(['2026-02-03'])
  })

  test('are none of a drawing without spans', () => {
    expect(ticksOf(spansOf(0), 1_000, true)).toEqual([])
  })
})
