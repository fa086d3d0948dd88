import { describe, expect, test } from 'vitest'
import { LOGGER_NAMES } from '../../../../gateway/ingest/foreign-fields.ts'
import { entryOf as entryOfRecord } from '../../../../gateway/otlp/entry.ts'
import { plainAttributes, plainValue, recordOf } from '../../../../gateway/otlp/log-records.ts'
import type { Origin } from '../../../../gateway/otlp/origins.ts'
import { parseExactly } from '../../../../shared/contract/exact-json.ts'
import { LEVELS } from '../../../../shared/contract/levels.ts'
import * as fc from '../../../support/fast-check.ts'

type RecordOrigin = Omit<Origin, 'project'>

const ORIGIN: RecordOrigin = {
  loggerNames: [],
  category: { value: 'my.library', place: ['scope', 'name'] },
  environment: { value: 'Production', place: ['resource', 'attributes', 'deployment.environment.name'] },
  scopeData: {},
}
const BODY = { stringValue: 'hello' }
/** The fields of a log record in the JSON encoding. */
function entryOf(fields: Record<string, unknown>, origin: RecordOrigin) {
  const record = recordOf(fields)
  return record.problem === undefined ? entryOfRecord(record.value, origin) : record
}
const fieldsOf = (record: Record<string, unknown>) => entryOf({ body: BODY, ...record }, ORIGIN).value ?? {}
const attributes = (values: Record<string, unknown>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: value } }))

describe('an AnyValue', () => {
  test.each<[unknown, unknown]>([
    [{ stringValue: 'text' }, 'text'],
    [{ stringValue: '' }, ''],
    [{ boolValue: false }, false],
    [{ intValue: '42' }, 42],
    [{ intValue: 42 }, 42],
    [{ intValue: '-0042' }, '-0042'],
    [{ intValue: 'no number' }, 'no number'],
    [{ doubleValue: 0.5 }, 0.5],
    [{ doubleValue: 'NaN' }, 'NaN'],
    [{ bytesValue: 'aGk=' }, 'aGk='],
    [{ arrayValue: { values: [{ stringValue: 'a' }, { intValue: '1' }, {}] } }, ['a', 1, null]],
    [{ arrayValue: {} }, []],
    [{ kvlistValue: { values: [{ key: 'a', value: { boolValue: true } }, { key: 'b' }] } }, { a: true, b: null }],
    [{ kvlistValue: { values: null } }, {}],
    [{}, null],
    [undefined, null],
    ['bare', null],
  ])('%j is %j', (value, plain) => {
    expect(plainValue(value)).toEqual(plain)
  })

  test('keeps every digit of a 64-bit integer, which is sent as text', () => {
    for (const digits of ['9223372036854775807', '-9223372036854775808', '9007199254740993'])
      expect(JSON.stringify(plainValue({ intValue: digits }))).toBe(digits)
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (integer) => {
        expect(JSON.stringify(plainValue({ intValue: String(integer) }))).toBe(String(integer))
      }),
    )
  })

  test('an attribute named __proto__ is one like any other', () => {
    const plain = plainAttributes([{ key: '__proto__', value: { kvlistValue: { values: [] } } }])
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype)
    expect(Object.keys(plain)).toEqual(['__proto__'])
  })
})

describe('the level', () => {
  test('comes of the severity number, four to a level', () => {
    for (let number = 1; number <= 24; number += 1)
      expect([number, fieldsOf({ severityNumber: number, severityText: 'x' })['level']]).toEqual([
        number,
        LEVELS[Math.floor((number - 1) / 4)],
      ])
  })

  test.each([
    [{ severityNumber: 0, severityText: 'WARN' }, 'Warning'],
    [{ severityNumber: 'SEVERITY_NUMBER_WARN' }, 'Warning'],
    [{ severityNumber: 'SEVERITY_NUMBER_FATAL4', severityText: 'info' }, 'Critical'],
    [{ severityNumber: 'SEVERITY_NUMBER_UNSPECIFIED', severityText: 'debug' }, 'Debug'],
    [{ severityText: 'fatal' }, 'Critical'],
    [{ severityText: 'Verbose' }, 'Trace'],
    [{ severityText: 'critical' }, 'Critical'],
    [{ severityText: 'loud' }, 'Information'],
    [{ severityNumber: 25, severityText: 'Error' }, 'Error'],
    [{ severityNumber: -1 }, 'Information'],
    [{ severityNumber: '17', severityText: null }, 'Information'],
    [{}, 'Information'],
  ])('of %j is %s', (severity, level) => {
    expect(fieldsOf(severity)['level']).toBe(level)
  })

  test('does not replace a severity text that names another or none; an attribute of that name wins', () => {
    const kept = (record: Record<string, unknown>) => fieldsOf(record)['scopeData']
    for (const told of [{ severityText: 'warn' }, { severityNumber: 17, severityText: 'ERROR' }, { severityText: '' }])
      expect(kept(told)).toBeNull()
    expect(kept({ severityText: 'AUDIT' })).toEqual({ severityText: 'AUDIT' })
    expect(kept({ severityNumber: 10, severityText: 'WARN' })).toEqual({ severityText: 'WARN' })
    expect(kept({ severityText: 'AUDIT', attributes: attributes({ severityText: 'mine' }) })).toEqual({
      severityText: 'mine',
    })
  })
})

