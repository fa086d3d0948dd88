import { expect, test } from 'vitest'
import { chunksOf } from '../../../../shared/journal/batches.ts'
import type { JournalRecord } from '../../../../shared/journal/journal.ts'
import { readRecord } from '../../../support/consumers-records.ts'
import * as fc from '../../../support/fast-check.ts'

const valueBytes = ({ value }: JournalRecord): number => value?.length ?? 0

test('chunks keep every record in order and stay within both limits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.nat(50))),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 100 }),
      (sizes, recordsMax, bytesMax) => {
        const records = sizes.map((size, offset) => readRecord(size === null ? null : Buffer.alloc(size), { offset }))
        const chunks = [...chunksOf(records, valueBytes, { recordsMax, bytesMax })]
        expect(chunks.flat()).toEqual(records)
        for (const chunk of chunks) {
          const bytes = chunk.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
          expect(chunk.length).toBeGreaterThan(0)
          expect(chunk.length).toBeLessThanOrEqual(recordsMax)
          expect(bytes <= bytesMax || chunk.length === 1).toBe(true)
        }
      },
    ),
  )
})

test('a record goes to the chunk before it where it fits', () => {
  const records = [4, 4, 3, 9, 1].map((size, offset) => readRecord(Buffer.alloc(size), { offset }))
  const sizes = [...chunksOf(records, valueBytes, { recordsMax: 3, bytesMax: 8 })].map((chunk) => chunk.length)
  expect(sizes).toEqual([2, 1, 1, 1])
})
