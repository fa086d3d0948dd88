import { describe, expect, test } from 'vitest'
import {
  type CountedNumber,
  roundedNumber,
  SERIES_FUNCTIONS,
  type SeriesFunction,
  statisticOf,
} from '../../../../shared/log-store/statistics.ts'
import { sortKey } from '../../../../shared/query/sort-key.ts'
import * as fc from '../../../support/fast-check.ts'

/** The numbers in ascending order, each once, with its count. */
function counted(numbers: readonly number[]): readonly CountedNumber[] {
  const counts = new Map<number, number>()
  for (const number of numbers.toSorted((a, b) => a - b)) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts]
}

/** The function by its definition. */
function exactly(fn: SeriesFunction, numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  if (fn === 'count') return sorted.length
  if (fn === 'avg') return sorted.reduce((sum, number) => sum + number, 0) / sorted.length
  const share = fn === 'max' ? 1 : Number(fn.slice(1)) / 100
  return sorted.find((number) => sorted.filter((one) => one <= number).length >= share * sorted.length) ?? Number.NaN
}

const number = fc.oneof(
  fc.double({ min: 1e-12, max: 1e15, noNaN: true }),
  fc.double({ min: 99, max: 102, noNaN: true }),
  fc.integer({ min: 0, max: 1_000_000 }),
)

describe('rounded numbers', () => {
  test('every function of them is within 0.5 % of that of the numbers themselves', () => {
    fc.assert(
      fc.property(fc.array(number, { minLength: 1 }), fc.constantFrom(...SERIES_FUNCTIONS), (numbers, fn) => {
        const rounded = counted(numbers.map((one) => roundedNumber(String(one)) ?? Number.NaN))
        const exact = exactly(fn, numbers)
        expect(Math.abs((statisticOf(fn, rounded) ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.005)
      }),
      { numRuns: 2_000 },
    )
  })

  test('are numbers as searches compare them', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^-?[0-9.eE+]{1,6}$/), number.map(String)), (text) => {
        const isNumber = sortKey(text)?.startsWith('n') === true && Math.abs(Number(text)) <= 1e100
        expect(roundedNumber(text) !== undefined).toBe(isNumber)
      }),
      { numRuns: 5_000 },
    )
  })

  test.each([
    ['1503', 1500],
    ['1505.1', 1510],
    ['-0.0012345', -0.00123],
    ['404', 404],
    ['-0', 0],
    ['007', 7],
    ['1e-4000', 0],
    ['1e100', 1e100],
    ['1.01e100', undefined],
    ['1e4000', undefined],
    ['200ms', undefined],
    ['', undefined],
  ])('%j is %p', (text, rounded) => {
    expect(roundedNumber(text)).toBe(rounded)
  })
})

test('of no numbers there is none', () => {
  expect(SERIES_FUNCTIONS.map((fn) => statisticOf(fn, []))).toEqual([0, null, null, null, null, null])
})
