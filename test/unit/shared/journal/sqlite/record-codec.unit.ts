import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { COMMON_HEADERS, ownHeaders } from '../../../../../shared/contract/headers.ts'
import type { NewRecord } from '../../../../../shared/journal/journal.ts'
import {
  compressContent,
  decodeBatch,
  decodeHeaders,
  encodeHeaders,
  inflateContent,
  packRecords,
} from '../../../../../shared/journal/sqlite/record-codec.ts'
import * as fc from '../../../../support/fast-check.ts'

const headerValue = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 20 }))
const headersArbitrary = fc.dictionary(fc.string(), headerValue)

test('headers come back as they were; bytes that are UTF-8 come back as text', () => {
  fc.assert(
    fc.property(headersArbitrary, (headers) => {
      const expected = Object.entries(headers).map(([name, value]) => [
        name,
        typeof value !== 'string' && isUtf8(value) ? Buffer.from(value).toString() : value,
      ])
      const decoded = Object.entries(decodeHeaders(encodeHeaders(headers)))
      const plain = (entries: readonly (readonly unknown[])[]) =>
        entries.map(([name, value]) => [name, typeof value === 'string' ? value : [...(value as Uint8Array)]])
      expect(plain(decoded)).toEqual(plain(expected))
    }),
  )
})

test('a header that comes as a Buffer is stored as its bytes', () => {
  expect(encodeHeaders({ raw: Buffer.of(0xff, 0xfe) })).toBe('{"raw":["//4="]}')
})

/** None of these is a name that the others can have. */
const COMMON = { 'common to many': 'text', 'common as bytes': Buffer.of(0xff) }

const content = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 50 })), { nil: null })
const recordArbitrary: fc.Arbitrary<NewRecord> = fc.record({
  key: content,
  value: content,
  headers: fc.dictionary(fc.string(), fc.string()),
  commonHeaders: fc.oneof(fc.constant(undefined), fc.constantFrom({}, COMMON)),
})

/** All records of the batches packed from these, from an offset on. */
function unpacked(records: readonly NewRecord[], from = 0) {
  let firstOffset = 0
  return packRecords(records).flatMap((batch) => {
    const stored = { ...batch, firstOffset, appendedAt: 7 }
    firstOffset += batch.count
    return [...decodeBatch('topic', 3, stored, from)]
  })
}

const bytesOf = (text: string | Uint8Array | null): Buffer | null =>
  text === null ? null : typeof text === 'string' ? Buffer.from(text) : Buffer.from(text)

test('what was packed is read as it was, from any offset on; an empty value is kept apart from none', () => {
  fc.assert(
    fc.property(fc.array(recordArbitrary), fc.nat(), (records, place) => {
      const from = records.length === 0 ? 0 : place % records.length
      const read = unpacked(records, from)
      expect(read.map(({ offset, key, value }) => [offset, key, value])).toEqual(
        records.map(({ key, value }, offset) => [offset, bytesOf(key), bytesOf(value)]).slice(from),
      )
      expect(read.map(({ headers }) => Object.entries(headers).sort())).toEqual(
        records
          .slice(from)
          .map(({ headers, commonHeaders }) => Object.entries({ ...commonHeaders, ...headers }).sort()),
      )
      for (const { topic, partition, appendedAt } of read)
        expect([topic, partition, appendedAt]).toEqual(['topic', 3, 7])
    }),
  )
})

const text = fc.oneof(fc.string(), fc.constantFrom('', 'ä', 'a "b" \\\\', 'x'.repeat(1_990)))
const entryArbitrary = fc.record({
  kind: fc.constantFrom('event', 'application'),
  ids: fc.tuple(fc.uuid(), fc.uuid()),
  texts: fc.tuple(text, text, text),
  correlationKey: fc.option(text, { nil: null }),
  step: fc.option(text, { nil: null }),
})
const TIME = '2026-11-01T00:00:00.123Z'

/** An entry's record as the gateway makes it, and the headers that it has. */
function entryRecord({ kind, ids: [id, project], texts: [environment, team, event], correlationKey, step }: Entry) {
  const own = kind === 'event' ? { event: step === null ? event : null, step } : { project, categoryName: event }
  const subject = kind === 'event' ? (step ?? event) : project
  const common = { kind, id, receivedAt: TIME, timestamp: TIME, level: 'Error', environment, correlationKey, team }
  const headers = ownHeaders({
    id,
    subject,
    time: TIME,
    key: correlationKey,
    originalKey: null,
    traceparent: undefined,
  })
  return { key: correlationKey, value: JSON.stringify({ ...common, ...own, message: '' }), headers }
}
type Entry = typeof entryArbitrary extends fc.Arbitrary<infer Value> ? Value : never

test('the headers of entries come back, also those that their values do not tell', () => {
  const changes = fc.constantFrom<Record<string, string>>({}, { traceparent: '00' }, { ce_subject: 'other' })
  fc.assert(
    fc.property(entryArbitrary, changes, fc.constantFrom(...Object.values(COMMON_HEADERS)), (entry, change, common) => {
      const made = entryRecord(entry)
      const record = { ...made, headers: { ...made.headers, ...change }, commonHeaders: common }
      expect(unpacked([record]).map(({ headers }) => headers)).toEqual([{ ...common, ...record.headers }])
    }),
  )
})

