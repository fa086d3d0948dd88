import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { describe, expect, test } from 'vitest'
import { createRecordCheck } from '../../../../gateway/ingest/application-log.ts'
import type { Fields } from '../../../../gateway/ingest/fields.ts'
import { createProjectFinder } from '../../../../gateway/ingest/foreign-sender.ts'
import type { RequestContext } from '../../../../gateway/ingest/request.ts'
import { entryOf, TAKEN_NAMES } from '../../../../gateway/otlp/entry.ts'
import { JsonWriter } from '../../../../gateway/otlp/json-writer.ts'
import { LogRecord } from '../../../../gateway/otlp/log-records.ts'
import { createOrigins, type Origin } from '../../../../gateway/otlp/origins.ts'
import { type DeferredRecord, PROTOBUF_FORMAT } from '../../../../gateway/otlp/protobuf.ts'
import { type UsualRecords, usualRecordsOf } from '../../../../gateway/otlp/usual-record.ts'
import { Wire } from '../../../../gateway/otlp/wire.ts'
import { compileValidators } from '../../../../gateway/schemas/validate.ts'
import { ProblemError } from '../../../../shared/contract/errors.ts'
import type { Project } from '../../../../shared/registry/registry.ts'
import * as fc from '../../../support/fast-check.ts'
import { foreignRegistry } from '../../../support/foreign-gateway.ts'

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'
const CONTEXT: RequestContext = {
  receivedAt: '2026-01-31T09:30:00.123Z',
  idOf: () => ID,
  repeatKey: null,
  traceparent: undefined,
  isAscii: false,
  isForeign: true,
  mayExceed: () => false,
}
const check = createRecordCheck(
  { replaceInvalidLevel: false, entryBytesMax: 1_000_000 },
  compileValidators().batchEntry,
)
const checkOf = (fields: Fields, project: Project) => check(fields, 0, project, CONTEXT)
const projects = createProjectFinder({ id: 'shop', name: 'shop' }, foreignRegistry, 'Name it.')

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const originOf = (resource: readonly unknown[], scope: Record<string, unknown>): Origin =>
  createOrigins({ projects, named: undefined, keeps: (name) => name !== 'service.name' })(
    { attributes: [text('service.name', 'checkout api'), ...resource] },
    scope,
  )

/** The origins of the tests; with the last one, no record is usual. */
const ORIGINS = [
  originOf([], { name: 'my.library' }),
  originOf([text('host.name', 'wéb "1"'), text('7', 'x'), text('deployment.environment', 'Größe')], {
    name: 'a\n"é"',
    version: '1',
    attributes: [text('a1', 'shared')],
  }),
  originOf([], { name: '@opentelemetry/api-logs' }),
  originOf([text('traceId', 'x')], {}),
]

const bytesOf = (number: number, bytes: Uint8Array): Uint8Array =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish()
const textOf = (number: number, string: string): Uint8Array => bytesOf(number, Buffer.from(string))
const varint = (number: number, value: number): Uint8Array =>
  new BinaryWriter().tag(number, WireType.Varint).int32(value).finish()
const fixed = (number: number, value: bigint): Uint8Array =>
  new BinaryWriter().tag(number, WireType.Bit64).fixed64(value).finish()
const double = (number: number, value: number): Uint8Array =>
  new BinaryWriter().tag(number, WireType.Bit64).double(value).finish()
const int64 = (number: number, value: bigint): Uint8Array =>
  new BinaryWriter().tag(number, WireType.Varint).int64(value).finish()

/** The record of a request that has no other; its bytes are its own, as reading may free them. */
function deferred(record: Uint8Array): DeferredRecord {
  const content = Buffer.from(bytesOf(1, bytesOf(2, bytesOf(2, record))))
  const memory = { hold: () => true, release: () => undefined }
  const { value, done } = PROTOBUF_FORMAT.parse({ owner: '', content, contentBytes: content.length, memory }).next()
  if (done !== true || value.problem !== undefined) throw new Error('the request was not read at once')
  const request = value.value as { resourceLogs: { scopeLogs: { logRecords: DeferredRecord[] }[] }[] }
  return request.resourceLogs[0]?.scopeLogs[0]?.logRecords[0] as DeferredRecord
}

/** The JSON of a record, or why it is refused. */
function orProblem(json: () => string | undefined): unknown {
  try {
    return json()
  } catch (error) {
    if (error instanceof ProblemError) return error.problem
    throw error
  }
}

