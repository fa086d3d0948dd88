import { describe, expect, test } from 'vitest'
import { toNanos } from '../../../../shared/contract/timestamp.ts'
import { spansOver } from '../../../../shared/log-store/spans.ts'
import * as fc from '../../../support/fast-check.ts'

const NANOS_PER_MS = 1_000_000n
const at = (text: string): bigint => toNanos(`${text}Z`)

describe('spans', () => {
  test.each([
    ['2026-01-31T12:00:00.000', '2026-01-31T13:00:00.000', 60, 60_000, 60],
    ['2026-01-31T12:00:00.000', '2026-01-31T13:00:00.000', 59, 120_000, 30],
    ['2026-01-31T12:00:30.000', '2026-01-31T13:00:30.000', 61, 60_000, 61],
    ['2026-01-31T12:00:00.000', '2026-01-31T12:00:00.0000001', 10, 1, 1],
    ['2026-01-31T12:00:00.000', '2026-01-31T12:00:00.100', 50, 2, 50],
    ['2026-01-30T00:00:00.000', '2026-01-31T00:00:00.000', 24, 3_600_000, 24],
    ['2026-01-01T00:00:00.000', '2026-01-31T00:00:00.000', 30, 86_400_000, 30],
  ])('%s to %s in at most %i are %i ms wide', (from, to, countMax, widthMs, count) => {
    expect(spansOver(at(from), at(to), countMax)).toMatchObject({ widthMs, count })
  })

  test('they cover the range, stand at multiples of their width, and are as many as asked for at most', () => {
    const instants = fc.bigInt({ min: 0n, max: at('2262-01-01T00:00:00.000') })
    fc.assert(
      fc.property(instants, instants, fc.integer({ min: 1, max: 2_000 }), (a, b, countMax) => {
        const [from, to] = a < b ? [a, b] : [b, a + 1n]
        const { widthMs, first, count } = spansOver(from, to, countMax)
        const width = BigInt(widthMs) * NANOS_PER_MS
        expect(count).toBeGreaterThan(0)
        expect(count).toBeLessThanOrEqual(countMax)
        expect(BigInt(first) * width <= from).toBe(true)
        expect(BigInt(first + count) * width >= to).toBe(true)
        expect(from - BigInt(first) * width < width).toBe(true)
        expect(BigInt(first + count) * width - to < width).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})
