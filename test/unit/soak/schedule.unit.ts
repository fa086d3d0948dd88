import { expect, test } from 'vitest'
import { SOAK_FAULTS } from '../../soak/faults.ts'
import { roundOf, roundText } from '../../soak/schedule.ts'
import * as fc from '../../support/fast-check.ts'

test('the same seed makes the same rounds until a fault is added', () => {
  expect(roundOf(7, 3)).toEqual(roundOf(7, 3))
  expect(roundText(roundOf(7, 3))).toBe('gateway killed for 0.8 s, after 3.3 s Elasticsearch frozen for 2.3 s')
})

test('the two faults of a round hurt different parts', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (seed, round) => {
      const [first, second] = roundOf(seed, round)
      expect(SOAK_FAULTS[first.name].hurts).not.toBe(SOAK_FAULTS[second.name].hurts)
    }),
  )
})

test('an hour of rounds has every fault', () => {
  const names = Array.from({ length: 100 }, (_, round) => roundOf(1, round).map(({ name }) => name)).flat()
  expect(new Set(names)).toEqual(new Set(Object.keys(SOAK_FAULTS)))
})
