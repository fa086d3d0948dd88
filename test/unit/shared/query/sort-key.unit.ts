import { describe, expect, test } from 'vitest'
import { fromNanos } from '../../../../shared/contract/timestamp.ts'
import { isWithin, keyRange, sortKey, typeOf } from '../../../../shared/query/sort-key.ts'
import * as fc from '../../../support/fast-check.ts'

/** A number as a whole one, of so many times ten to the power of -60. */
interface Decimal {
  readonly text: string
  readonly scaled: bigint
}

const digits = fc.string({ unit: fc.constantFrom(...'0001234567899'), maxLength: 22 })
/** Few different ones, so that equal and close ones meet. */
const decimals: fc.Arbitrary<Decimal> = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(
      fc.constantFrom('0', '1', '9', '10', '990', '00990', '9007199254740993'),
      digits.map((text) => `0${text}`),
    ),
    fraction: fc.oneof(fc.constantFrom('', '0', '5', '50', '05', '0001'), digits),
    exponent: fc.integer({ min: -20, max: 20 }),
  })
  .map(({ sign, whole, fraction, exponent }) => ({
    text: `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${exponent === 0 ? '' : `e${exponent}`}`,
    scaled: BigInt(`${sign}${whole}${fraction}`) * 10n ** BigInt(60 - fraction.length + exponent),
  }))

const order = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)
const orderOfKeys = (a: string, b: string): number => order(sortKey(a) ?? 'none', sortKey(b) ?? 'none')

describe('keys to sort by', () => {
  test('numbers sort exactly, with any digits', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        expect(sortKey(a.text)).toMatch(/^n[0-9]+~?$/)
        expect(orderOfKeys(a.text, b.text)).toBe(order(a.scaled, b.scaled))
      }),
      { numRuns: 10_000 },
    )
  })

  test('instants sort by their time, whatever their offset', () => {
    const instants = fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
    fc.assert(
      fc.property(instants, fc.oneof(instants, fc.bigInt({ min: 0n, max: 20n })), (a, b) => {
        expect(orderOfKeys(fromNanos(a), fromNanos(b))).toBe(order(a, b))
        expect(orderOfKeys(fromNanos(a), fromNanos(a + b))).toBe(order(a, a + b))
      }),
    )
    expect(sortKey('2026-01-31T10:00:00+01:00')).toBe(sortKey('2026-01-31T09:00:00.000Z'))
    expect(sortKey('2026-01-31')).toBe(sortKey('2026-01-31T00:00:00Z'))
  })

  test.each([
    ['1s', '1000ms'],
    ['0.001ms', '1us'],
    ['1.5µs', '1500ns'],
    ['90.25s', '00:01:30.2500000'],
    ['-1.02:00:00', '-93600s'],
    ['0s', '00:00:00'],
  ])('%s lasts as long as %s', (a, b) => {
    expect(sortKey(a)).toMatch(/^d/)
    expect(sortKey(a)).toBe(sortKey(b))
  })

  test.each([
    ...[
      '',
      ' ',
      '-',
      '1.',
      '.5',
      '+5',
      '1 ',
      '0x10',
      '1,5',
      '1_000',
      'NaN',
      'Infinity',
      '1e',
      '1e99999',
      '1e5000',
      '1e-5001',
    ],
    ...[
      '2026-02-30',
      '1969-12-31',
      '2026-01',
      '10:00',
      '25:00:00',
      '1 s',
      '5m',
      '1.2.3',
      '१',
      '12abc',
      'true',
      'null',
      '1s2',
    ],
  ])('%j is not compared', (text) => {
    expect(sortKey(text)).toBeUndefined()
  })

  test('no text makes it throw, and every key is ASCII of one of the three types', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'0129-.eE:TZ+msnuµ \0'), maxLength: 30 })
    fc.assert(
      fc.property(fc.oneof(texts, fc.string({ unit: 'binary' })), (text) => {
        const key = sortKey(text)
        if (key !== undefined) expect(key).toMatch(/^[ndt][-0-9T:.~]+$/)
      }),
      { numRuns: 5_000 },
    )
    expect(sortKey('9'.repeat(1_024))).toHaveLength(1_030)
    expect(sortKey('0'.repeat(100_000))).toBe('n1')
    expect(sortKey(`1${'0'.repeat(4_000)}1`)).toHaveLength(4_008)
  })

  test('a range holds the values between its bounds, of the same type alone', () => {
    fc.assert(
      fc.property(
        decimals,
        fc.option(decimals),
        fc.option(decimals),
        fc.boolean(),
        fc.boolean(),
        (value, low, high, isLowIn, isHighIn) => {
          const range = keyRange({
            from: low && { value: low.text, isIncluded: isLowIn },
            to: high && { value: high.text, isIncluded: isHighIn },
          })
          if (low === null && high === null) return void expect(range).toBeUndefined()
          const isAbove = low === null || value.scaled > low.scaled || (isLowIn && value.scaled === low.scaled)
          const isBelow = high === null || value.scaled < high.scaled || (isHighIn && value.scaled === high.scaled)
          if (range === undefined) return void expect(isAbove && isBelow).toBe(false)
          expect(isWithin(range, sortKey(value.text) ?? '')).toBe(isAbove && isBelow)
          for (const other of ['2026-01-31', '5s', '-5s']) expect(isWithin(range, sortKey(other) ?? '')).toBe(false)
        },
      ),
    )
    const bound = (value: string) => ({ value, isIncluded: true })
    expect(keyRange({ from: bound('1'), to: bound('2026-01-31') })).toBeUndefined()
    expect(keyRange({ from: bound('x'), to: null })).toBeUndefined()
    expect(keyRange({ from: bound('1'), to: bound('x') })).toBeUndefined()
    expect(['1', '1s', '2026-01-31'].map((text) => typeOf(sortKey(text) ?? ''))).toEqual(['number', 'duration', 'time'])
  })
})
