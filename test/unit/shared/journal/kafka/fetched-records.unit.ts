import { crc32c, createRecord, createRecordsBatch } from '@platformatic/kafka'
import { describe, expect, test } from 'vitest'
import { headerOf } from '../../../../../shared/journal/journal.ts'
import { createFetchedRecords, type FetchedRecord } from '../../../../../shared/journal/kafka/fetched-records.ts'
import { encodeRecordBatch } from '../../../../../shared/journal/kafka/record-batch.ts'
import * as fc from '../../../../support/fast-check.ts'

const CONTROL = 1 << 5
const LOG_APPEND_TIME = 1 << 3
const FIRST_TIMESTAMP = 1_000n
const MAX_TIMESTAMP = 9_000n

type Header = readonly [Buffer | null, Buffer | null]

interface Batch {
  readonly first: number
  readonly length: number
  /** The offsets, counted from the first, that compaction left. */
  readonly kept: readonly number[]
  readonly attributes?: number
  readonly leaderEpoch?: number
  readonly headers?: readonly (readonly Header[])[]
}

/** A batch as a broker has it: the value of each record is its offset, its time the first one's plus 5. */
function batchOf({ first, length, kept, attributes = 0, leaderEpoch = 0, headers = [] }: Batch): Buffer {
  const records = kept.map((delta, index) => {
    const value = Buffer.from(String(first + delta))
    const given = new Map((headers[index] ?? []) as readonly [Buffer, Buffer][])
    const record = { topic: 't', key: null, value, headers: given, timestamp: FIRST_TIMESTAMP + 5n }
    return createRecord(record as never, delta, FIRST_TIMESTAMP).buffer
  })
  const head = Buffer.alloc(61)
  const body = Buffer.concat(records)
  head.writeBigInt64BE(BigInt(first), 0)
  head.writeInt32BE(head.length - 12 + body.length, 8)
  head.writeInt32BE(leaderEpoch, 12)
  head.writeInt8(2, 16)
  head.writeInt16BE(attributes, 21)
  head.writeInt32BE(length - 1, 23)
  head.writeBigInt64BE(FIRST_TIMESTAMP, 27)
  head.writeBigInt64BE(MAX_TIMESTAMP, 35)
  head.writeInt32BE(kept.length, 57)
  return sealed(Buffer.concat([head, body]))
}

/** The batch with the checksum that it should have. */
function sealed(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17)
  return batch
}

/** All records from a position on, taken so many at a time, and the position after them. */
function read(batches: readonly Buffer[], position = 0, atOnce = 1_000) {
  const fetched = createFetchedRecords('t', 0, Buffer.concat(batches), { position, leaderEpoch: 1 })
  const records: FetchedRecord[] = []
  while (!fetched.isEmpty()) {
    const taken = fetched.take({ records: atOnce, bytes: 100_000 })
    expect(taken.length).toBeLessThanOrEqual(atOnce)
    records.push(...taken)
  }
  return { records, next: fetched.next.position, leaderEpoch: fetched.next.leaderEpoch }
}

