import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as fc from '../../../support/fast-check.ts'
import { runsOf } from '../../../support/fast-check.ts'
import {
  CHECKOUT,
  type ForeignGateway,
  KEY,
  LONE,
  LONE_KEY,
  STOCK,
  startForeignGateway,
} from '../../../support/foreign-gateway.ts'

const PATH = '/ingest/clef'
const OLDER_PATH = '/api/events/raw?clef'
const CLEF = 'application/vnd.serilog.clef'
const EVENT = { '@t': '2016-06-07T03:44:57.8532799Z', '@mt': 'Hello, {User}', User: 'ada' }

let gateway: ForeignGateway

beforeAll(async () => {
  gateway = await startForeignGateway()
})
afterAll(() => gateway.close())

const lines = (...events: readonly unknown[]): string =>
  events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event))).join('\r\n')
const post = (body: string | Uint8Array, headers: Record<string, string> = {}, path = PATH) =>
  gateway.post(path, body, { 'x-api-key': KEY, 'x-project-id': CHECKOUT, 'content-type': CLEF, ...headers })
const stored = (from?: number) => gateway.stored(from)

/** The record that one event becomes. */
async function recordOf(event: unknown): Promise<Record<string, unknown>> {
  const { status, body } = await post(lines(event))
  expect([status, body.error]).toEqual([201, undefined])
  return stored(-1)[0] ?? {}
}

describe('an event', () => {
  test('becomes an application log of the Project', async () => {
    expect(await recordOf({ ...EVENT, Count: 3 })).toMatchObject({
      project: CHECKOUT,
      team: 'shop',
      timestamp: '2016-06-07T03:44:57.8532799Z',
      categoryName: 'Checkout API',
      message: 'Hello, ada',
      level: 'Information',
      environment: 'Development',
      correlationKey: null,
      exception: null,
      eventId: 0,
      scopeData: { '@mt': 'Hello, {User}', User: 'ada', Count: 3 },
    })
  })

  test.each([
    [undefined, 'Information'],
    ['Verbose', 'Trace'],
    ['Debug', 'Debug'],
    ['Information', 'Information'],
    ['Warning', 'Warning'],
    ['Error', 'Error'],
    ['Fatal', 'Critical'],
    ['info', 'Information'],
    ['WARN', 'Warning'],
  ])('of level %s is %s', async (written, level) => {
    expect((await recordOf({ ...EVENT, '@l': written }))['level']).toBe(level)
  })

  test('has its fields from what Serilog calls them', async () => {
    const record = await recordOf({
      '@t': '2016-06-07T03:44:57Z',
      '@m': 'Rendered',
      '@x': 'System.Exception: no\n  at A',
      '@i': 2001,
      '@tr': '5B8EFFF798038103D269B633813FC60C',
      '@sp': 'eee19b7ec3c1b174',
      '@ps': 'parent',
      '@@m': 'own property',
      SourceContext: 'Acme.Billing',
      EnvironmentName: 'Production',
      Environment: 'Other',
      CorrelationId: 'order-1',
    })
    expect(record).toMatchObject({
      message: 'Rendered',
      exception: 'System.Exception: no\n  at A',
      eventId: 2001,
      categoryName: 'Acme.Billing',
      environment: 'Production',
      correlationKey: 'order-1',
    })
    expect(record['scopeData']).toEqual({
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      '@ps': 'parent',
      '@m': 'own property',
      Environment: 'Other',
    })
  })

  test.each(['LoggerName', 'logger', 'logger.name', 'log.logger'])(
    'has its category from %s where it has no SourceContext',
    async (name) => {
      const record = await recordOf({ '@m': 'x', [name]: 'shop.checkout' })
      expect([record['categoryName'], record['scopeData']]).toEqual(['shop.checkout', null])
      const both = await recordOf({ '@m': 'x', SourceContext: 'Acme', [name]: 'shop.checkout' })
      expect([both['categoryName'], both['scopeData']]).toEqual(['Acme', { [name]: 'shop.checkout' }])
    },
  )

  test('has its exception from err where it has no @x', async () => {
    const err = { type: 'TypeError', message: 'no', stack: 'TypeError: no\n    at a (a.js:1:2)', code: 7 }
    expect(await recordOf({ '@mt': 'failed: {err}', err })).toMatchObject({
      message: `failed: ${JSON.stringify(err)}`,
      exception: err.stack,
      scopeData: { err: { code: 7 } },
    })
    expect(await recordOf({ err })).toMatchObject({ message: 'TypeError: no', exception: err.stack })
    expect(await recordOf({ '@m': 'x', '@x': 'boom', err })).toMatchObject({ exception: 'boom', scopeData: { err } })
  })

  test('belongs to the flow of its trace where it names no other', async () => {
    const trace = { ...EVENT, '@tr': '5b8efff798038103d269b633813fc60c' }
    expect((await recordOf(trace))['correlationKey']).toBe('5b8efff798038103d269b633813fc60c')
    expect((await recordOf({ ...trace, correlationKey: 7 }))['correlationKey']).toBe('7')
  })

  test('keeps an id that is no number, and every digit of one that is large', async () => {
    expect(await recordOf({ '@m': 'x', '@i': '7a8b9c0d' })).toMatchObject({
      eventId: 0,
      scopeData: { '@i': '7a8b9c0d' },
    })
    expect(await recordOf({ '@m': 'x', '@i': '12345678' })).toMatchObject({
      eventId: 0,
      scopeData: { '@i': '12345678' },
    })
    expect(await recordOf({ '@m': 'x', '@tr': 'request-7', '@sp': 'b' })).toMatchObject({
      correlationKey: null,
      scopeData: { traceId: 'request-7', spanId: 'b' },
    })
    await recordOf('{"@mt":"order {Id}","Id":9223372036854775807}')
    const value = String(gateway.records().at(-1)?.value)
    expect(value).toContain('"message":"order 9223372036854775807"')
    expect(value).toContain('"Id":9223372036854775807')
  })

  test('with nothing but an exception has its first line as message', async () => {
    expect(await recordOf({ '@mt': '', '@x': 'System.Exception: no\n  at A' })).toMatchObject({
      message: 'System.Exception: no',
    })
    expect(await recordOf({ '@m': 'x', '@x': { code: 5 } })).toMatchObject({ exception: '{"code":5}' })
  })

  test('whose message would be nothing has its template', async () => {
    expect((await recordOf({ '@mt': '{A}', A: '' }))['message']).toBe('{A}')
  })
})