describe('the message', () => {
  test.each<[Record<string, unknown>, string | undefined]>([
    [{ body: { stringValue: 'text' } }, 'text'],
    [{ body: { intValue: '9007199254740993' } }, '9007199254740993'],
    [{ body: { kvlistValue: { values: [{ key: 'a', value: { intValue: '1' } }] } } }, '{"a":1}'],
    [{ body: { arrayValue: { values: [{ stringValue: 'a' }] } } }, '["a"]'],
    [{ body: { boolValue: false } }, 'false'],
    [{ body: null, eventName: 'order.placed' }, 'order.placed'],
    [{ body: {}, attributes: attributes({ 'exception.message': 'boom' }) }, 'boom'],
    [{ body: { stringValue: '' }, attributes: attributes({ a: 'b', correlationKey: 'c' }) }, '{"a":"b"}'],
    [{ attributes: attributes({ a: 'x'.repeat(2_000) }) }, `{"a":"${'x'.repeat(1_018)}`],
    [{ severityText: 'AUDIT', attributes: attributes({ a: 'b' }) }, '{"a":"b"}'],
    [{ body: { stringValue: '' } }, undefined],
    [{ severityText: 'AUDIT' }, undefined],
  ])('of %j is %j', (record, message) => {
    expect(entryOf(record, ORIGIN).value?.['message']).toBe(message)
    if (message === undefined) expect(entryOf(record, ORIGIN).problem?.code).toBe('missing_message')
  })
})

describe('a body that is structured', () => {
  const map = (...values: readonly unknown[]) => ({ kvlistValue: { values } })
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const read = (body: unknown, more: Record<string, unknown> = {}) => {
    const { message, scopeData } = fieldsOf({ body, ...more })
    return { message, scopeData: JSON.parse(JSON.stringify(scopeData)) }
  }

  test.each(['message', 'msg', 'event'])('has its %s as the message, and is kept whole', (name) => {
    const order = { key: 'order', value: map(text('id', '4711')) }
    expect(read(map(order, text(name, 'Order placed')))).toEqual({
      message: 'Order placed',
      scopeData: { body: { order: { id: '4711' }, [name]: 'Order placed' } },
    })
  })

  test('has its JSON as the message where none of these is a text', () => {
    const body = map({ key: 'message', value: { intValue: '1' } }, text('msg', ''))
    expect(read(body)).toEqual({ message: '{"message":1,"msg":""}', scopeData: { body: { message: 1, msg: '' } } })
    const list = { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '9223372036854775807' }] } }
    expect(fieldsOf({ body: list })['message']).toBe('["a",9223372036854775807]')
    expect(JSON.stringify(fieldsOf({ body: list })['scopeData'])).toBe('{"body":["a",9223372036854775807]}')
  })

  test('is the message alone where it would be long twice, too deep, or in the place of an attribute', () => {
    const long = read(map(text('a', 'x'.repeat(20_000))))
    expect([long.scopeData, String(long.message).length]).toEqual([null, 20_008])
    expect(read(map(text('a', 'x'.repeat(20_000)), text('msg', 'long'))).scopeData.body.a).toHaveLength(20_000)
    const attribute = { attributes: attributes({ body: 'mine' }) }
    expect(read(map(text('msg', 'hello')), attribute)).toEqual({
      message: '{"msg":"hello"}',
      scopeData: { body: 'mine' },
    })
    let deep: unknown = { stringValue: 'x' }
    for (let level = 0; level < 64; level += 1) deep = map({ key: 'a', value: deep })
    expect(read(deep).scopeData).toBeNull()
    expect(read(deep).message).toContain('"x"')
  })
})

