import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { describe, expect, test } from 'vitest'
import { type DeferredRecord, PROTOBUF_FORMAT } from '../../../../gateway/otlp/protobuf.ts'
import { type Checked, ProblemError } from '../../../../shared/contract/errors.ts'
import { exactInteger, parseExactly } from '../../../../shared/contract/exact-json.ts'
import * as fc from '../../../support/fast-check.ts'
import { protobufOf } from '../../../support/otlp-protobuf.ts'

interface Parsed {
  readonly result: Checked<unknown>
  /** How often the work could have rested. */
  readonly rests: number
  /** The bytes that were taken for values. */
  readonly held: number
}

function parse(content: Uint8Array, room?: number): Parsed {
  const { result, ...parsed } = parseRaw(content, room)
  return { result: withRecords(result), ...parsed }
}

function parseRaw(content: Uint8Array, room = Number.POSITIVE_INFINITY): Parsed {
  let held = 0
  let rests = 0
  const hold = (bytes: number): boolean => {
    held += bytes
    return held <= room
  }
  const memory = { hold, release: () => undefined }
  const body = { owner: '', content: Buffer.from(content), contentBytes: content.length, memory }
  const steps = PROTOBUF_FORMAT.parse(body)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) rests += 1
  return { result: step.value, rests, held }
}

/** The request with its records read, as JSON. */
function withRecords({ value, problem }: Checked<unknown>): Checked<unknown> {
  if (problem !== undefined) return { problem }
  try {
    for (const record of recordsOf(value)) record.read()
    return { value: parseExactly(JSON.stringify(value)) }
  } catch (error) {
    if (error instanceof ProblemError) return { problem: error.problem }
    throw error
  }
}

const codeOf = (content: Uint8Array): string | undefined => parse(content).result.problem?.code
const messageOf = (content: Uint8Array): string | undefined => parse(content).result.problem?.message

/** A message inside of fields with these numbers, the outermost first. */
function within(inner: Uint8Array, ...numbers: readonly number[]): Uint8Array {
  const parts = [inner]
  let length = inner.length
  for (const number of numbers.toReversed()) {
    const head = new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(length).finish()
    parts.push(head)
    length += head.length
  }
  return Buffer.concat(parts.reverse())
}
/** A request with one log record that has these bytes. */
const recordOf = (record: Uint8Array): Uint8Array => within(record, 1, 2, 2)
/** The records of a request, not read yet. */
const recordsOf = (request: unknown): readonly DeferredRecord[] =>
  (request as { resourceLogs: { scopeLogs: { logRecords: DeferredRecord[] }[] }[] }).resourceLogs
    .flatMap(({ scopeLogs }) => scopeLogs)
    .flatMap(({ logRecords }) => logRecords)
const parsedRecord = (record: Uint8Array): unknown =>
  (parse(recordOf(record)).result.value as { resourceLogs: { scopeLogs: { logRecords: unknown[] }[] }[] })
    .resourceLogs[0]?.scopeLogs[0]?.logRecords[0]
const writer = (): BinaryWriter => new BinaryWriter()
/** An attribute whose value is its name. */
const keyValue = (name: string): Uint8Array =>
  Buffer.concat([within(Buffer.from(name), 1), within(within(Buffer.from(name), 1), 2)])

const RECORD = {
  timeUnixNano: '1544712660300000123',
  severityNumber: 13,
  severityText: 'WARN',
  body: { stringValue: 'Grüße 😀' },
  attributes: [
    { key: 'big', value: { intValue: '9223372036854775807' } },
    { key: 'list', value: { arrayValue: { values: [{ doubleValue: 0.5 }, { boolValue: true }, {}] } } },
    { key: 'map', value: { kvlistValue: { values: [{ key: 'a', value: { bytesValue: 'aGk=' } }] } } },
  ],
  traceId: '5b8efff798038103d269b633813fc60c',
  spanId: 'eee19b7ec3c1b174',
  observedTimeUnixNano: '1',
  eventName: 'placed',
}
const REQUEST = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      scopeLogs: [{ scope: { name: 'a' }, logRecords: [RECORD, {}] }],
    },
  ],
}