describe('a request', () => {
  test('with all taken is 201 in the envelope, on both paths and under each type', async () => {
    const ok = { success: true, data: { message: 'Successfully processed 2 log entries', count: 2 } }
    const body = `\ufeff${lines(EVENT, '', '  ', EVENT)}\n\n`
    for (const path of [PATH, OLDER_PATH, '/INGEST/clef/', '/api/events/raw?x=1&CLEF&clef=1'])
      expect(await post(body, {}, path)).toMatchObject({ status: 201, body: ok })
    for (const type of [`${CLEF}; charset=utf-8`, 'text/plain', 'application/json-lines', 'application/x-ndjson', ''])
      expect(await post(Buffer.from(body), { 'content-type': type })).toMatchObject({ status: 201 })
    expect(await post(body, { 'content-type': 'application/json' }, OLDER_PATH)).toMatchObject({ status: 201 })
    expect(await post(gzipSync(body), { 'content-encoding': 'gzip' })).toMatchObject({ status: 201, body: ok })
  })

  test('with some refused is 207, and tells them by their line', async () => {
    const before = gateway.records().length
    const bad = [{ ...EVENT, '@l': 'Loud' }, '{', 7, {}, { ...EVENT, '@t': 'now' }, { ...EVENT, '@m': 5 }]
    const { status, body } = await post(lines(EVENT, ...bad, EVENT))
    expect(status).toBe(207)
    expect(body.data).toMatchObject({ count: 2, rejected: 6 })
    expect((body.data['errors'] as { index: number; code: string }[]).map(({ index, code }) => [index, code])).toEqual([
      [1, 'invalid_log_level'],
      [2, 'malformed_json'],
      [3, 'invalid_request'],
      [4, 'missing_message'],
      [5, 'invalid_timestamp'],
      [6, 'invalid_request'],
    ])
    expect(gateway.records().length - before).toBe(2)
  })

  test.each([
    ['@t', { ...EVENT, '@t': 'yesterday' }],
    ['Timestamp', { Timestamp: 'yesterday', MessageTemplate: 'x' }],
  ])('with a time that is none names it as it was sent: %s', async (name, event) => {
    const { message } = (await post(lines(event))).body.error
    expect(message).toMatch(
      new RegExp(`The first: ${name} is not a date .*: "yesterday"\\. .*, or leave ${name} out\\.$`),
    )
  })

  test('with no text as its time or level quotes it', async () => {
    const odd = [{ '@t': 1_700_000_000 }, { '@t': [2026, 11] }, { '@l': 3 }]
    const [time, list, level] = odd.map((fields) => post(lines({ ...EVENT, ...fields })))
    expect((await time)?.body.error.message).toMatch(/The first: @t is not a date .*: "1700000000"\./)
    expect((await list)?.body.error.message).toMatch(/The first: @t is not a date .*: "\[2026,11\]"\./)
    expect((await level)?.body.error.message).toMatch(/The first: @l "3" is not a recognized log level\./)
  })

  test('with none taken has the status of its first refusal', async () => {
    expect(await post(lines('{', EVENT).slice(0, 1))).toMatchObject({
      status: 400,
      body: { success: false, error: { code: 'malformed_json', details: { rejected: 1 } } },
    })
  })

  test('that the journal does not confirm is 503 with Retry-After, also where a part was refused for good', async () => {
    gateway.journal.fail('not_written')
    const { status, headers, body } = await post(lines(EVENT, '{'))
    gateway.journal.fail(null)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(body.error).toMatchObject({
      code: 'server_error',
      retryable: true,
      details: { outcome: 'not_written', unconfirmed: 1, rejected: 1, accepted: 0 },
    })
  })

  test('of more than 10,000 events is 413', async () => {
    for (const body of [
      '{}\n'.repeat(10_001),
      `[${'{},'.repeat(10_000)}{}]`,
      `{"Events":[${'{},'.repeat(10_000)}{}]}`,
    ]) {
      const answer = await post(body)
      expect([answer.status, answer.body.error.code]).toEqual([413, 'batch_too_large'])
    }
  })

  test('is told what its refused lines were', async () => {
    gateway.noted.length = 0
    await post(lines(EVENT, '{"@m"', { '@l': 'Loud', '@m': 'x' }))
    expect(gateway.noted).toMatchObject([
      { team: 'shop', endpoint: PATH, code: 'malformed_json', index: 1, body: '"{\\"@m\\""' },
      { code: 'invalid_log_level', index: 2, body: '{"@l":"Loud","@m":"x"}' },
    ])
    gateway.noted.length = 0
    await post(lines('{"Id":12345678901234567890,"Price":1.10}', '[9007199254740993]'))
    expect(gateway.noted.map(({ body }) => body)).toEqual([
      '{"Id":12345678901234567890,"Price":1.10}',
      '"[9007199254740993]"',
    ])
    gateway.noted.length = 0
    await post(lines({}), {}, OLDER_PATH)
    expect(gateway.noted).toMatchObject([{ endpoint: OLDER_PATH, index: 0 }])
  })
})