describe('an error as an attribute', () => {
  const object = (values: Record<string, unknown>) => ({
    kvlistValue: { values: Object.entries(values).map(([key, value]) => ({ key, value })) },
  })
  const text = (stringValue: string) => ({ stringValue })
  const STACK = 'TypeError: no answer\n    at a (a.js:1:2)\ncaused by: Error: inner\n    at b (b.js:1:2)'
  /** As pino-opentelemetry-transport sends it; the message has that of the cause in it. */
  const PINO = {
    type: text('TypeError'),
    message: text('no answer: inner'),
    stack: text(STACK),
    code: text('ETIMEDOUT'),
  }
  const read = (name: string, error: unknown, more: Record<string, unknown> = {}) => {
    const { message, exception, scopeData } = fieldsOf({ attributes: [{ key: name, value: error }], ...more })
    return { message, exception, scopeData }
  }

  test.each(['err', 'error'])('%s is the exception; what the stack does not tell stays', (name) => {
    expect(read(name, object(PINO))).toEqual({
      message: 'hello',
      exception: STACK,
      scopeData: { [name]: { code: 'ETIMEDOUT' } },
    })
  })

  test('of type and message where it has no stack, or one without them', () => {
    const { type, message } = PINO
    expect(read('err', object({ type, message }))).toMatchObject({
      exception: 'TypeError: no answer: inner',
      scopeData: null,
    })
    expect(read('err', object({ type, message, stack: text('a@b.js:1') }))).toMatchObject({
      exception: 'TypeError: no answer: inner\na@b.js:1',
      scopeData: null,
    })
  })

  test('is the message of a record without a body', () => {
    expect(read('err', object(PINO), { body: null }).message).toBe('TypeError: no answer')
  })

  test.each<[string, unknown]>([
    ['a text', text('boom')],
    ['an object without a stack, a type and a message', object({ message: text('boom'), code: { intValue: '7' } })],
    ['an object whose stack is none', object({ stack: { intValue: '7' } })],
    ['a list', { arrayValue: { values: [text('boom')] } }],
  ])('%s stays where it is', (_name, error) => {
    const { exception, scopeData } = read('err', error)
    expect(exception).toBeUndefined()
    expect(scopeData).toHaveProperty('err')
  })

  test('stays beside an exception by the conventions', () => {
    const { exception, scopeData } = fieldsOf({
      attributes: [{ key: 'err', value: object(PINO) }, ...attributes({ 'exception.message': 'boom' })],
    })
    expect(exception).toBe('boom')
    expect(scopeData).toHaveProperty('err.stack', STACK)
  })
})

describe('the category', () => {
  const service = { value: 'checkout', place: ['resource', 'attributes', 'service.name'] }
  const generic: RecordOrigin = { ...ORIGIN, category: service, loggerNames: [...LOGGER_NAMES, 'name'] }
  const read = (values: Record<string, string>, origin: RecordOrigin) => {
    const { categoryName, scopeData } = entryOf({ body: BODY, attributes: attributes(values) }, origin).value ?? {}
    return [categoryName, scopeData]
  }

  test.each(['SourceContext', 'LoggerName', 'logger', 'logger.name', 'log.logger', 'name'])(
    'is %s where the scope names no logger',
    (name) => {
      expect(read({ [name]: 'shop.checkout', a: 'b' }, generic)).toEqual(['shop.checkout', { a: 'b' }])
      expect(read({ [name]: 'shop.checkout' }, ORIGIN)).toEqual(['my.library', { [name]: 'shop.checkout' }])
    },
  )

  test('is the service where nothing names a logger', () => {
    expect(read({ logger: '' }, generic)).toEqual(['checkout', { logger: '' }])
    expect(read({ name: 'Bob' }, { ...generic, loggerNames: LOGGER_NAMES })).toEqual(['checkout', { name: 'Bob' }])
  })
})

describe('what the records of a scope share', () => {
  test("is scope data; the record's own values win", () => {
    const shared = { ...ORIGIN, scopeData: { 'host.name': 'a', 'service.version': '1.2', traceId: 'x' } }
    const record = { body: BODY, attributes: attributes({ 'host.name': 'b' }), traceId: 'ab' }
    expect(entryOf(record, shared).value?.['scopeData']).toEqual({
      'host.name': 'b',
      'service.version': '1.2',
      traceId: 'ab',
    })
    expect(entryOf({ body: BODY }, shared).value?.['scopeData']).toEqual(shared.scopeData)
  })
})

