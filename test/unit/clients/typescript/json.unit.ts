import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { exceptionText, fromJson, toJson } from '../../../../clients/typescript/src/json.ts'
import { parseException } from '../../../../shared/exception.ts'
import * as fc from '../../../support/fast-check.ts'

describe('the JSON of entries', () => {
  test('is that of JSON.stringify for what JSON knows', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void expect(toJson(value)).toBe(JSON.stringify(value))))
  })

  test('has the digits of a bigint, and an error with its stack', () => {
    const error = Object.assign(new TypeError('no'), { status: 500 })
    const read = JSON.parse(toJson({ error }))
    expect(read.error).toEqual({ status: 500, type: 'TypeError', message: 'no', stack: error.stack })
    expect(toJson({ big: 12345678901234567890n })).toBe('{"big":12345678901234567890}')
  })

  test('has the members of maps and sets, and the errors of one that has several', () => {
    const held = {
      map: new Map<unknown, unknown>([
        ['a', 1],
        [2, new Set(['b'])],
      ]),
      set: new Set(),
    }
    expect(JSON.parse(toJson(held))).toEqual({ map: { a: 1, 2: ['b'] }, set: [] })
    const round = new Map<string, unknown>()
    round.set('round', round)
    expect(toJson({ round })).toBe('{"round":{"round":"[Circular]"}}')
    const several = new AggregateError([new TypeError('one')], 'all')
    expect(JSON.parse(toJson(several))).toMatchObject({
      message: 'all',
      errors: [{ type: 'TypeError', message: 'one' }],
    })
  })

  test('an object inside of itself is cut, and one that stands twice is not', () => {
    const inner: Record<string, unknown> = { n: 1 }
    const outer = { a: inner, b: inner, list: [inner] }
    inner['self'] = inner
    inner['up'] = outer
    const cut = { n: 1, self: '[Circular]', up: '[Circular]' }
    expect(JSON.parse(toJson(outer))).toEqual({ a: cut, b: cut, list: [cut] })
    const error = new Error('round') as Error & { self?: unknown }
    error.self = error
    expect(() => toJson({ error })).not.toThrow()
  })

  test('what was read keeps large integers', () => {
    const text = '{"id":12345678901234567890,"neg":-9223372036854775808,"small":1.5,"text":"12345678901234567890"}'
    expect(toJson(fromJson(text))).toBe(text)
  })
})

describe('an exception as text', () => {
  test('has the stacks of its causes', () => {
    const cause = new RangeError('inner')
    const error = new Error('outer', { cause })
    expect(exceptionText(error)).toBe(`${error.stack}\nCaused by: ${cause.stack}`)
    expect(exceptionText(new Error('outer', { cause: 'a text' }))).toMatch(/\nCaused by: a text$/)
  })

  test('has what a cause that is no error has, and the stack of an error of another realm', () => {
    expect(exceptionText(new Error('outer', { cause: { code: 'E42' } }))).toMatch(/\nCaused by: {"code":"E42"}$/)
    const foreign = runInNewContext("new TypeError('no', { cause: new Error('inner') })")
    expect(exceptionText(foreign)).toMatch(/^TypeError: no\n {4}at [\s\S]*\nCaused by: Error: inner\n/)
    expect(JSON.parse(toJson({ foreign }))).toMatchObject({ foreign: { type: 'TypeError', message: 'no' } })
  })

  test('has the errors that one stands for, each with its causes, as the server tells them apart', () => {
    const [first, second] = [new RangeError('one', { cause: new Error('why one') }), new TypeError('two')]
    const all = new AggregateError([first, second, 'three'], 'all failed', { cause: new Error('why all') })
    const parsed = parseException(exceptionText(new Error('outer', { cause: all })))
    expect(parsed.map(({ depth, type, message }) => [depth, type, message])).toEqual([
      [0, 'Error', 'outer'],
      [1, 'AggregateError', 'all failed'],
      [2, 'Error', 'why all'],
      [1, 'RangeError', 'one'],
      [2, 'Error', 'why one'],
      [1, 'TypeError', 'two'],
      [1, '', 'three'],
    ])
    const foreign = runInNewContext("new AggregateError([new Error('inner')], 'no')")
    expect(exceptionText(foreign)).toMatch(/^AggregateError: no\n {4}at [\s\S]*\nSuppressed: Error: inner\n/)
    expect(JSON.parse(toJson({ foreign }))).toMatchObject({ foreign: { errors: [{ message: 'inner' }] } })
  })

  test('has the first ten of many errors', () => {
    const many = new AggregateError(Array.from({ length: 1_000 }, () => new Error('one')))
    expect(exceptionText(many).split('Suppressed')).toHaveLength(11)
    many.errors.fill(many)
    expect(exceptionText(many).split('Suppressed')).toHaveLength(11)
    Object.assign(many, { errors: undefined })
    expect(exceptionText(many)).toBe(many.stack)
  })

  test('ends where causes go round', () => {
    const error = new Error('one')
    error.cause = error
    expect(exceptionText(error).split('Caused by')).toHaveLength(11)
  })
})