describe('an array, or the JSON that Seq took before CLEF', () => {
  /** As seq-logging 3.2 sends it. */
  const RAW = {
    Timestamp: '2026-11-20T17:20:13.127Z',
    Level: 'Warning',
    TraceId: '0af7651916cd43dd8448eb211c80319c',
    SpanId: 'b7ad6b7169203331',
    MessageTemplate: 'Order {Order} took {Ms:0.0} ms',
    Exception: 'Error: no\n    at pay (x.js:1:1)',
    Properties: { Order: 4711, Ms: 2.25, SourceContext: 'shop.orders', '@own': 1 },
  }

  test('is translated event by event, on both paths and under each type', async () => {
    for (const path of [PATH, OLDER_PATH, '/api/events/raw'])
      for (const type of ['application/json', CLEF, 'text/plain', '']) {
        const sent = [JSON.stringify({ Events: [RAW, EVENT] }), JSON.stringify([EVENT, RAW], null, 2)]
        for (const body of sent) {
          const answer = await post(Buffer.from(body), { 'content-type': type }, path)
          expect(answer).toMatchObject({ status: 201, body: { data: { count: 2 } } })
        }
      }
    expect(stored(-1)[0]).toMatchObject({
      timestamp: '2026-11-20T17:20:13.127Z',
      level: 'Warning',
      message: 'Order 4711 took 2.25 ms',
      categoryName: 'shop.orders',
      exception: 'Error: no\n    at pay (x.js:1:1)',
      correlationKey: '0af7651916cd43dd8448eb211c80319c',
      scopeData: {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        '@mt': 'Order {Order} took {Ms:0.0} ms',
        Order: 4711,
        Ms: 2.25,
        '@own': 1,
      },
    })
  })

  test('has a single line or one event over several, and is empty at will', async () => {
    expect(await recordOf(RAW)).toMatchObject({ categoryName: 'shop.orders' })
    expect(await post(JSON.stringify({ ...RAW, Level: 'Fatal' }, null, 2))).toMatchObject({ status: 201 })
    expect(stored(-1)[0]).toMatchObject({ level: 'Critical' })
    for (const body of ['[]', '{"Events":[]}'])
      expect(await post(body)).toMatchObject({ status: 201, body: { data: { count: 0 } } })
  })

  test('has the message that Serilog rendered, or its holes', async () => {
    const { Level: _level, ...plain } = RAW
    const numbered = { ...plain, Renderings: { Ms: [{ Format: '0.0', Rendering: '2.3' }] }, EventId: 7, Extra: true }
    expect(await recordOf(numbered)).toMatchObject({
      message: 'Order 4711 took 2.3 ms',
      level: 'Information',
      eventId: 7,
      scopeData: { Extra: true },
    })
    expect(await recordOf({ ...numbered, RenderedMessage: 'told' })).toMatchObject({ message: 'told' })
    const twice = { MessageTemplate: '{A:0} {B:0} {A:1}', Properties: { A: 1, B: 2 } }
    const renderings = { A: [{ Rendering: 'x' }, { Rendering: 'y' }], B: [{ Rendering: 'z' }] }
    expect(await recordOf({ ...twice, Renderings: renderings })).toMatchObject({ message: '1 2 1' })
    expect(await recordOf({ MessageTemplate: 'x', EventId: { Id: 3, Name: 'n' }, Properties: null })).toMatchObject({
      scopeData: { EventId: { Id: 3, Name: 'n' } },
    })
    expect(await recordOf({ '@m': 'x', MessageTemplate: 'y' })).toMatchObject({ scopeData: { MessageTemplate: 'y' } })
  })

  test('keeps every digit, also beside an event that is too deep', async () => {
    const body = `{"Events":[{"MessageTemplate":"{N}","Properties":{"N":9007199254740993}},{"@m":"x","A":${'['.repeat(70)}${']'.repeat(70)}}]}`
    const answer = await post(body)
    expect([answer.status, answer.body.data]).toMatchObject([207, { count: 1, rejected: 1 }])
    expect(String(gateway.records().at(-1)?.value)).toContain('"message":"9007199254740993"')
    expect((await post('{"Events":[{"MessageTemplate":"x","Properties":12345678901234567890}]}')).status).toBe(201)
    expect(String(gateway.records().at(-1)?.value)).toContain('"scopeData":{"Properties":12345678901234567890}')
    const long = `[${`{"@m":"${'x'.repeat(90_000)}","N":12345678901234567890},`.repeat(4)}12345678901234567890]`
    gateway.noted.length = 0
    expect((await post(long)).body.data).toMatchObject({ count: 4, rejected: 1, errors: [{ index: 4 }] })
    expect(String(gateway.records().at(-1)?.value)).toContain('"N":12345678901234567890')
    expect(gateway.noted).toMatchObject([{ code: 'invalid_request', index: 4 }])
  })

  test('is 207 where some were refused, which its clients report, and 400 where it is no JSON', async () => {
    const { status, body } = await post(JSON.stringify({ Events: [RAW, { ...RAW, Level: 'Loud' }, null, 5] }))
    expect([status, body.data]).toMatchObject([207, { count: 1, rejected: 3, errors: [{ index: 1 }, {}, {}] }])
    for (const broken of ['[{"@m":"x"},', '[\n{"@m":"x"}\n{"@m":"y"}\n]', '[{"@m":"x"},\n{"@m":"y"}'])
      expect(await post(broken)).toMatchObject({ status: 400, body: { error: { code: 'malformed_json' } } })
    const { code, message } = (await post('{"Events":[{"Level":"Error"}]}')).body.error
    expect([code, message]).toEqual(['missing_message', expect.stringContaining('MessageTemplate')])
    expect(await post('{"Events":5}')).toMatchObject({ status: 400, body: { error: { code: 'missing_message' } } })
  })
})