describe('what is read', () => {
  test('every field, with plain values', () => {
    const record = {
      ...RECORD,
      body: 'Grüße 😀',
      attributes: { big: exactInteger('9223372036854775807'), list: [0.5, true, null], map: { a: 'aGk=' } },
    }
    const scopeLogs = [{ scope: { name: 'a', attributes: {} }, logRecords: [record, { attributes: {} }] }]
    const resource = { attributes: { 'service.name': 'shop' } }
    expect(parse(protobufOf(REQUEST)).result).toEqual({ value: { resourceLogs: [{ resource, scopeLogs }] } })
    expect(parse(Buffer.alloc(0)).result).toEqual({ value: { resourceLogs: [] } })
  })

  test('names of attributes, whatever other names have the same place in memory', () => {
    const any = fc.oneof(fc.constantFrom('a', 'b', 'é', '\0', '__proto__'), fc.string({ unit: 'binary' }), fc.string())
    fc.assert(
      fc.property(fc.array(any, { maxLength: 20 }), (names) => {
        const attributes = names.map((key) => ({ key, value: { stringValue: key } }))
        const record = parsedRecord(Buffer.concat(attributes.map((one) => within(keyValue(one.key), 6))))
        expect(Object.entries((record as { attributes: object }).attributes).sort()).toEqual(
          [...new Set(names.map((name) => name.toWellFormed()))].map((name) => [name, name]).sort(),
        )
      }),
    )
  })

  test('fields that are not known are skipped, whatever their type', () => {
    const unknown = writer()
      .tag(99, WireType.Varint)
      .uint64('18446744073709551615')
      .tag(100, WireType.Bit64)
      .fixed64(1)
      .tag(101, WireType.Bit32)
      .fixed32(1)
      .tag(536_870_911, WireType.LengthDelimited)
      .string('x')
      .tag(3, WireType.LengthDelimited)
      .string('WARN')
      .finish()
    expect(parsedRecord(unknown)).toEqual({ severityText: 'WARN', attributes: {} })
  })

  test('of a value that comes twice the last one counts; a message that comes twice is one', () => {
    const value = (bytes: Uint8Array) => parsedRecord(within(bytes, 5))
    const both = writer().tag(1, WireType.LengthDelimited).string('a').tag(3, WireType.Varint).int64(5).finish()
    expect(value(both)).toMatchObject({ body: 5 })
    const [empty, five] = [within(writer().finish(), 5), within(both, 5)]
    expect(parsedRecord(Buffer.concat([empty, five]))).toMatchObject({ body: 5 })
    expect(parsedRecord(Buffer.concat([five, empty]))).toMatchObject({ body: 5 })
    const scopes = [within(Buffer.from([0x0a, 1, 0x61]), 1), within(Buffer.alloc(0), 1)]
    expect(parse(within(Buffer.concat(scopes), 1, 2)).result.value).toMatchObject({
      resourceLogs: [{ scopeLogs: [{ scope: { name: 'a' } }] }],
    })
  })

  test('an attribute without a name has an empty one', () => {
    expect(parsedRecord(within(Buffer.alloc(0), 6))).toEqual({ attributes: { '': null } })
  })
})