test('headers that a value tells take no bytes', () => {
  for (const kind of ['event', 'application'] as const) {
    const ids = ['01990000-0000-7000-8000-00000000000a', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'] as [string, string]
    const texts = ['Prüfung "1"', 'payments', 'order'] as [string, string, string]
    const record = entryRecord({ kind, ids, texts, correlationKey: 'order-1', step: null })
    const [batch] = packRecords([{ ...record, commonHeaders: COMMON_HEADERS[kind] }])
    expect(batch?.content.length).toBe(12 + Buffer.byteLength(record.key + record.value))
  }
})

test('a batch ends with its 500th record, or with the one that reaches a MiB', () => {
  const record = (bytes: number): NewRecord => ({ key: null, value: 'x'.repeat(bytes), headers: {} })
  const counts = (records: readonly NewRecord[]) => packRecords(records).map(({ count }) => count)
  expect(counts(Array.from({ length: 1_001 }, () => record(1)))).toEqual([500, 500, 1])
  expect(counts([record(600_000), record(600_000), record(1), record(3_000_000), record(1)])).toEqual([2, 2, 1])
  expect(counts([])).toEqual([])
})

/** Records whose batch shrinks. */
const alike = (count: number): readonly NewRecord[] =>
  Array.from({ length: count }, (_, index) => ({ key: null, value: `the order ${index} was placed`, headers: {} }))

test('content is the same after it was compressed, and never longer', () => {
  fc.assert(
    fc.property(fc.array(recordArbitrary, { minLength: 1 }), fc.integer({ min: 1, max: 40 }), (records, times) => {
      for (const { content } of packRecords(Array.from({ length: times }, () => records).flat())) {
        const stored = compressContent(content)
        expect(stored.length).toBeLessThanOrEqual(content.length)
        expect(Buffer.compare(inflateContent(stored), content)).toBe(0)
      }
    }),
  )
  const [large] = packRecords(alike(100))
  expect(compressContent(large?.content as Uint8Array).length).toBeLessThan((large?.content.length ?? 0) / 4)
  const random = randomBytes(2_000)
  expect(compressContent(random)).toBe(random)
})

test('content that was compressed before is read: a frame alone (version 3), and one with the dictionary of usual records', () => {
  const [batch] = packRecords(alike(3))
  const content = batch?.content as Uint8Array
  expect(Buffer.compare(inflateContent(zstdCompressSync(content)), content)).toBe(0)
  const record =
    '{"kind":"application","id":"01a21d1a","level":"Information","environment":"Production","correlationKey":null}'
  const [single] = packRecords([{ key: null, value: record, headers: {} }])
  const stored = Buffer.from('KbUv/bAklSsotS/9IHv9AACoAAAAAG4AAAACAAAAYTIxZDFhfXt9AgAFv9CyRBRJ', 'base64')
  expect(stored.length).toBeLessThan(record.length / 2)
  expect(Buffer.from(inflateContent(stored)).equals(single?.content as Uint8Array)).toBe(true)
})

test('damage of compressed content costs its own records, which say so, and nothing else', () => {
  const [batch] = packRecords(alike(100))
  const stored = compressContent(batch?.content as Uint8Array)
  fc.assert(
    fc.property(fc.integer({ min: 4, max: stored.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = Uint8Array.from(stored)
      damaged[at] = (damaged[at] ?? 0) ^ change
      const read = { firstOffset: 0, appendedAt: 7, count: 100, content: inflateContent(damaged) }
      const values = [...decodeBatch('topic', 3, read, 0)].map(({ value }) => String(value))
      expect(values).toHaveLength(100)
      // Some bits of the frame's head have no meaning.
      expect(values.every((value) => /is damaged in the file/.test(value) || /was placed$/.test(value))).toBe(true)
    }),
  )
})

test('a text in the place of content, as SQLite reads it if a bit of its type turned, is damaged content', () => {
  const read = { firstOffset: 0, appendedAt: 7, count: 2, content: inflateContent('a text') }
  const values = [...decodeBatch('topic', 3, read, 0)].map(({ value }) => String(value))
  expect(values).toEqual(Array.from({ length: 2 }, () => expect.stringMatching(/is damaged in the file/)))
})

test('damage of other content is no failure: as many records are read, and those before it are what they were', () => {
  const records = alike(3).map((record) => ({ ...record, headers: { ce_id: 'a', bytes: Buffer.of(0xff) } }))
  const [batch] = packRecords(records)
  const stored = batch?.content as Uint8Array
  const recordBytes = stored.length / records.length
  const read = (content: Uint8Array) => {
    const inflated = { firstOffset: 0, appendedAt: 7, count: records.length, content: inflateContent(content) }
    return [...decodeBatch('topic', 3, inflated, 0)]
  }
  for (const at of stored.keys()) {
    for (const change of [1, 0x80, 0xff]) {
      const damaged = Uint8Array.from(stored)
      damaged[at] = (damaged[at] ?? 0) ^ change
      const found = read(damaged)
      expect(found.map(({ offset }) => offset)).toEqual([0, 1, 2])
      const before = Math.floor(at / recordBytes)
      expect(found.slice(0, before)).toEqual(read(stored).slice(0, before))
    }
  }
  const cut = read(stored.subarray(0, recordBytes + 5)).map(({ value }) => String(value))
  expect(cut).toEqual([
    'the order 0 was placed',
    ...Array.from({ length: 2 }, () => expect.stringMatching(/is damaged in the file/)),
  ])
})
