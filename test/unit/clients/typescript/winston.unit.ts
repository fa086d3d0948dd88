import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createLogger, format } from 'winston'
import type { Dropped } from '../../../../clients/typescript/src/index.ts'
import { entryOf, SluiceTransport } from '../../../../clients/typescript/src/winston.ts'

/** The entries that a logger with these options sends of what is logged. */
async function sent(
  write: (logger: ReturnType<typeof createLogger>) => void,
  options: object = {},
  onDropped?: (dropped: Dropped) => void,
) {
  const bodies: string[] = []
  const transport = new SluiceTransport({
    url: 'http://127.0.0.1:9',
    apiKey: 'key',
    onDropped,
    fetch: async (_url, init) => {
      bodies.push(String(init?.body))
      return Response.json({ success: true, data: {} })
    },
  })
  const logger = createLogger({ level: 'silly', transports: [transport], ...options })
  write(logger)
  logger.end()
  await new Promise((resolve) => transport.on('finish', resolve))
  return bodies.flatMap((body) => JSON.parse(body).logEntries)
}

describe("winston's logs", () => {
  test('message, level, service and metadata', async () => {
    const options = { defaultMeta: { service: 'shop' }, format: format.combine(format.colorize(), format.timestamp()) }
    expect(await sent((logger) => logger.warn('slow', { order: 7n, correlationKey: 'order-1' }), options)).toEqual([
      {
        categoryName: 'shop',
        message: 'slow',
        level: 'Warning',
        correlationKey: 'order-1',
        timestamp: expect.stringMatching(/Z$/),
        scopeData: { service: 'shop', order: 7 },
      },
    ])
  })

  test.each(['error', 'warn', 'info', 'http', 'verbose', 'debug', 'silly'])('level %s', async (level) => {
    const levels: Record<string, string> = {
      error: 'Error',
      warn: 'Warning',
      info: 'Information',
      http: 'Debug',
      verbose: 'Debug',
      debug: 'Debug',
      silly: 'Trace',
    }
    expect(await sent((logger) => logger.log(level, 'x'))).toMatchObject([
      { level: levels[level], categoryName: 'winston' },
    ])
  })

  test('errors become exceptions, with causes', async () => {
    const error = new Error('inner')
    const entries = await sent(
      (logger) => {
        logger.error('failed', error)
        logger.error({ message: new TypeError('alone', { cause: error }) })
        logger.error('with', { err: new RangeError('field') })
        logger.error('with a code', { error: Object.assign(new Error('refused'), { code: 'E7' }) })
        logger.error(new TypeError('itself', { cause: error }))
        logger.error(new AggregateError([error], 'all'))
      },
      { format: format.label({ label: 'jobs' }) },
    )
    expect(entries).toMatchObject([
      { categoryName: 'jobs', message: expect.stringContaining('failed'), exception: error.stack },
      { message: 'alone', exception: expect.stringMatching(/^TypeError: alone[\s\S]*\nCaused by: Error: inner/) },
      { message: 'with', exception: expect.stringMatching(/^RangeError: field/) },
      {
        message: 'with a code',
        exception: expect.stringMatching(/^Error: refused/),
        scopeData: { error: { code: 'E7' } },
      },
      { message: 'itself', exception: expect.stringMatching(/^TypeError: itself[\s\S]*\nCaused by: Error: inner/) },
      { message: 'all', exception: expect.stringMatching(/^AggregateError: all[\s\S]*\nSuppressed: Error: inner/) },
    ])
  })

  test('the error that is the exception is not in the scope data as well', async () => {
    const [entry] = await sent((logger) => logger.error('with', { err: new RangeError('field') }))
    expect(entry).not.toHaveProperty('scopeData')
  })

  test('what is no text, refers to itself or has no message', () => {
    const round: Record<string, unknown> = { a: 1 }
    round['round'] = round
    expect(entryOf({ level: 'info', message: round }).message).toBe('{"a":1,"round":"[Circular]"}')
    expect(entryOf({ level: 'unheard', a: 1 })).toMatchObject({
      level: 'Information',
      message: '{"level":"unheard","a":1}',
      scopeData: { a: 1, level: 'unheard' },
    })
    const odd = { label: 7, stack: ['a'], correlationKey: { b: 1 } }
    expect(entryOf({ level: 'info', message: 'x', ...odd }).scopeData).toEqual(odd)
    expect(entryOf({ level: 'info', message: { order: 7 }, err: new Error('no') })).toMatchObject({
      message: 'no',
      scopeData: { message: { order: 7 } },
    })
    expect(entryOf({ level: 'info', message: 'x', correlationKey: 4711 })).toMatchObject({
      correlationKey: '4711',
      scopeData: undefined,
    })
  })

  test('a log whose conversion throws is counted, and the logs after it are sent', async () => {
    const hostile = {
      toJSON(): string {
        throw new Error('of the application')
      },
    }
    const dropped: Dropped[] = []
    const entries = await sent(
      (logger) => {
        logger.log({ level: 'info', message: hostile as unknown as string })
        logger.info('next')
      },
      { format: format.label({ label: 'jobs' }) },
      (report) => dropped.push(report),
    )
    expect(entries).toMatchObject([{ message: 'next' }])
    expect(dropped).toMatchObject([{ count: 1, reason: 'unserialisable' }])
  })

  test('a transport that a logger lets go of sends what it has', async () => {
    const transport = new SluiceTransport({
      url: 'http://127.0.0.1:9',
      apiKey: 'key',
      fetch: async () => Response.json({ success: true, data: {} }),
    })
    const logger = createLogger({ transports: [transport] })
    logger.info('one')
    logger.remove(transport)
    await transport.client.close()
    expect(transport.client.stats()).toMatchObject({ stored: 1, pending: 0 })
    logger.add(new (await import('winston')).transports.Stream({ stream: new PassThrough() }))
  })
})
