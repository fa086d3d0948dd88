import { expect, test } from 'vitest'
import { createRandom } from '../../fuzz/random.ts'

const drawn = (seed: number, sequence: number): readonly number[] => {
  const random = createRandom(seed, sequence)
  return Array.from({ length: 20 }, () => random.int(1_000_000))
}

test('the same seed and sequence give the same choices, in every version of this', () => {
  expect(drawn(7, 3)).toEqual(drawn(7, 3))
  expect(drawn(7, 3).slice(0, 4)).toEqual([646_776, 765_135, 16_204, 498_864])
})

test('neighbouring seeds and sequences have nothing in common', () => {
  const numbers = [drawn(7, 3), drawn(7, 4), drawn(8, 3), drawn(0, 0), drawn(0, 1)].flat()
  expect(new Set(numbers).size).toBe(numbers.length)
})

test('choices stay within what they are made from', () => {
  const random = createRandom(1, 1)
  const sizes = Array.from({ length: 2_000 }, () => random.size(1_000))
  expect(Math.min(...sizes)).toBe(1)
  expect(Math.max(...sizes)).toBeGreaterThan(900)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
  const picked = Array.from({ length: 300 }, () => random.pick(['a', 'b', 'c']))
  expect(new Set(picked)).toEqual(new Set(['a', 'b', 'c']))
  const weighed = Array.from({ length: 1_000 }, () =>
    random.weighted([
      [9, 'often'],
      [1, 'seldom'],
      [0, 'never'],
    ] as const),
  )
  expect(weighed).not.toContain('never')
  expect(weighed.filter((one) => one === 'seldom').length).toBeGreaterThan(50)
  expect(weighed.filter((one) => one === 'seldom').length).toBeLessThan(200)
  expect(random.bytes(5)).toHaveLength(5)
  expect(() => random.pick([])).toThrow(RangeError)
})
