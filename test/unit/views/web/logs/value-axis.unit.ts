import { describe, expect, test } from 'vitest'
import {
  heightOf,
  numberText,
  PLOT_HEIGHT,
  pathsOf,
  tickTexts,
  valueAxis,
} from '../../../../../views/web/logs/value-axis.ts'
import * as fc from '../../../../support/fast-check.ts'

const textsOf = (numbers: readonly number[], whole = false): readonly string[] => tickTexts(valueAxis(numbers, whole))

describe('the axis of numbers', () => {
  test.each<[string, readonly number[], readonly string[]]>([
    ['begins at zero', [3, 87], ['0', '50', '100']],
    ['is read by round numbers', [12, 230], ['0', '100', '200', '300']],
    ['does not begin at zero far below them', [900, 1_000], ['900', '950', '1,000']],
    [
      'tells ticks apart that differ in late digits',
      [20_010, 20_050],
      ['20.01k', '20.02k', '20.03k', '20.04k', '20.05k'],
    ],
    ['has fractions', [0.02, 0.07], ['0', '0.02', '0.04', '0.06', '0.08']],
    ['reaches over zero', [-40, 60], ['-50', '0', '50', '100']],
    ['ends at zero above negative numbers', [-80, -10], ['-80', '-60', '-40', '-20', '0']],
    ['shortens what is large', [1, 1_400_000], ['0', '500k', '1M', '1.5M']],
    ['writes the largest with an exponent', [1e99, 1e100], ['0', '5e99', '1e100']],
    ['writes the smallest with an exponent', [1e-9, 4e-9], ['0', '1e-9', '2e-9', '3e-9', '4e-9']],
    ['reaches from zero to a number alone', [42, 42], ['0', '42']],
    ['reaches from a negative number alone to zero', [-7], ['-7', '0']],
    ['takes what adding rounds away for the same', [0.1 + 0.2, 0.3], ['0', '0.3']],
    ['is there without numbers', [], ['0', '1']],
  ])('%s: %j', (_name, numbers, texts) => {
    expect(textsOf(numbers)).toEqual(texts)
  })

  test('of counts is of whole numbers, from zero on', () => {
    expect(textsOf([0, 1], true)).toEqual(['0', '1'])
    expect(textsOf([0, 2], true)).toEqual(['0', '1', '2'])
    expect(textsOf([98, 100], true)).toEqual(['0', '50', '100'])
    expect(textsOf([0, 0], true)).toEqual(['0', '1'])
  })

  test('of any numbers reaches around all of them, with few ticks that ascend and differ in their texts', () => {
    // As the API gives them: rounded, up to 1e100, and means of these.
    const number = fc.double({ min: -1e100, max: 1e100, noNaN: true }).map((one) => Number(one.toPrecision(3)))
    const near = fc.tuple(number, fc.array(fc.double({ min: 0.9, max: 1.1, noNaN: true }), { maxLength: 8 }))
    const numbers = fc.oneof(
      fc.array(number, { maxLength: 8 }),
      near.map(([one, factors]) => factors.map((factor) => one * factor)),
    )
    fc.assert(
      fc.property(numbers, fc.boolean(), (all, whole) => {
        const wanted = whole ? all.map((one) => Math.floor(Math.abs(one) % 1e12)) : all
        const axis = valueAxis(wanted, whole)
        expect(axis.ticks.length).toBeGreaterThanOrEqual(2)
        expect(axis.ticks.length).toBeLessThanOrEqual(7)
        expect(axis.ticks.toSorted((a, b) => a - b)).toEqual(axis.ticks)
        expect(new Set(tickTexts(axis)).size).toBe(axis.ticks.length)
        for (const one of wanted) {
          const height = heightOf(one, axis)
          expect([one, height > -0.001 && height < PLOT_HEIGHT + 0.001]).toEqual([one, true])
        }
      }),
    )
  })
})

test.each([
  [0, '0'],
  [1_234_567, '1,234,567'],
  [-12.5, '-12.5'],
  [123.456789, '123.457'],
  [0.000123456789, '0.000123457'],
  [1e-7, '1e-7'],
  [1.5e21, '1.5e21'],
  [-1e100, '-1e100'],
])('the number %j is read as %s', (number, text) => {
  expect(numberText(number)).toBe(text)
})

describe('the paths of a series', () => {
  const axis = valueAxis([0, 100], false)

  test('go through the middles of spans and leave gaps where there is no number', () => {
    expect(pathsOf([0, 100, null, 50, 25], axis)).toEqual({ line: 'M0.5 100L1.5 0M3.5 50L4.5 75', marks: '' })
  })

  test('mark a point between two gaps, and one alone', () => {
    expect(pathsOf([null, 50, null, 0], axis)).toEqual({ line: '', marks: 'M1.5 50h0M3.5 100h0' })
    expect(pathsOf([100], axis)).toEqual({ line: '', marks: 'M0.5 0h0' })
  })
})
