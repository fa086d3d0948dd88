import { describe, expect, test } from 'vitest'
import type { Publication } from '../../../../gateway/publisher/publication.ts'
import { cutSlices } from '../../../../gateway/publisher/publisher.ts'
import { partitionOf } from '../../../../shared/contract/partitioner.ts'
import * as fc from '../../../support/fast-check.ts'

const LIMITS = { batchRecordsMax: 5, batchBytesMax: 1_000 }
const publications = fc.array(
  fc.record({
    record: fc.record({ key: fc.constant(null), value: fc.string(), headers: fc.constant({}) }),
    // Short ones come to the limit of records before they come to that of bytes.
    bytes: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1_500 })),
    routeBy: fc.option(fc.constantFrom('a', 'b')),
  }) satisfies fc.Arbitrary<Publication>,
  { maxLength: 60 },
)

describe('slices of a request', () => {
  test('hold every record once, in its partition, in order and within the limits', () => {
    fc.assert(
      fc.property(publications, (all) => {
        const slices = cutSlices('logs', all, 7, LIMITS)
        expect(slices.flatMap(({ places }) => places).toSorted((a, b) => a - b)).toEqual([...all.keys()])
        for (const { topic, partition, records, places, bytes } of slices) {
          const meant = places.map((place) => all[place])
          expect(topic).toBe('logs')
          expect(records).toEqual(meant.map((publication) => publication?.record))
          expect(bytes).toBe(meant.reduce((sum, publication) => sum + (publication?.bytes ?? 0), 0))
          expect(places).toEqual(places.toSorted((a, b) => a - b))
          expect(records.length === 1 || (records.length <= 5 && bytes <= 1_000)).toBe(true)
          for (const publication of meant) {
            const routeBy = publication?.routeBy ?? null
            expect(partition).toBe(routeBy === null ? null : partitionOf(routeBy, 7))
          }
        }
      }),
    )
  })

  test('are few: one where all fits, to the last record and byte', () => {
    const small = (length: number, bytes: number) =>
      Array.from({ length }, () => ({ record: { key: null, value: 'x', headers: {} }, bytes, routeBy: null }))
    const sizes = (all: readonly Publication[]) => cutSlices('logs', all, 7, LIMITS).map(({ places }) => places.length)
    expect(sizes(small(5, 200))).toEqual([5])
    expect(sizes(small(6, 1))).toEqual([5, 1])
    expect(sizes(small(5, 201))).toEqual([4, 1])
  })
})
