import { describe, expect, test } from '@jest/globals'
import type { RecordsBatch } from '@platformatic/kafka'
import fc from 'fast-check'
import { decodeBatches } from '../../../../../shared/journal/kafka/decode.ts'

const CONTROL = 1 << 5
const LOG_APPEND_TIME = 1 << 3

/** A batch as the library hands it over; `kept` are the offsets that compaction left. */
function batchOf(first: number, length: number, kept: readonly number[], attributes = 0): RecordsBatch {
  return {
    firstOffset: BigInt(first),
    length: 100,
    partitionLeaderEpoch: 0,
    magic: 2,
    crc: 0,
    attributes,
    lastOffsetDelta: length - 1,
    firstTimestamp: 1_000n,
    maxTimestamp: 9_000n,
    producerId: -1n,
    producerEpoch: 0,
    firstSequence: 0,
    records: kept.map((offsetDelta) => ({
      length: 10,
      attributes: 0,
      timestampDelta: 5n,
      offsetDelta,
      key: null,
      value: Buffer.from(String(first + offsetDelta)),
      headers: [],
    })),
  }
}

describe('decoding what a broker sent', () => {
  test('records before the position are dropped, those after it are kept in order, and the next position follows them', () => {
    const { records, next } = decodeBatches('t', 0, [batchOf(0, 4, [0, 1, 2, 3]), batchOf(4, 2, [0, 1])], 2)
    expect(records.map(({ offset }) => offset)).toEqual([2, 3, 4, 5])
    expect(next).toBe(6)
  })

  test('markers of transactions and offsets that compaction emptied move the position on', () => {
    expect(decodeBatches('t', 0, [batchOf(0, 1, [0], CONTROL), batchOf(1, 5, [])], 0)).toEqual({ records: [], next: 6 })
  })

  test('the time is the record’s own, or the broker’s where the topic says so', () => {
    expect(decodeBatches('t', 0, [batchOf(0, 1, [0])], 0).records[0]?.appendedAt).toBe(1_005)
    expect(decodeBatches('t', 0, [batchOf(0, 1, [0], LOG_APPEND_TIME)], 0).records[0]?.appendedAt).toBe(9_000)
  })

  test('each record has its own headers, whatever those of its neighbours', () => {
    const name = fc.constantFrom('a', 'b', 'ce_id')
    const value = fc.constantFrom('1', '2', 'ä', '')
    const headers = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key })
    fc.assert(
      fc.property(fc.array(headers, { maxLength: 8 }), (of) => {
        const batch = batchOf(0, of.length + 1, [...of.keys()])
        for (const [index, entries] of of.entries()) {
          for (const [key, text] of entries) batch.records[index]?.headers.push([Buffer.from(key), Buffer.from(text)])
        }
        const { records } = decodeBatches('t', 0, [batch], 0)
        expect(records.map((record) => record.headers)).toEqual(of.map((entries) => Object.fromEntries(entries)))
      }),
    )
  })

  test('bytes that are no text stay bytes, each time they come', () => {
    const batch = batchOf(0, 2, [0, 1])
    for (const record of batch.records) record.headers.push([Buffer.from('raw'), Buffer.from([0xff])])
    const { records } = decodeBatches('t', 0, [batch], 0)
    expect(records.map(({ headers }) => headers['raw'])).toEqual([Buffer.from([0xff]), Buffer.from([0xff])])
  })

  test('a header without a value is the empty text, and one named __proto__ is a header', () => {
    const batch = batchOf(0, 1, [0])
    batch.records[0]?.headers.push([Buffer.from('none'), null], [Buffer.from('__proto__'), Buffer.from('x')])
    const headers = decodeBatches('t', 0, [batch], 0).records[0]?.headers ?? {}
    expect(Object.entries(headers)).toEqual([
      ['none', ''],
      ['__proto__', 'x'],
    ])
  })

  test('whatever position is asked for: every record from it on, once, and never one before it', () => {
    const batches = fc.array(fc.record({ length: fc.integer({ min: 1, max: 6 }), keep: fc.nat(63) }), { maxLength: 8 })
    fc.assert(
      fc.property(batches, fc.nat(50), (plans, position) => {
        let first = 0
        const made = plans.map(({ length, keep }) => {
          const kept = Array.from({ length }, (_, delta) => delta).filter((delta) => (keep >> delta) & 1)
          const batch = batchOf(first, length, kept)
          first += length
          return batch
        })
        const all = made.flatMap(({ firstOffset, records }) => records.map((r) => Number(firstOffset) + r.offsetDelta))
        const { records, next } = decodeBatches('t', 0, made, position)
        expect(records.map(({ offset }) => offset)).toEqual(all.filter((offset) => offset >= position))
        expect(next).toBe(Math.max(position, first))
      }),
    )
  })
})
