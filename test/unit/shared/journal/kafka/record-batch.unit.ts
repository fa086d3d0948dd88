import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { crc32c, createRecordsBatch, Reader, readRecordsBatch } from '@platformatic/kafka'
import { expect, test } from 'vitest'
import type { NewRecord } from '../../../../../shared/journal/journal.ts'
import {
  encodeRecordBatch,
  packRecords,
  RecordBlock,
  recycle,
} from '../../../../../shared/journal/kafka/record-batch.ts'
import * as fc from '../../../../support/fast-check.ts'

const NOW = Date.UTC(2026, 0, 1)

const bytesOf = (content: string | Uint8Array | null): Buffer | null =>
  content === null ? null : Buffer.from(content as string)

/** The library's encoding of the same records. */
const theirs = (records: readonly NewRecord[]): Buffer =>
  createRecordsBatch(
    records.map(({ key, value, headers, commonHeaders = {} }) => ({
      topic: 'logs',
      partition: 0,
      timestamp: BigInt(NOW),
      key: bytesOf(key) as Buffer,
      value: bytesOf(value) as Buffer,
      headers: new Map(
        [...Object.entries(commonHeaders), ...Object.entries(headers)].map(([name, content]) => [
          Buffer.from(name),
          bytesOf(content) ?? Buffer.alloc(0),
        ]),
      ),
    })),
  ).buffer

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ maxLength: 300 }))
const content = fc.oneof(text, fc.uint8Array({ maxLength: 200 }))
const recordArbitrary: fc.Arbitrary<NewRecord> = fc.record({
  key: fc.option(content, { nil: null }),
  value: fc.option(content, { nil: null }),
  headers: fc.dictionary(text, content, { maxKeys: 5 }),
  commonHeaders: fc.option(fc.dictionary(text, content, { maxKeys: 3 }), { nil: undefined }),
})

test('is byte for byte what the library makes of the records', () => {
  fc.assert(
    fc.property(fc.array(recordArbitrary, { minLength: 1, maxLength: 20 }), (records) => {
      expect(encodeRecordBatch(records, NOW).equals(theirs(records))).toBe(true)
    }),
  )
})

test('is the same of records that were packed, however many at once', () => {
  // Requests of up to 70 records, taken in turn from a few: making all of them took most of the time.
  const pool = fc.array(recordArbitrary, { minLength: 1, maxLength: 20 })
  const sizes = fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(pool, sizes, fc.integer({ min: 1, max: 3 }), (records, counts, times) => {
      let next = 0
      const recordOf = (): NewRecord => records[next++ % records.length]!
      const some = counts.map((length) => Array.from({ length }, recordOf))
      const all = Array.from({ length: times }, () => some).flat()
      const packed = all.map(packRecords)
      for (const [index, request] of all.entries())
        if (request.length < 8) expect(isDeepStrictEqual(packed[index], request)).toBe(true)
        else expect(packed[index]).toEqual([expect.any(RecordBlock)])
      expect(encodeRecordBatch(packed.flat(), NOW).equals(encodeRecordBatch(all.flat(), NOW))).toBe(true)
    }),
  )
})

test('takes packed records once, and frees their memory', () => {
  const block = new RecordBlock([{ key: 'a', value: 'the order 1 was placed', headers: {} }])
  const bytes = block.take()
  expect(() => encodeRecordBatch([block], NOW)).toThrow('before')
  const other = new RecordBlock([{ key: 'a', value: 'the order 1 was placed', headers: {} }])
  other.take = () => bytes
  expect(encodeRecordBatch([other], NOW).readInt32BE(57)).toBe(1)
  expect(bytes.buffer.detached).toBe(true)
})

const COMPRESSED = ['gzip', 'snappy', 'lz4', 'zstd'] as const

test.each(COMPRESSED)('compressed by %s, it is read by the library as it was', (compression) => {
  const shown = (batch: Buffer) =>
    readRecordsBatch(Reader.from(batch)).records.map(({ key, value, headers }) => [key, value, [...headers]])
  fc.assert(
    fc.property(
      fc.array(recordArbitrary, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      (some, n) => {
        const records = Array.from({ length: n }, () => some).flat()
        const batch = encodeRecordBatch(records, NOW, compression)
        // Jest's own comparison looks at every byte of every buffer by itself, which took most of a minute.
        expect(isDeepStrictEqual(shown(batch), shown(encodeRecordBatch(records, NOW)))).toBe(true)
        expect(batch.readUInt32BE(17)).toBe(crc32c(batch.subarray(21)))
      },
    ),
  )
})

test.each(COMPRESSED)('%s is used where it makes a batch smaller, and only there', (compression) => {
  const algorithmOf = (batch: Buffer) => batch.readInt16BE(21) & 7
  const record = (value: string | Uint8Array) => ({ key: null, value, headers: {} })
  const alike = Array.from({ length: 100 }, (_, index) => record(`the order ${index} was placed`))
  const batch = encodeRecordBatch(alike, NOW, compression)
  expect(algorithmOf(batch)).toBe(1 + COMPRESSED.indexOf(compression))
  expect(batch.length).toBeLessThan(encodeRecordBatch(alike, NOW).length / 2)
  for (const plain of [[record('the order 1 was placed')], [record(randomBytes(5_000))]])
    expect(encodeRecordBatch(plain, NOW, compression)).toEqual(encodeRecordBatch(plain, NOW))
})

test.each([0, 1, 47, 48, 49, 63, 64, 8_100, 8_191, 8_192, 1_048_575, 3_000_000])(
  'holds a value of %d characters, of one byte each or of three',
  (length) => {
    for (const character of ['x', '€']) {
      const records = [
        { key: character.repeat(Math.min(length, 100)), value: character.repeat(length), headers: { a: character } },
        { key: null, value: 'after', headers: {} },
      ]
      expect(encodeRecordBatch(records, NOW).equals(theirs(records))).toBe(true)
    }
  },
)

test('is read back as it was, with its checksum', () => {
  const records = Array.from({ length: 300 }, (_, index) => ({
    key: index % 2 === 0 ? `key-${index}` : null,
    value: `value ${index}`,
    headers: { ce_id: `${index}`, raw: Uint8Array.of(index % 256) },
  }))
  const { records: read, crc, lastOffsetDelta } = readRecordsBatch(Reader.from(encodeRecordBatch(records, NOW)))
  expect(lastOffsetDelta).toBe(299)
  expect(crc).toBeGreaterThan(0)
  expect(read.map(({ key, value, offsetDelta }) => [key?.toString() ?? null, value?.toString(), offsetDelta])).toEqual(
    records.map(({ key, value }, index) => [key, value, index]),
  )
})

test('the buffer of a large batch that was given back is used again, and no other', () => {
  const large = (letter: string) => [{ key: null, value: letter.repeat(200_000), headers: {} }]
  const [first, kept] = [encodeRecordBatch(large('a'), NOW), encodeRecordBatch(large('b'), NOW)]
  recycle(first)
  const [again, fresh] = [encodeRecordBatch(large('c'), NOW), encodeRecordBatch(large('d'), NOW)]
  expect(again.buffer).toBe(first.buffer)
  expect(new Set([again.buffer, kept.buffer, fresh.buffer]).size).toBe(3)
  for (const [ours, letter] of [
    [kept, 'b'],
    [again, 'c'],
    [fresh, 'd'],
  ] as const) {
    expect(Buffer.compare(ours, theirs(large(letter)))).toBe(0)
  }
})
