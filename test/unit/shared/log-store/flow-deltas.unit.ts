import { expect, test } from 'vitest'
import { levelRank } from '../../../../shared/contract/levels.ts'
import { compareTimestamps } from '../../../../shared/contract/timestamp.ts'
import { mergeDeltas } from '../../../../shared/log-store/flow-deltas.ts'
import { flowDeltas } from '../../../support/documents-arbitrary.ts'
import * as fc from '../../../support/fast-check.ts'

test('merging is commutative, associative and idempotent', () => {
  fc.assert(
    fc.property(flowDeltas, flowDeltas, flowDeltas, (a, b, c) => {
      expect(mergeDeltas(a, b)).toEqual(mergeDeltas(b, a))
      expect(mergeDeltas(mergeDeltas(a, b), c)).toEqual(mergeDeltas(a, mergeDeltas(b, c)))
      expect(mergeDeltas(a, a)).toEqual(a)
      expect(mergeDeltas(mergeDeltas(a, b), a)).toEqual(mergeDeltas(a, b))
    }),
  )
})

test('a delta holds the first, the last and the worst of what was told', () => {
  fc.assert(
    fc.property(fc.array(flowDeltas, { minLength: 1, maxLength: 5 }), (all) => {
      const merged = all.reduce(mergeDeltas)
      expect(all.every(({ firstAt }) => compareTimestamps(merged.firstAt, firstAt) <= 0)).toBe(true)
      expect(all.every(({ lastAt }) => compareTimestamps(merged.lastAt, lastAt) >= 0)).toBe(true)
      expect(levelRank(merged.worstLevel)).toBe(Math.max(...all.map(({ worstLevel }) => levelRank(worstLevel))))
      expect(merged.lastReceivedAt).toBe(
        all
          .map((delta) => delta.lastReceivedAt)
          .toSorted()
          .at(-1),
      )
      expect(merged.days).toEqual([...new Set(all.flatMap(({ days }) => days))].sort())
      expect(merged.environments.slice(0, -1).join('').length).toBeLessThan(16_384)
    }),
  )
})