const usualJson = (usual: UsualRecords | undefined, record: Uint8Array): unknown =>
  orProblem(() => {
    const written = usual?.write(deferred(record), () => ID)
    if (written !== undefined) expect(written.jsonBytes).toBe(Buffer.byteLength(written.json))
    return written?.json
  })

const entryJson = (origin: Origin, record: Uint8Array): unknown =>
  orProblem(() => {
    const read = deferred(record).read()
    const entry = entryOf(read, origin)
    const made = entry.problem === undefined ? checkOf(entry.value, origin.project.value as Project) : entry
    return JSON.stringify(made.problem ?? made.value)
  })

const word = fc.oneof(
  { weight: 30, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(9_000), 'é'.repeat(9_000)) },
  { weight: 5, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map((string) => string.toWellFormed()) },
)
const string = (number: number) =>
  fc.oneof(
    { weight: 12, arbitrary: word.map((each) => textOf(number, each)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }).map((bytes) => bytesOf(number, bytes)) },
  )
const value = fc.oneof(
  { weight: 12, arbitrary: string(1) },
  { weight: 3, arbitrary: fc.boolean().map((boolean) => varint(2, Number(boolean))) },
  { weight: 3, arbitrary: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((integer) => int64(3, integer)) },
  { weight: 3, arbitrary: fc.integer().map((integer) => int64(3, BigInt(integer))) },
  { weight: 3, arbitrary: fc.double().map((number) => double(4, number)) },
  { weight: 1, arbitrary: string(1).map((inner) => bytesOf(5, bytesOf(1, inner))) },
  { weight: 1, arbitrary: string(1).map((inner) => bytesOf(6, bytesOf(1, bytesOf(2, inner)))) },
  { weight: 1, arbitrary: string(7) },
  { weight: 1, arbitrary: fc.constant(new Uint8Array()) },
)
const name = fc.oneof(
  { weight: 60, arbitrary: fc.nat(99).map((number) => `a${number}`) },
  { weight: 4, arbitrary: word },
  { weight: 1, arbitrary: fc.constantFrom(...TAKEN_NAMES, '__proto__', '12', 'host.name') },
)
const several = (arbitrary: fc.Arbitrary<Uint8Array>) =>
  fc.array(arbitrary, { minLength: 1, maxLength: 2 }).map(Buffer.concat)
const attribute = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.tuple(name, value).map(([key, any]) => Buffer.concat([textOf(1, key), bytesOf(2, any)])),
  },
  {
    weight: 1,
    arbitrary: several(
      fc.oneof(
        name.map((key) => textOf(1, key)),
        value.map((any) => bytesOf(2, any)),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(name, several(value)).map(([key, any]) => Buffer.concat([textOf(1, key), bytesOf(2, any)])),
  },
)
const nanos = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(10n ** 18n, 2n ** 61n), fc.constant(0n))
const id = (bytes: number) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.uint8Array({ minLength: bytes, maxLength: bytes }) },
    { weight: 1, arbitrary: fc.constant(new Uint8Array(bytes)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }) },
  )
const body = value.map((any) => bytesOf(5, any))
const textBody = word.map((each) => bytesOf(5, textOf(1, each)))
/** Any field of a log record, also one that is unknown to us. */
const field = fc.oneof(
  nanos.map((each) => fixed(1, each)),
  nanos.map((each) => fixed(11, each)),
  fc.integer({ min: -1, max: 26 }).map((number) => varint(2, number)),
  fc.constantFrom('INFO', 'Error', 'warn', 'loud', 'größer', '').map((severity) => textOf(3, severity)),
  { weight: 6, arbitrary: attribute.map((each) => bytesOf(6, each)) },
  id(16).map((bytes) => bytesOf(9, bytes)),
  id(8).map((bytes) => bytesOf(10, bytes)),
  string(12),
  fc.constant(varint(7, 3)),
  fc.constant(new BinaryWriter().tag(8, WireType.Bit32).fixed32(1).finish()),
)
/** Log records, of which most are usual ones. */
const record = fc.tuple(
  fc.array(field, { maxLength: 12 }),
  fc.oneof({ weight: 9, arbitrary: textBody }, { weight: 1, arbitrary: body }),
  fc.oneof({ weight: 9, arbitrary: fc.constant(new Uint8Array()) }, { weight: 1, arbitrary: body }),
  fc.nat(12),
)
const encoded = record.map(([fields, one, other, place]) =>
  Buffer.concat(fields.toSpliced(place, 0, one).concat(other)),
)

