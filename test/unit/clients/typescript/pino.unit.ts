import { type Logger, pino } from 'pino'
import { describe, expect, test } from 'vitest'
import createPinoStream, { createPinoMapping } from '../../../../clients/typescript/src/pino.ts'
import { compileValidators } from '../../../../gateway/schemas/validate.ts'
import * as fc from '../../../support/fast-check.ts'

const OPTIONS = { url: 'http://127.0.0.1:9', apiKey: 'key' }
const map = (line: object, options = {}) => createPinoMapping(options)(JSON.stringify(line))

/** The entry of what is logged with pino itself. */
function logged(write: (logger: Logger) => void, options: object = {}) {
  const lines: string[] = []
  write(pino(options, { write: (text: string) => void lines.push(text) }))
  return createPinoMapping({})(lines.join(''))
}

describe("pino's lines", () => {
  test('a line of a named logger', () => {
    const entry = logged((logger) => logger.child({ correlationKey: 'order-1' }).warn({ order: 7 }, 'slow'), {
      name: 'shop',
    })
    expect(entry).toEqual({
      categoryName: 'shop',
      message: 'slow',
      level: 'Warning',
      exception: undefined,
      correlationKey: 'order-1',
      timestamp: expect.stringMatching(/Z$/),
      scopeData: { order: 7, pid: process.pid, hostname: expect.any(String) },
    })
  })

  test('an error becomes the exception, with its causes as the server tells them apart', () => {
    const error = new TypeError('no', { cause: new Error('inner') })
    const entry = logged((logger) => logger.error(error))
    expect(entry).toMatchObject({
      message: 'no',
      level: 'Error',
      scopeData: expect.not.objectContaining({ err: expect.anything() }),
    })
    expect(entry.exception).toMatch(/^TypeError: no\n {4}at [\s\S]*\nCaused by: Error: inner\n {4}at /)
    expect(map({ level: 50, msg: 'x', err: { message: 'no stack', code: 7 } }).exception).toBe(
      '{"message":"no stack","code":7}',
    )
  })

  test('what the exception does not tell of an error stays', () => {
    class PaymentError extends Error {}
    const error = Object.assign(new PaymentError('declined'), { code: 'E42', detail: { order: 7 } })
    expect(logged((logger) => logger.error(error, 'failed'))).toMatchObject({
      message: 'failed',
      exception: error.stack,
      scopeData: { err: { type: 'PaymentError', code: 'E42', detail: { order: 7 } } },
    })
    const several = logged((logger) => logger.error(new AggregateError([new Error('one')], 'all')))
    expect(several).toMatchObject({
      exception: expect.stringMatching(/^AggregateError: all\n[\s\S]*\nSuppressed: Error: one\n {4}at /),
      scopeData: { err: { aggregateErrors: [{ message: 'one' }] } },
    })
    for (const message of ['retry: no', 'no: Error', 42])
      expect(map({ msg: 'x', err: { message, stack: 'Error: no' } }).scopeData).toEqual({ err: { message } })
  })

  test('a value that its field cannot hold stays', () => {
    const odd = { level: 'audit', time: 'soon', name: { first: 'a' }, correlationKey: ['b'], msg: { c: 1 } }
    expect(map(odd)).toMatchObject({ categoryName: 'pino', message: JSON.stringify(odd), scopeData: odd })
    expect(map({ msg: 'x', correlationKey: 4711 })).toMatchObject({ correlationKey: '4711', scopeData: undefined })
    expect(map({ msg: 'x', correlationKey: null, name: '', err: null }).scopeData).toBeUndefined()
  })

  test.each([
    [10, 'Trace'],
    [20, 'Debug'],
    [30, 'Information'],
    [35, 'Information'],
    [40, 'Warning'],
    [50, 'Error'],
    [60, 'Critical'],
    [100, 'Critical'],
    ['warn', 'Warning'],
    ['FATAL', 'Critical'],
    ['custom', 'Information'],
    [undefined, 'Information'],
  ])('level %p is %s', (level, expected) => {
    expect(map({ level, msg: 'x' }).level).toBe(expected)
  })

  test.each([
    [1_795_281_613_127, '2026-11-21T17:20:13.127Z'],
    [1_795_281_613, '2026-11-21T17:20:13.000Z'],
    ['2026-11-21T17:20:13.127000001Z', '2026-11-21T17:20:13.127000001Z'],
    ['Sat, 21 Nov 2026 17:20:13 GMT', '2026-11-21T17:20:13.000Z'],
    ['soon', undefined],
    ['2026-11-21 17:20:13,127 +0100', '2026-11-21 17:20:13,127 +0100'],
    ['2026-11-21T17:20:13.1270000019Z', '2026-11-21T17:20:13.127Z'],
    ['2026-11-21T17:20:60Z', undefined],
    ['2026-11-21T24:00:00Z', '2026-11-22T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', undefined],
    ['+055840-11-08T22:13:20Z', undefined],
    // In microseconds.
    [1_795_281_613_127_000, undefined],
    [-1, undefined],
    [1e300, undefined],
    [undefined, undefined],
  ])('time %p is %s', (time, expected) => {
    expect(map({ time, msg: 'x' }).timestamp).toBe(expected)
  })

  test('other keys, no message, and the digits of large numbers', () => {
    expect(
      map({ message: 'x', error: 'y' }, { messageKey: 'message', errorKey: 'error', category: 'c' }),
    ).toMatchObject({
      categoryName: 'c',
      message: 'x',
      exception: 'y',
    })
    expect(map({ level: 30, a: 1 })).toMatchObject({ message: '{"a":1}', scopeData: { a: 1 } })
    expect(map({}).message).toBe('{}')
    const { scopeData } = createPinoMapping({})('{"msg":"x","id":12345678901234567890}')
    expect(JSON.stringify(scopeData)).toBe('{"id":12345678901234567890}')
  })

  test('every line has a message, a category and a level, whatever it is', () => {
    const { batchEntry } = compileValidators()
    const toEntry = createPinoMapping({})
    const hostile = fc.record(
      {
        level: fc.jsonValue(),
        time: fc.oneof(fc.integer(), fc.constant(1e300), fc.string()),
        msg: fc.jsonValue(),
        err: fc.jsonValue(),
        name: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    // Large integers keep their digits as objects that are no text and no number.
    for (const name of ['level', 'time', 'msg', 'err', 'name'])
      expect(batchEntry(JSON.parse(JSON.stringify(toEntry(`{"${name}":[[9007199254740993]]}`))))).toBeUndefined()
    fc.assert(
      fc.property(
        fc.oneof(
          hostile.map((line) => JSON.stringify(line)),
          fc.json(),
          fc.string({ minLength: 1 }),
        ),
        (line) => {
          expect(batchEntry(JSON.parse(JSON.stringify(toEntry(line))))).toBeUndefined()
        },
      ),
    )
  })
})

test('lines may come in any pieces', async () => {
  const bodies: string[] = []
  const stream = createPinoStream({
    ...OPTIONS,
    fetch: async (_url, init) => {
      bodies.push(String(init?.body))
      return Response.json({ success: true, data: {} })
    },
  })
  const bytes = Buffer.from(
    ['ä', '\u{1F600}', 'three'].map((msg) => `${JSON.stringify({ level: 30, msg })}\n\n`).join(''),
  )
  for (let at = 0; at < bytes.length; at += 5) stream.write(bytes.subarray(at, at + 5))
  stream.write('{"level":30,"msg":"no end"}')
  await new Promise<void>((resolve) => stream.end(resolve))
  const messages = bodies.flatMap((body) =>
    JSON.parse(body).logEntries.map(({ message }: { message: string }) => message),
  )
  expect(messages).toEqual(['ä', '\u{1F600}', 'three', 'no end'])
})

test('a line that cannot be converted is counted, and the lines after it are taken', async () => {
  const stream = createPinoStream({
    ...OPTIONS,
    onDropped: () => undefined,
    fetch: async () => Response.json({ success: true, data: {} }),
  })
  stream.write(`{"level":30,"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n{"level":30,"msg":"next"}\n`)
  await new Promise<void>((resolve) => stream.end(resolve))
  expect(stream.client.stats()).toMatchObject({ stored: 1, dropped: 1 })
})

test('what is logged after the end is counted, and does not end the application', async () => {
  const stream = createPinoStream({ ...OPTIONS, onDropped: () => undefined })
  const logger = pino(stream)
  const errors: Error[] = []
  stream.on('error', (error) => errors.push(error))
  stream.end()
  logger.info('while it ends')
  await new Promise<void>((resolve) => stream.once('close', resolve))
  logger.info('later')
  expect([stream.client.stats(), errors]).toMatchObject([{ dropped: 2 }, []])
})
