import { describe, expect, test } from 'vitest'
import { createByteBudget } from '../../../../shared/runtime/byte-budget.ts'

describe('the byte budget', () => {
  test('takes what fits, and anything when it is empty', () => {
    const budget = createByteBudget(100)
    expect(budget.fits(1_000)).toBe(true)
    budget.take(60)
    expect([budget.fits(40), budget.fits(41)]).toEqual([true, false])
    budget.give(60)
    expect(budget.held).toBe(0)
  })

  test('lets whoever holds all of it go on', () => {
    const budget = createByteBudget(100)
    budget.take(90)
    expect([budget.fits(20), budget.fits(20, 89), budget.fits(20, 90)]).toEqual([false, false, true])
  })

  test('gives no owner so much that the next finds nothing', () => {
    const budget = createByteBudget(1_000)
    const left = ['a', 'b', 'c', 'd'].map((owner) => {
      const share = budget.share(owner, 3)
      for (; share.fits(1); share.take(1));
      return 1_000 - budget.held
    })
    expect(left).toEqual([250, 63, 16, 4])
    const unknown = createByteBudget(900).share('unknown', 1 / 8)
    unknown.take(1)
    for (; unknown.fits(1); unknown.take(1));
    expect(unknown.held).toBe(100)
  })

  test('counts an owner by its name, whoever asks for its share', () => {
    const budget = createByteBudget(100)
    budget.share('a', 1).take(50)
    expect([budget.held, budget.share('a', 1).fits(1), budget.share('b', 1).fits(25)]).toEqual([50, false, true])
    budget.share('a', 1).give(50)
    expect(budget.share('a', 1).held).toBe(0)
  })
})
