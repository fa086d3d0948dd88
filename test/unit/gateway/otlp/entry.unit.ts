import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { entryOf } from '../../../../gateway/otlp/entry.ts'
import { plainAttributes, plainValue } from '../../../../gateway/otlp/log-records.ts'
import { parseExactly } from '../../../../shared/contract/exact-json.ts'
import { LEVELS } from '../../../../shared/contract/levels.ts'

const ORIGIN = { categoryName: 'my.library', environment: 'Production' }
const BODY = { stringValue: 'hello' }
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
    [{ body: { stringValue: '' } }, undefined],
  ])('of %j is %j', (record, message) => {
    expect(entryOf(record, ORIGIN).value?.['message']).toBe(message)
    if (message === undefined) expect(entryOf(record, ORIGIN).problem?.code).toBe('missing_message')
  })
})

describe('the other fields', () => {
  test('a record without anything else has nothing else', () => {
    expect(JSON.parse(JSON.stringify(fieldsOf({})))).toEqual({
      ...ORIGIN,
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
    for (const none of ['', '00000000000000000000000000000000', 'xyz', 5, null])
      expect(fieldsOf({ traceId: none })).toMatchObject({ correlationKey: undefined, scopeData: null })
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
    expect(fieldsOf({ attributes: attributes({ 'event.name': 'placed' }) })).toMatchObject({
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
    expect(entryOf({ body: 'text' }, ORIGIN).problem?.details).toEqual([
      { path: '/body', message: expect.stringContaining('stringValue') },
    ])
    for (const wrong of [{ a: 1 }, 'x', [5], [{ value: BODY }]])
      expect(entryOf({ body: BODY, attributes: wrong }, ORIGIN).problem?.details).toEqual([
        { path: '/attributes', message: 'must be a list of { key, value }' },
      ])
  })
})
