import { describe, expect, test } from 'vitest'
import {
  compareTimestamps,
  fromNanos,
  fromNanoWords,
  parseTimestamp,
  toNanos,
} from '../../../../shared/contract/timestamp.ts'
import * as fc from '../../../support/fast-check.ts'

const NANOS_MAX = toNanos('2261-12-31T23:59:59.999999999Z')
const nanos = fc.bigInt({ min: 0n, max: NANOS_MAX })

describe('a timestamp is given back as the same instant in UTC, with at least milliseconds and no digit lost', () => {
  test.each([
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00.1Z', '2026-01-31T09:30:00.100Z'],
    ['2026-01-31T09:30:00.1234567Z', '2026-01-31T09:30:00.1234567Z'],
    ['2026-01-31T09:30:00.123456789+01:00', '2026-01-31T08:30:00.123456789Z'],
    ['2026-01-31T09:30:00.120000000Z', '2026-01-31T09:30:00.120Z'],
    ['2026-01-31T23:30:00-0130', '2026-02-01T01:00:00.000Z'],
    ['2026-01-31T09:30:00+05', '2026-01-31T04:30:00.000Z'],
    ['2026-01-31T09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['2261-12-31T23:59:59.999999999Z', '2261-12-31T23:59:59.999999999Z'],
  ])('%s is %s', (text, canonical) => {
    expect(parseTimestamp(text)).toBe(canonical)
  })
})

describe('anything else is no timestamp', () => {
  test.each([
    '',
    ' 2026-01-31T09:30:00Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:60:00Z',
    '2026-01-31T09:30:60Z',
    '2026-01-31T09:30:00.1234567890Z',
    '2026-01-31T09:30:00+24:00',
    '2026-01-31T09:30:00+01:60',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2262-01-01T00:00:00Z',
    '1970-01-01T00:30:00+01:00',
    '1769851800',
    'yesterday',
  ])('%s', (text) => {
    expect(parseTimestamp(text)).toBeUndefined()
  })

  test('and no text makes it throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.date({ noInvalidDate: true }).map(String)), (text) => {
        parseTimestamp(text)
      }),
    )
  })
})

describe('the calendar', () => {
  test('has the days that each month of a year has, in canonical texts too', () => {
    const days = fc.record({ year: fc.integer({ min: 1960, max: 2270 }), month: fc.nat(13), day: fc.nat(32) })
    fc.assert(
      fc.property(days, fc.constantFrom('', '.5', '.123', '.1234'), ({ year, month, day }, fraction) => {
        const digits = (value: number): string => String(value).padStart(2, '0')
        const text = `${year}-${digits(month)}-${digits(day)}T10:20:30${fraction}Z`
        const time = new Date(Date.UTC(year, month - 1, day))
        const exists = time.getUTCMonth() === month - 1 && time.getUTCDate() === day && year >= 1970 && year <= 2261
        expect(parseTimestamp(text) !== undefined).toBe(exists)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('nanoseconds', () => {
  test('there and back is the same, and the text is canonical', () => {
    fc.assert(
      fc.property(nanos, (instant) => {
        const text = fromNanos(instant)
        expect(toNanos(text)).toBe(instant)
        expect(parseTimestamp(text)).toBe(text)
      }),
    )
  })

  test('are the same in two halves, and none after 2261', () => {
    const any = fc.oneof(nanos, fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(toNanos('2261-12-31T23:59:50Z'), 2n ** 63n))
    fc.assert(
      fc.property(any, (instant) => {
        const text = fromNanos(instant)
        const words = fromNanoWords(Number(instant >> 32n), Number(instant & 0xffff_ffffn))
        // A few seconds before the end have none, either.
        if (words !== undefined || instant < toNanos('2261-12-31T23:59:50Z')) expect(words).toBe(text)
        if (words !== undefined) expect(parseTimestamp(text)).toBe(text)
      }),
      { numRuns: 2_000 },
    )
  })

  test('texts are in the order of their instants', () => {
    fc.assert(
      fc.property(nanos, nanos, (a, b) => {
        expect(Math.sign(compareTimestamps(fromNanos(a), fromNanos(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })
})
