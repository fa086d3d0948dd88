import { describe, expect, test } from 'vitest'
import { murmur2, partitionOf } from '../../../../shared/contract/partitioner.ts'
import * as fc from '../../../support/fast-check.ts'

describe('murmur2', () => {
  // The vectors of Kafka's own test (org.apache.kafka.common.utils.UtilsTest.testMurmur2), then one byte a length of the tail.
  test.each([
    ['21', -973_932_308],
    ['foobar', -790_332_482],
    ['a-little-bit-long-string', -985_981_536],
    ['a-little-bit-longer-string', -1_486_304_829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
    ['abc', 479_470_107],
    ['', 275_646_681],
  ])('of %j is what Java computes', (text, hash) => {
    expect(murmur2(Buffer.from(text))).toBe(hash)
  })

  test('reads the bytes it is given and none beside them', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (before, bytes, after) => {
        const within = Buffer.concat([before, bytes, after]).subarray(before.length, before.length + bytes.length)
        expect(murmur2(within)).toBe(murmur2(bytes))
      }),
    )
  })
})

describe('the partition of a key', () => {
  test('is the hash without its sign, by the number of partitions', () => {
    expect(partitionOf('21', 12)).toBe((-973_932_308 & 0x7fffffff) % 12)
    expect(partitionOf('foobar', 7)).toBe((-790_332_482 & 0x7fffffff) % 7)
  })

  test('is that of its bytes in UTF-8, however long it is', () => {
    const key = fc
      .tuple(fc.string({ unit: 'binary' }), fc.constantFrom(1, 3, 2_000))
      .map(([text, times]) => text.repeat(times))
    fc.assert(
      fc.property(key, (text) => {
        expect(partitionOf(text, 997)).toBe((murmur2(Buffer.from(text)) & 0x7fffffff) % 997)
      }),
    )
  })

  test('is one that exists, and the same each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 1_000 }), (key, partitions) => {
        const partition = partitionOf(key, partitions)
        expect(partition).toBeGreaterThanOrEqual(0)
        expect(partition).toBeLessThan(partitions)
        expect(partitionOf(key, partitions)).toBe(partition)
      }),
    )
  })

  test('spreads keys evenly', () => {
    const counts = Array<number>(12).fill(0)
    for (let index = 0; index < 12_000; index += 1) counts[partitionOf(`order-${index}`, 12)]! += 1
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150)
  })
})