describe('what is refused', () => {
  test.each<[string, Uint8Array, RegExp]>([
    ['a text', Buffer.from('hello'), /./],
    ['a known field of another type', Buffer.from([0x08, 1]), /resourceLogs has the wire type 0/],
    ['a time that is a text', recordOf(writer().tag(1, WireType.LengthDelimited).string('1').finish()), /timeUnixNano/],
    ['a length beyond the end', Buffer.from([0x0a, 5, 1]), /a length goes beyond the end/],
    ['a length of four gigabytes', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), /a length goes beyond the end/],
    ['a field beyond its message', Buffer.from([0x0a, 2, 0x12, 2, 0x0a, 0]), /beyond the end of its message/],
    ['a field with the number 0', Buffer.from([0x02, 0]), /has no number/],
    ['a key that is too long', Buffer.from([0x8a, 0x80, 0x80, 0x80, 0x80, 0x00, 0]), /has no number/],
    ['a varint without an end', Buffer.alloc(20, 0xff), /./],
    ['a group', Buffer.from([0x7b, 0x7c]), /a group/],
    ['the end of a group', Buffer.from([0x7c]), /a group/],
    ['the wire type 6', Buffer.from([0x7e]), /wire type 6/],
    ['a text that is no UTF-8', recordOf(Buffer.from([0x1a, 2, 0xc3, 0x28])), /not valid UTF-8/],
    ['a long one', recordOf(within(Buffer.concat([Buffer.alloc(99, 'x'), Buffer.from([0xff])]), 3)), /not valid UTF-8/],
    ['a half of a surrogate pair', recordOf(Buffer.from([0x1a, 3, 0xed, 0xa0, 0x80])), /not valid UTF-8/],
  ])('%s', (_name, bytes, reason) => {
    expect(codeOf(bytes)).toBe('malformed_body')
    expect(messageOf(bytes)).toMatch(reason)
  })

  test('a request that ends anywhere but where it or a part of it ends', () => {
    const whole = protobufOf(REQUEST)
    for (let end = 1; end < whole.length; end += 1)
      expect([end, codeOf(whole.subarray(0, end))]).toEqual([end, 'malformed_body'])
  })

  test('any bytes are refused or read, and nothing is thrown', () => {
    const whole = protobufOf(REQUEST)
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255))
    const damaged = fc.array(change, { minLength: 1, maxLength: 5 }).map((changes) => {
      const bytes = Buffer.from(whole)
      for (const [at, byte] of changes) bytes[at] = byte
      return bytes
    })
    const any = fc.uint8Array({ maxLength: 60 })
    const inRecord = any.map((bytes) => Buffer.from(recordOf(bytes)))
    fc.assert(
      fc.property(fc.oneof(damaged, any, inRecord), (bytes) => {
        const { value, problem } = parse(bytes).result
        expect(value === undefined).toBe(problem?.code === 'malformed_body')
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('what is too much', () => {
  test('values that are nested 10,000 deep', () => {
    const value = writer().tag(2, WireType.Varint).bool(true).finish()
    const levels = Array.from({ length: 10_000 }, () => [5, 1]).flat()
    expect(parse(recordOf(within(value, 5, ...levels))).result.problem).toMatchObject({
      code: 'invalid_request',
      details: [{ message: 'must not be nested more than 512 levels deep' }],
    })
  })

  test('millions of empty records, of which no more are made than are allowed', () => {
    const records = within(Buffer.alloc(5_000_000, Buffer.from([0x12, 0])), 1, 2)
    const { result, held } = parse(records)
    expect(result.problem).toMatchObject({ code: 'batch_too_large', details: { limit: 10_000 } })
    expect(held).toBeLessThan(1_000_000)
  })

  test('millions of empty resources, of which no more are made than are allowed', () => {
    const { result, held } = parse(Buffer.alloc(5_000_000, Buffer.from([0x0a, 0])))
    expect(result.problem).toMatchObject({ code: 'batch_too_large', details: { limit: 10_000 } })
    expect(held).toBeLessThan(5_000_000)
  })

  test('millions of unknown fields', () => {
    const { result, rests } = parse(Buffer.alloc(5_000_000, Buffer.from([0x78, 0])))
    expect(result.problem).toMatchObject({ code: 'payload_too_large', details: { values: 1_000_000 } })
    expect(rests).toBeGreaterThan(60)
  })

  test('a million values in many records, however often one is read', () => {
    const record = Buffer.alloc(20_000, Buffer.from([0x32, 0]))
    const requestOf = (records: number) => within(Buffer.concat(Array(records).fill(within(record, 2))), 1, 2)
    expect(parse(requestOf(101)).result.problem).toMatchObject({ code: 'payload_too_large' })
    expect(parse(requestOf(99)).result.problem).toBeUndefined()
    const [one] = recordsOf(parseRaw(requestOf(1)).result.value)
    for (let reading = 0; reading < 200; reading += 1) expect(one?.read().attributes).toEqual({ '': null })
  })

  test('attributes of a resource: 1,000 are read, and long ones are not', () => {
    const attributes = Array.from({ length: 1_001 }, (_, index) => within(keyValue(`a${index}`), 1))
    const resourceOf = (...parts: readonly Uint8Array[]) => {
      const { value } = parse(within(Buffer.concat(parts.map((part) => within(part, 1))), 1)).result
      return (value as { resourceLogs: { resource: { attributes: object } }[] }).resourceLogs[0]?.resource.attributes
    }
    expect(Object.keys(resourceOf(Buffer.concat(attributes)) ?? {})).toHaveLength(1_000)
    expect(Object.keys(resourceOf(...attributes) ?? {})).toHaveLength(1_000)
    const long = within(Buffer.alloc(5_000_000, Buffer.from([0x0a, 0])), 1)
    expect(resourceOf(Buffer.concat([long, within(keyValue('a'), 1)]))).toEqual({ a: 'a' })
  })

  test('attributes of a record or of a map', () => {
    const message = 'must not hold an object of more than 100000 members'
    const many = Buffer.alloc(200_002, Buffer.from([0x0a, 0]))
    const map = within(many, 5, 6)
    const record = Buffer.alloc(200_002, Buffer.from([0x32, 0]))
    for (const bytes of [map, record]) {
      expect(parse(recordOf(bytes)).result.problem).toMatchObject({ code: 'invalid_request', details: [{ message }] })
    }
    expect(parsedRecord(record.subarray(2))).toEqual({ attributes: { '': null } })
    expect(parsedRecord(within(many.subarray(2), 5, 6))).toMatchObject({ body: { '': null } })
  })

  test('a group of five megabytes', () => {
    expect(codeOf(Buffer.concat([Buffer.from([0x7b]), Buffer.alloc(5_000_000, Buffer.from([0x08, 0]))]))).toBe(
      'malformed_body',
    )
  })

  test('values for which there is no room', () => {
    const bytes = Buffer.alloc(400_000, Buffer.from([0x78, 0]))
    expect(parse(bytes, 1_000_000).result.problem).toMatchObject({ code: 'server_error', retryable: true })
    expect(parse(bytes).result.problem).toBeUndefined()
  })

  test('a short request that may have to wait takes memory for its values, its resources and its scopes', () => {
    const groups = Buffer.alloc(10_000, Buffer.from([0x0a, 0]))
    const requestOf = (records: number) =>
      Buffer.concat([groups, within(Buffer.alloc(2 * records, Buffer.from([0x12, 0])), 1, 2)])
    expect(parse(requestOf(512)).held).toBe(0)
    expect(parse(requestOf(513)).held).toBeGreaterThan(5_000 * 256)
    expect(parse(requestOf(513), 1_000_000).result.problem).toMatchObject({ code: 'server_error', retryable: true })
  })

  test('work on a long body can rest', () => {
    const records = Array(5_000).fill(RECORD)
    const bytes = protobufOf({ resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] })
    const { result, rests } = parse(bytes)
    expect(result.problem).toBeUndefined()
    expect(rests).toBeGreaterThan(bytes.length / 40_000)
  })
})