describe('the key', () => {
  test('may stand in the header of Seq’s clients', async () => {
    expect((await post(lines(EVENT), { 'x-api-key': '', 'x-seq-apikey': KEY })).status).toBe(201)
    expect((await post(lines(EVENT), { 'x-api-key': '', authorization: `Bearer ${KEY}` })).status).toBe(201)
  })

  test('is not read from the address', async () => {
    const { status, body } = await post(lines(EVENT), { 'x-api-key': '' }, `${PATH}?apiKey=${KEY}`)
    expect([status, body.error.code]).toEqual([401, 'missing_api_key'])
  })

  test('of no Team is 403', async () => {
    expect((await post(lines(EVENT), { 'x-api-key': 'nobody' })).status).toBe(403)
  })
})

describe('the Project', () => {
  const send = (named: string, query = '', key = KEY) =>
    post(lines(EVENT), { 'x-project-id': named, 'x-api-key': key }, PATH + query)

  test('is named by id or name, in the header or the address, or is the only one', async () => {
    const cases: [string, string, string, string][] = [
      [STOCK.toUpperCase(), '', KEY, STOCK],
      ['stock', '', KEY, STOCK],
      ['', `?project=${STOCK}`, KEY, STOCK],
      ['', '?project=Checkout%20API', KEY, CHECKOUT],
      ['Stock', '?project=Checkout+API', KEY, STOCK],
      ['', '', LONE_KEY, LONE],
    ]
    for (const [named, query, key, project] of cases) {
      expect((await send(named, query, key)).status).toBe(201)
      expect([named, query, stored(-1)[0]?.['project']]).toEqual([named, query, project])
    }
  })

  test('is told apart under one Idempotency-Key: only the same lines for the same Project are a repeat', async () => {
    const idOf = async (named: string) => {
      await post(lines(EVENT), { 'x-project-id': named, 'idempotency-key': 'retry' })
      return stored(-1)[0]?.['id']
    }
    const first = await idOf(CHECKOUT)
    expect(await idOf(STOCK)).not.toBe(first)
    expect(await idOf('checkout api')).toBe(first)
  })

  test.each([
    ['', 'missing_project_id', 400, '?project=<id or name>'],
    ['Stok', 'project_not_found', 404, '"Stock"'],
    ['twin', 'project_not_found', 404, 'More than one Project is named "twin"'],
    [LONE, 'project_not_found', 404, 'No Project of the Team'],
    ['retired', 'project_not_found', 404, 'archived'],
  ])('%j is %s, and the message says what to change', async (named, code, status, part) => {
    const answer = await send(named)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(answer.body.error.message).toContain(part)
  })
})