describe('a usual record', () => {
  test('is the same JSON as by way of its entry', () => {
    let [usual, others] = [0, 0]
    fc.assert(
      fc.property(fc.constantFrom(...ORIGINS), fc.array(encoded, { minLength: 1, maxLength: 5 }), (origin, records) => {
        const writer = usualRecordsOf(origin, checkOf)
        for (const each of records) {
          const json = usualJson(writer, each)
          if (json === undefined) others += 1
          else {
            usual += 1
            expect(json).toEqual(entryJson(origin, each))
          }
        }
      }),
      { numRuns: 1_000 },
    )
    expect(usual).toBeGreaterThan(others / 10)
  })

  test('is refused for the same reason if its bytes are damaged', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.constantFrom(...ORIGINS), encoded, damage, (origin, bytes, changes) => {
        const damaged = Buffer.from(bytes)
        for (const [at, byte] of changes) damaged[at % damaged.length] = byte
        const json = usualJson(usualRecordsOf(origin, checkOf), damaged)
        if (json !== undefined) expect(json).toEqual(entryJson(origin, damaged))
      }),
      { numRuns: 1_000 },
    )
  })

  test('knows each attribute of which an entry takes the value', () => {
    const asked = new Set<string>()
    const ask = (_: unknown, name: string | symbol): undefined => {
      if (typeof name === 'string') asked.add(name)
    }
    const [, , bridge] = ORIGINS
    for (const body of [undefined, 'hello', { message: 'hello' }]) {
      const attributes = new Proxy<Record<string, unknown>>({}, { get: ask, getOwnPropertyDescriptor: ask })
      const fields = { body, attributes, severityText: 'loud', traceId: '', spanId: '' }
      entryOf(Object.assign(new LogRecord(), fields), bridge as Origin)
    }
    expect([...asked].filter((each) => !TAKEN_NAMES.has(each))).toEqual([])
    expect([...TAKEN_NAMES].filter((each) => !asked.has(each))).toEqual(['traceId', 'spanId'])
  })

  test.each([...TAKEN_NAMES, 'a1', '7'])('has no attribute named %s where that is more than scope data', (taken) => {
    const attributed = Buffer.concat([
      bytesOf(5, textOf(1, 'hello')),
      bytesOf(6, Buffer.concat([textOf(1, taken), bytesOf(2, textOf(1, 'x'))])),
    ])
    const [, origin] = ORIGINS
    expect(usualJson(usualRecordsOf(origin as Origin, checkOf), attributed)).toBeUndefined()
  })
})

describe('an origin', () => {
  const [origin] = ORIGINS
  const withAttribute = (name: string): Uint8Array =>
    Buffer.concat([
      bytesOf(5, textOf(1, 'hello')),
      bytesOf(6, Buffer.concat([textOf(1, name), bytesOf(2, textOf(1, 'x'))])),
    ])

  test('of ever other attributes soon has no usual records any more', () => {
    const writer = usualRecordsOf(origin as Origin, checkOf)
    const records = Array.from({ length: 100 }, (_, index) => withAttribute(`a${index}`))
    const usual = records.filter((each) => usualJson(writer, each) !== undefined)
    expect(usual).toEqual(records.slice(0, 8))
    expect(usualJson(writer, withAttribute('a0'))).toBeUndefined()
  })

  test('of mostly usual records keeps them, whatever is between them', () => {
    const writer = usualRecordsOf(origin as Origin, checkOf)
    for (let index = 0; index < 100; index += 1) {
      expect(usualJson(writer, withAttribute('exception.type'))).toBeUndefined()
      expect(usualJson(writer, withAttribute('a'))).toBeDefined()
    }
  })
})

describe('a text in UTF-8', () => {
  const jsonOf = (utf8: Uint8Array): string => {
    const wire = new Wire(Buffer.from(bytesOf(1, utf8)), () => undefined)
    wire.uint32()
    const json = new JsonWriter()
    const text = wire.jsonText()
    wire.writeText(json, text)
    expect(wire.pos).toBe(wire.len)
    return String(json)
  }

  test('is JSON as JSON has it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: 'binary', maxLength: 20 })), (any) => {
        expect(jsonOf(Buffer.from(any))).toBe(JSON.stringify(any))
      }),
      { numRuns: 1_000 },
    )
  })

  test('is recognised by each byte at any place', () => {
    for (let byte = 0; byte < 0x80; byte += 1) {
      for (let at = 0; at < 9; at += 1) {
        const bytes = Buffer.alloc(9, 'a')
        bytes[at] = byte
        expect(jsonOf(bytes)).toBe(JSON.stringify(String(bytes)))
      }
    }
    expect(() => jsonOf(Buffer.from([0x61, 0xff]))).toThrow(ProblemError)
  })
})