describe('what a broker sent', () => {
  test('records before the position are dropped, those after it are kept in order, and the next position follows them', () => {
    const batches = [
      batchOf({ first: 0, length: 4, kept: [0, 1, 2, 3] }),
      batchOf({ first: 4, length: 2, kept: [0, 1] }),
    ]
    const { records, next } = read(batches, 2)
    expect(records.map(({ offset, value }) => [offset, String(value)])).toEqual([
      [2, '2'],
      [3, '3'],
      [4, '4'],
      [5, '5'],
    ])
    expect(next).toBe(6)
  })

  test('a record has the epoch of the leader that took it, and the next place that of the record before it', () => {
    const batches = [
      batchOf({ first: 0, length: 2, kept: [0, 1], leaderEpoch: 3 }),
      batchOf({ first: 2, length: 1, kept: [0], leaderEpoch: 5 }),
    ]
    const { records, leaderEpoch } = read(batches)
    expect(records.map((record) => record.leaderEpoch)).toEqual([3, 3, 5])
    expect(leaderEpoch).toBe(5)
    expect(read([])).toMatchObject({ next: 0, leaderEpoch: 1 })
  })

  test('markers of transactions and offsets that compaction emptied move the position on', () => {
    const batches = [
      batchOf({ first: 0, length: 1, kept: [0], attributes: CONTROL }),
      batchOf({ first: 1, length: 5, kept: [] }),
    ]
    expect(read(batches)).toEqual({ records: [], next: 6, leaderEpoch: 0 })
  })

  test('a portion ends with the record that reaches its bytes, also within a batch and over several', () => {
    const records = Array.from({ length: 4 }, () => ({ key: null, value: 'x'.repeat(100), headers: {} }))
    const batch = encodeRecordBatch(records, 1_234, 'gzip')
    const fetched = createFetchedRecords('t', 0, Buffer.concat([batch, batch]), { position: 0, leaderEpoch: -1 })
    const taken = [250, 1, 450, 1, 1].map((bytes) => fetched.take({ records: 100, bytes }).length)
    expect(taken).toEqual([3, 1, 4, 0, 0])
  })

  test('a batch that the answer cuts off comes again', () => {
    const whole = batchOf({ first: 0, length: 2, kept: [0, 1] })
    const cut = batchOf({ first: 2, length: 2, kept: [0, 1] })
    for (const length of [1, 60, 61, cut.length - 1]) {
      const { records, next } = read([whole, cut.subarray(0, length)])
      expect([records.length, next]).toEqual([2, 2])
    }
    expect(read([cut.subarray(0, 40)], 2)).toEqual({ records: [], next: 2, leaderEpoch: 1 })
  })

  test('the time is the record’s own, or the broker’s where the topic says so', () => {
    const times = (attributes: number) =>
      read([batchOf({ first: 0, length: 2, kept: [0, 1], attributes })]).records.map(({ appendedAt }) => appendedAt)
    expect(times(0)).toEqual([1_005, 1_005])
    expect(times(LOG_APPEND_TIME)).toEqual([9_000, 9_000])
  })

  test('a header without a value is the empty text, and one named __proto__ is a header', () => {
    const headers: readonly Header[] = [
      [Buffer.from('none'), null],
      [Buffer.from('__proto__'), Buffer.from('x')],
    ]
    const { records } = read([batchOf({ first: 0, length: 1, kept: [0], headers: [headers] })])
    expect(Object.entries(records[0]?.headers ?? {})).toEqual([
      ['none', ''],
      ['__proto__', 'x'],
    ])
  })

  test('bytes that are no text stay bytes, each time they come', () => {
    const headers: readonly Header[] = [[Buffer.from('raw'), Buffer.from([0xff])]]
    const { records } = read([batchOf({ first: 0, length: 2, kept: [0, 1], headers: [headers, headers] })])
    expect(records.map((record) => record.headers['raw'])).toEqual([Buffer.from([0xff]), Buffer.from([0xff])])
  })
})

