import { describe, expect, test } from '@jest/globals'
import { createByteBudget } from '../../../shared/byte-budget.ts'

describe('the byte budget', () => {
  test('takes what fits, and anything when it is empty', () => {
    const budget = createByteBudget(100)
    expect(budget.fits(1_000)).toBe(true)
    budget.take(60)
    expect([budget.fits(40), budget.fits(41)]).toEqual([true, false])
    budget.give(60)
    expect(budget.held).toBe(0)
  })
})
