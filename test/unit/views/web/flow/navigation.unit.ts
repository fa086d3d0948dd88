import { expect, test } from 'vitest'
import { nextOf } from '../../../../../views/web/flow/navigation.ts'

test('the next place is the nearest beyond, and the first again after the last', () => {
  const places = [3, 7, 20]
  expect([undefined, 0, 3, 6, 7, 20, 99].map((from) => nextOf(places, from, 1))).toEqual([3, 3, 7, 7, 20, 3, 3])
  expect([undefined, 0, 3, 6, 7, 20, 99].map((from) => nextOf(places, from, -1))).toEqual([20, 20, 20, 3, 3, 7, 20])
  expect(nextOf([], 3, 1)).toBeUndefined()
  expect(nextOf([0], undefined, 1)).toBe(0)
  expect(nextOf([0], 0, -1)).toBe(0)
})