test.each([
  ['plain', Buffer.from(''), ''],
  ['compressed', gzipSync(''), 'gzip'],
])('an empty body, with which Serilog asks for its minimum level, has no events: %s', async (_how, body, coding) => {
  gateway.noted.length = 0
  const answer = await post(body, { 'content-encoding': coding }, OLDER_PATH)
  expect(answer).toMatchObject({ status: 201, body: { success: true, data: { count: 0 } } })
  expect(gateway.noted).toEqual([])
})

describe('bad bodies', () => {
  test.each<[string, string | Uint8Array, Record<string, string>, number, string]>([
    ['blank', ' \n\n', {}, 400, 'malformed_json'],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), {}, 400, 'malformed_json'],
    ['another charset', '{}', { 'content-type': `${CLEF}; charset=utf-16` }, 415, 'unsupported_media_type'],
    ['another type', '{}', { 'content-type': 'application/xml' }, 415, 'unsupported_media_type'],
    ['an unknown coding', '{}', { 'content-encoding': 'snappy' }, 415, 'unsupported_media_type'],
    ['corrupt compression', 'x', { 'content-encoding': 'gzip' }, 400, 'malformed_body'],
  ])('%s', async (_name, body, headers, status, code) => {
    const answer = await post(body, headers)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })

  test('another charset: the remedy leaves the content type as it is', async () => {
    const { message } = (await post('{}', { 'content-type': `${CLEF}; charset=utf-16` })).body.error
    expect(message).toBe('The charset utf-16 is not UTF-8. Send the body in UTF-8.')
  })

  test('nothing that is nested deep, or made to grow, does harm', async () => {
    const before = gateway.records().length
    const deep = `{"@m":"x","A":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const bomb = lines({ '@mt': '{A}'.repeat(1_000), A: 'x'.repeat(3_000) })
    for (const body of [deep, bomb, `{"@mt":"{A}","A":${'['.repeat(70)}${']'.repeat(70)}}`])
      expect(await post(body)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
    expect(gateway.records().length).toBe(before)
    expect(await recordOf('{"@m":"x\\u0000","__proto__":{"a":1},"constructor":1}')).toMatchObject({ message: 'x\0' })
    expect(String(gateway.records().at(-1)?.value)).toContain('"__proto__":{"a":1}')
  })
})

test('an event may be 64 levels deep, also with a number in the deepest that JavaScript would round', async () => {
  const nested = (levels: number) =>
    `{"@m":"x","A":${'{"A":'.repeat(levels - 1)}9007199254740993${'}'.repeat(levels - 1)}}`
  expect((await post(nested(64))).status).toBe(201)
  expect(String(gateway.records().at(-1)?.value)).toContain(`${'{"A":'.repeat(64)}9007199254740993}`)
  expect((await post(nested(65))).status).toBe(400)
})

describe('whatever is sent', () => {
  const RUNS = 200
  const name = fc.constantFrom('@t', '@m', '@mt', '@l', '@x', '@i', '@r', '@tr', '@@m', '@zz', 'A', 'SourceContext')
  const value = fc.oneof(
    fc.constantFrom<unknown>('x', '', '{A}', '{A:0} {{', 'Fatal', '2026-01-31', null, 5, 2 ** 60, 1e300, [], {}, '\0'),
    fc.jsonValue({ maxDepth: 3 }),
  )
  const event = fc.dictionary(name, value).map((fields) => JSON.stringify(fields))
  const line = fc.oneof(
    { weight: 3, arbitrary: event },
    { weight: 2, arbitrary: event.map((text) => `{"@m":"x"${text === '{}' ? '' : ','}${text.slice(1)}`) },
    { weight: 1, arbitrary: fc.string().map((text) => text.replaceAll(/[\r\n]/g, '')) },
  )

  test('received is accepted and rejected together, and never a fault of ours', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (sent) => {
        const before = gateway.records().length
        const { status, body } = await post(`{"@m":"first"}\n${sent.join('\n')}`)
        expect([201, 207]).toContain(status)
        const received = 1 + sent.filter((text) => text.trim() !== '').length
        const accepted = gateway.records().length - before
        expect(body.data['count']).toBe(accepted)
        expect(accepted + Number(body.data['rejected'] ?? 0)).toBe(received)
        taken += accepted
      }),
      { numRuns: RUNS },
    )
    // The first line of each request is always taken.
    expect(taken).toBeGreaterThan(1.25 * runsOf(RUNS))
  })

  test('any bytes are answered with the envelope', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(bytes, fc.constantFrom('', 'gzip', 'br'), async (body, coding) => {
        const answer = await post(body, { 'content-encoding': coding })
        expect([201, 207, 400]).toContain(answer.status)
        expect(typeof answer.body.success).toBe('boolean')
      }),
      { numRuns: 100 },
    )
  })
})