describe('whatever was written', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 })
  const header = fc.tuple(fc.constantFrom('a', 'b', 'ce_id', 'ä'), fc.oneof(fc.constantFrom('', '1', '12', '2'), text))
  const record = fc.record({
    key: fc.option(text, { nil: null }),
    value: fc.option(fc.string({ maxLength: 300 }), { nil: null }),
    headers: fc.uniqueArray(header, { selector: ([name]) => name }).map((entries) => Object.fromEntries(entries)),
  })
  const compressions = fc.constantFrom('none' as const, 'gzip' as const, 'zstd' as const)
  const sized = fc.array(record, { minLength: 1, maxLength: 12 })

  test('is read as it was, however much is taken at once', () => {
    fc.assert(
      fc.property(
        fc.array(sized, { maxLength: 4 }),
        fc.integer({ min: 1, max: 7 }),
        compressions,
        (batches, atOnce, compression) => {
          let first = 0
          const bytes = batches.map((records) => {
            const batch = encodeRecordBatch(records, 1_234, compression)
            batch.writeBigInt64BE(BigInt(first), 0)
            first += records.length
            return batch
          })
          const found = read(bytes, 0, atOnce)
          expect(found.next).toBe(first)
          for (const record of found.records)
            for (const name of ['a', 'b', 'ce_id', '__proto'])
              expect(headerOf(record, name)).toEqual(record.headers[name])
          expect(
            found.records.map(({ key, value, headers }) => ({
              key: key?.toString() ?? null,
              value: value?.toString() ?? null,
              headers,
            })),
          ).toEqual(
            batches
              .flat()
              .map((each) => ({ ...each, key: each.key?.toWellFormed() ?? null }))
              .map(wellFormed),
          )
        },
      ),
    )
  })

  test('from whatever position: every record from it on, once, and never one before it', () => {
    const plans = fc.array(fc.record({ length: fc.integer({ min: 1, max: 6 }), keep: fc.nat(63) }), { maxLength: 8 })
    fc.assert(
      fc.property(plans, fc.nat(50), fc.integer({ min: 1, max: 5 }), (given, position, atOnce) => {
        let first = 0
        const all: number[] = []
        const batches = given.map(({ length, keep }) => {
          const kept = Array.from({ length }, (_, delta) => delta).filter((delta) => (keep >> delta) & 1)
          all.push(...kept.map((delta) => first + delta))
          const batch = batchOf({ first, length, kept })
          first += length
          return batch
        })
        const { records, next } = read(batches, position, atOnce)
        expect(records.map(({ offset }) => offset)).toEqual(all.filter((offset) => offset >= position))
        expect(next).toBe(Math.max(position, first))
      }),
    )
  })

  test.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('and compressed by %s', (compression) => {
    const messages = Array.from({ length: 50 }, (_, index) => ({
      topic: 't',
      key: null as never,
      value: Buffer.from(`value ${index}`),
      timestamp: 5_000n + BigInt(index * 100_000),
    }))
    const { records } = read([createRecordsBatch(messages, { compression }).buffer], 0, 7)
    expect(records.map(({ value, appendedAt }) => [String(value), appendedAt])).toEqual(
      messages.map(({ value, timestamp }) => [String(value), Number(timestamp)]),
    )
  })
})

describe('what cannot be read is told, not passed over', () => {
  test('a format from before Kafka 0.11', () => {
    const batch = batchOf({ first: 0, length: 1, kept: [0] })
    batch.writeInt8(1, 16)
    expect(() => read([batch])).toThrow('t/0 has a batch of records of the format 1')
  })

  test('a compression that does not exist', () => {
    expect(() => read([batchOf({ first: 0, length: 1, kept: [0], attributes: 7 })])).toThrow('unknown way: 7')
  })

  test('a batch that says it has more records than it has', () => {
    const batch = batchOf({ first: 0, length: 1, kept: [0] })
    batch.writeInt32BE(2, 57)
    expect(() => read([sealed(batch)])).toThrow('ends within a record')
  })

  test('a batch with any bit of its records, or of the fields about them, turned', () => {
    const batch = batchOf({ first: 0, length: 1, kept: [0] })
    const turned = fc.tuple(fc.integer({ min: 17, max: batch.length - 1 }), fc.integer({ min: 0, max: 7 }))
    fc.assert(
      fc.property(turned, ([at, bit]) => {
        const damaged = Buffer.from(batch)
        damaged[at] = (batch[at] ?? 0) ^ (1 << bit)
        expect(() => read([damaged])).toThrow('t/0 has a batch of records that does not match its checksum')
      }),
    )
  })

  test('but the batches before it are read', () => {
    const batches = [0, 1, 2].map((first) => batchOf({ first, length: 1, kept: [0] }))
    batches[2]?.writeInt8(7, 65)
    const { records, next } = read(batches)
    expect(records.map(({ offset }) => offset)).toEqual([0, 1])
    expect(next).toBe(2)
    expect(() => read(batches, 2)).toThrow('does not match its checksum')
    // The broker sends the batch that has the position, even if all that is new comes after it.
    expect(() => read(batches.slice(1), 2)).toThrow('does not match its checksum')
  })

  test('a batch without room for its head', () => {
    const batch = batchOf({ first: 0, length: 1, kept: [0] })
    batch.writeInt32BE(-12, 8)
    expect(() => read([batch])).toThrow('shorter than its own head')
  })
})

/** The UTF-8 form of texts with lone surrogates. */
function wellFormed<Given extends { readonly value: string | null; readonly headers: Record<string, string> }>(
  record: Given,
) {
  const headers = Object.entries(record.headers).map(([name, value]) => [name, value.toWellFormed()])
  return { ...record, value: record.value?.toWellFormed() ?? null, headers: Object.fromEntries(headers) }
}