describe('the other fields', () => {
  test('a record without anything else has nothing else', () => {
    expect(JSON.parse(JSON.stringify(fieldsOf({})))).toEqual({
      categoryName: 'my.library',
      environment: 'Production',
      message: 'hello',
      level: 'Information',
      scopeData: null,
    })
  })

  test('an exception is type, message and stack trace, without saying the first two twice', () => {
    const of = (values: Record<string, string>) => fieldsOf({ attributes: attributes(values) })['exception']
    const type = { 'exception.type': 'TypeError' }
    const message = { 'exception.message': 'no' }
    expect(of({ ...type, ...message })).toBe('TypeError: no')
    expect(of(message)).toBe('no')
    expect(of({ ...type, ...message, 'exception.stacktrace': 'TypeError: no\n  at a' })).toBe('TypeError: no\n  at a')
    expect(of({ ...type, ...message, 'exception.stacktrace': '  at a' })).toBe('TypeError: no\n  at a')
    expect(of({ 'exception.stacktrace': '  at a' })).toBe('  at a')
    const python = `${'  File "a.py"\n'.repeat(2_000)}TypeError: no\n`
    expect(of({ ...type, ...message, 'exception.stacktrace': python })).toBe(python)
  })

  test('the correlationKey is an attribute, and without one the trace', () => {
    const traceId = '5B8EFFF798038103D269B633813FC60C'
    const trace = { traceId, spanId: 'EEE19B7EC3C1B174' }
    expect(fieldsOf(trace)).toMatchObject({
      correlationKey: traceId.toLowerCase(),
      scopeData: { traceId: traceId.toLowerCase(), spanId: 'eee19b7ec3c1b174' },
    })
    for (const name of ['correlationKey', 'sluice.correlation_key'])
      expect(fieldsOf({ ...trace, attributes: attributes({ [name]: 'order-1' }) })).toMatchObject({
        correlationKey: 'order-1',
        scopeData: { traceId: traceId.toLowerCase(), spanId: 'eee19b7ec3c1b174' },
      })
    const number = [{ key: 'correlationKey', value: { intValue: '9007199254740993' } }]
    expect(fieldsOf({ attributes: number })['correlationKey']).toBe('9007199254740993')
    for (const none of ['', '00000000000000000000000000000000', null])
      expect(fieldsOf({ traceId: none, spanId: none })).toMatchObject({ correlationKey: undefined, scopeData: null })
  })

  test('an id that is not hexadecimal is no correlationKey, but is kept as it was sent', () => {
    const base64 = { traceId: 'W47/95gDgQPSabYzgT/GDA==', spanId: '7uGbfsPBsXM=' }
    expect(fieldsOf(base64)).toMatchObject({ correlationKey: undefined, scopeData: base64 })
    expect(fieldsOf({ traceId: 5 })).toMatchObject({ correlationKey: undefined, scopeData: { traceId: 5 } })
  })

  test('the timestamp is timeUnixNano, else observedTimeUnixNano, as text or as a number', () => {
    const observed = { observedTimeUnixNano: '1544712660000000001' }
    expect(fieldsOf({ timeUnixNano: '1544712660300000123', ...observed })['timestamp']).toBe(
      '2018-12-13T14:51:00.300000123Z',
    )
    for (const none of ['0', 0, '', null, undefined])
      expect(fieldsOf({ timeUnixNano: none, ...observed })['timestamp']).toBe('2018-12-13T14:51:00.000000001Z')
    expect(fieldsOf({ timeUnixNano: 1544712660300000000 })['timestamp']).toBe('2018-12-13T14:51:00.300Z')
    expect(fieldsOf({ timeUnixNano: parseExactly('1.5447126603E+18') })['timestamp']).toBe('2018-12-13T14:51:00.300Z')
    expect(fieldsOf({})['timestamp']).toBeUndefined()
    for (const wrong of ['-1', '1.5', '0x10', '1e300', 'yesterday', '999999999999999999999'])
      expect(fieldsOf({ timeUnixNano: wrong })['timestamp']).toBe(wrong)
  })

  test('the event is eventName or event.name, and a number that fits', () => {
    expect(fieldsOf({ eventName: 'placed', attributes: attributes({ 'event.name': 'other' }) })).toMatchObject({
      eventName: 'placed',
      scopeData: { 'event.name': 'other' },
    })
    for (const name of ['event.name', 'logrecord.event.name'])
      expect(fieldsOf({ attributes: attributes({ [name]: 'placed' }) })).toMatchObject({
        eventName: 'placed',
        scopeData: null,
      })
    const id = (value: unknown) => fieldsOf({ attributes: [{ key: 'logrecord.event.id', value }] })
    expect(id({ intValue: '2001' })).toMatchObject({ eventId: 2001, scopeData: null })
    expect(id({ intValue: '99999999999' })).toMatchObject({
      eventId: undefined,
      scopeData: { 'logrecord.event.id': 99_999_999_999 },
    })
  })

  test('what cannot be read is refused by its place', () => {
    for (const body of ['text', { string_value: 'text' }])
      expect(entryOf({ body, eventName: 'placed' }, ORIGIN).problem?.details).toEqual([
        { path: '/body', message: expect.stringContaining('stringValue') },
      ])
    for (const wrong of [{ a: 1 }, 'x', [5], [{ value: BODY }]])
      expect(entryOf({ body: BODY, attributes: wrong }, ORIGIN).problem?.details).toEqual([
        { path: '/attributes', message: 'must be a list of { key, value }' },
      ])
  })
})
