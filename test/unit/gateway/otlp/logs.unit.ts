import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import * as fc from '../../../support/fast-check.ts'
import { runsOf } from '../../../support/fast-check.ts'
import {
  CHECKOUT,
  type ForeignGateway,
  foreignRegistry,
  KEY,
  LONE,
  LONE_KEY,
  RETIRED,
  STOCK,
  startForeignGateway,
} from '../../../support/foreign-gateway.ts'
import { startGateway } from '../../../support/gateway.ts'
import { exchangeRaw, openRaw } from '../../../support/raw-http.ts'

const PATH = '/v1/logs'
const RECORD = { severityNumber: 9, body: { stringValue: 'hello' } }

interface Status {
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly reason: string }[]
}
interface Success {
  readonly partialSuccess?: { readonly rejectedLogRecords: string; readonly errorMessage: string }
}

const strings = (values: Record<string, string>) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))
const logs = (resource: Record<string, string>, ...logRecords: readonly unknown[]) => ({
  resource: { attributes: strings(resource) },
  scopeLogs: [{ scope: { name: 'my.library' }, logRecords }],
})
const CHECKOUT_SERVICE = { 'service.name': 'checkout api' }

let gateway: ForeignGateway

beforeAll(async () => {
  gateway = await startForeignGateway()
})
afterAll(() => gateway.close())

const post = async (body: unknown, headers: Record<string, string> = {}) => {
  const answer = await gateway.post(PATH, body, { 'x-api-key': KEY, ...headers })
  return { ...answer, body: answer.body as unknown as Status & Success }
}
const send = (...resourceLogs: readonly unknown[]) => post({ resourceLogs })
const stored = (from?: number) => gateway.stored(from)

describe('what is accepted', () => {
  test('every record becomes an application log; the answer is an empty object of JSON', async () => {
    const { status, headers, body } = await send({
      ...logs({ ...CHECKOUT_SERVICE, 'deployment.environment.name': 'staging', 'host.name': 'a' }, RECORD, {
        timeUnixNano: '1544712660300000123',
        severityText: 'WARN',
        body: { kvlistValue: { values: [{ key: 'order', value: { intValue: '4711' } }] } },
        attributes: [{ key: 'big', value: { intValue: '9223372036854775807' } }],
        traceId: '5B8EFFF798038103D269B633813FC60C',
      }),
      futureField: { any: 'thing' },
    })
    expect([status, headers.get('content-type'), body]).toEqual([200, 'application/json', {}])
    expect(stored()).toMatchObject([
      {
        project: CHECKOUT,
        team: 'shop',
        categoryName: 'my.library',
        environment: 'staging',
        message: 'hello',
        level: 'Information',
        scopeData: { 'host.name': 'a' },
      },
      {
        timestamp: '2018-12-13T14:51:00.300000123Z',
        level: 'Warning',
        message: '{"order":4711}',
        scopeData: { 'host.name': 'a', body: { order: 4711 } },
        correlationKey: '5b8efff798038103d269b633813fc60c',
      },
    ])
    expect(String(gateway.records()[1]?.value)).toContain('"big":9223372036854775807')
  })

  test('integers that are sent as JSON numbers keep their digits too', async () => {
    const text = JSON.stringify({ resourceLogs: [logs(CHECKOUT_SERVICE, RECORD, { ...RECORD, x: 1 })] }).replace(
      '"x":1',
      '"timeUnixNano":1544712660300000123,"attributes":[{"key":"big","value":{"intValue":9223372036854775807}}]',
    )
    expect((await post(text)).body).toEqual({})
    const value = String(gateway.records().at(-1)?.value)
    expect(value).toContain('"big":9223372036854775807')
    expect(value).toContain('"timestamp":"2018-12-13T14:51:00.300000123Z"')
  })

  test('each resource goes to its own Project; the category is the scope, the service, the Project', async () => {
    const before = gateway.records().length
    const bare = (attributes: Record<string, string>) => ({
      ...logs(attributes),
      scopeLogs: [{ logRecords: [RECORD] }],
    })
    const { body } = await send(
      logs({ 'sluice.project.id': STOCK.toUpperCase(), 'service.name': 'whatever' }, RECORD),
      bare(CHECKOUT_SERVICE),
      bare({ 'sluice.project.id': STOCK }),
    )
    expect(body).toEqual({})
    expect(stored(before)).toMatchObject([
      { project: STOCK, categoryName: 'my.library', environment: 'Development' },
      { project: CHECKOUT, categoryName: 'checkout api' },
      { project: STOCK, categoryName: 'Stock' },
    ])
  })

  test('a request without records, and one that is compressed', async () => {
    for (const body of [{}, { resourceLogs: null }, { resourceLogs: [] }, { resourceLogs: [{ scopeLogs: [{}] }] }])
      expect(await post(body)).toMatchObject({ status: 200, body: {} })
    const text = JSON.stringify({ resourceLogs: [logs(CHECKOUT_SERVICE, RECORD)] })
    expect((await post(gzipSync(text), { 'content-encoding': 'gzip' })).body).toEqual({})
  })

  test.each([
    { resource_logs: [{ scope_logs: [{ log_records: [{ body: { string_value: 'x' } }] }] }] },
    { resourceSpans: [] },
  ])('a request with something else than logs is told that none was stored: %j', async (body) => {
    expect(await post(body)).toMatchObject({
      status: 200,
      body: {
        partialSuccess: {
          rejectedLogRecords: '0',
          errorMessage: expect.stringMatching(/no resourceLogs.*lowerCamelCase/),
        },
      },
    })
  })

  test.each([
    ['a bearer token', { authorization: `Bearer ${KEY}` }],
    ["Seq's header", { 'x-seq-apikey': KEY }],
  ])('the key also as %s', async (_name, headers) => {
    const body = { resourceLogs: [logs(CHECKOUT_SERVICE, RECORD)] }
    expect((await post(body, { 'x-api-key': '', ...headers })).body).toEqual({})
  })

  test.each([[{}], [{ 'service.name': 'nobody knows it' }]])(
    "logs of a Team with one Project go there, also without the Project's name: %j",
    async (resource) => {
      const { body } = await post({ resourceLogs: [logs(resource, RECORD)] }, { 'x-api-key': LONE_KEY })
      expect(body).toEqual({})
      expect(stored(-1)[0]).toMatchObject({ project: LONE, team: 'lone' })
    },
  )

  test('logs for an archived or another Project do not go to the only one', async () => {
    const named = [{ 'service.name': 'old' }, { 'sluice.project.id': CHECKOUT }]
    const body = { resourceLogs: named.map((resource) => logs(resource, RECORD)) }
    const answer = await post(body, { 'x-api-key': LONE_KEY })
    expect(answer.body.partialSuccess?.rejectedLogRecords).toBe('2')
  })
})

describe('records that are rejected', () => {
  const rejection = async (...resourceLogs: readonly unknown[]) => {
    const { status, body } = await send(...resourceLogs)
    expect(status).toBe(200)
    return body.partialSuccess ?? { rejectedLogRecords: '', errorMessage: '' }
  }

  test('the others are taken, and the answer says how many were not, and why', async () => {
    const before = gateway.records().length
    const { rejectedLogRecords, errorMessage } = await rejection(
      logs({ 'service.name': 'chekout' }, RECORD, 5),
      logs(CHECKOUT_SERVICE, RECORD, 5, { ...RECORD, timeUnixNano: 'now' }),
    )
    expect(rejectedLogRecords).toBe('4')
    expect(errorMessage).toContain(
      '2 with project_not_found (first record 0): No Project of the Team is named "chekout".',
    )
    expect(errorMessage).toContain('1 with invalid_request (record 3): ')
    expect(errorMessage).toContain('1 with invalid_timestamp (record 4): timeUnixNano is not a number of nanoseconds')
    expect(gateway.records().length - before).toBe(1)
  })

  test.each([
    [{ timeUnixNano: '20260000000000000000' }, 'timeUnixNano', '20260000000000000000'],
    [{ timeUnixNano: '0', observedTimeUnixNano: 'now' }, 'observedTimeUnixNano', 'now'],
  ])('a time that is none is named as it was sent: %j', async (times, name, received) => {
    const { errorMessage } = await rejection(logs(CHECKOUT_SERVICE, { ...RECORD, ...times }))
    expect(errorMessage).toMatch(new RegExp(`${name} is not .*: "${received}"\\. .* leave ${name} out\\.`))
  })

  test.each<[string, Record<string, string>, string[]]>([
    ['no Project named', {}, ['missing_project_id', 'OTEL_SERVICE_NAME', `"Checkout API" (${CHECKOUT})`]],
    ['an unknown id', { 'sluice.project.id': LONE }, ['project_not_found', 'sluice.project.id=<id>', '"Stock"']],
    [
      'an id that is no GUID',
      { 'sluice.project.id': 'Stock' },
      ['invalid_project_id', 'sluice.project.id "Stock" is not a GUID'],
    ],
    ['an ambiguous name', { 'service.name': 'twin' }, ['project_not_found', 'More than one Project is named "twin"']],
    ['an archived Project', { 'sluice.project.id': RETIRED }, ['project_not_found', 'is archived']],
    ['a name of an archived Project', { 'service.name': 'retired' }, ['project_not_found', 'is archived']],
  ])('%s: the message says what to change', async (_name, resource, parts) => {
    const { rejectedLogRecords, errorMessage } = await rejection(logs(resource, RECORD))
    expect(rejectedLogRecords).toBe('1')
    for (const part of parts) expect(errorMessage).toContain(part)
  })

  test('fields over their limits are refused as everywhere', async () => {
    const long = { key: 'correlationKey', value: { stringValue: 'x'.repeat(513) } }
    const { errorMessage } = await rejection(logs(CHECKOUT_SERVICE, { ...RECORD, attributes: [long] }))
    expect(errorMessage).toContain('/attributes/correlationKey must have at most 512 bytes')
  })

  test('attributes may be 64 levels deep, and nothing nested deeper does harm', async () => {
    const nested = (levels: number): unknown => {
      let value: unknown = { intValue: '9007199254740993' }
      for (let level = 1; level < levels; level += 1) value = { kvlistValue: { values: [{ key: 'a', value }] } }
      return { ...RECORD, attributes: [{ key: 'a', value }] }
    }
    expect((await send(logs(CHECKOUT_SERVICE, nested(64)))).body).toEqual({})
    expect(String(gateway.records().at(-1)?.value)).toContain(`${'{"a":'.repeat(64)}9007199254740993}`)
    for (const levels of [65, 66, 70, 200, 1_000])
      expect((await rejection(logs(CHECKOUT_SERVICE, nested(levels)))).rejectedLogRecords).toBe('1')
    const bomb = `${'{"arrayValue":{"values":['.repeat(50_000)}${']}}'.repeat(50_000)}`
    const text = JSON.stringify({ resourceLogs: [logs(CHECKOUT_SERVICE, RECORD, { body: 0 })] }).replace(
      '"body":0',
      `"body":${bomb}`,
    )
    expect((await post(text)).body).toMatchObject({ code: 3, details: [{ reason: 'invalid_request' }] })
  })

  test('are noted with their places and as they were sent', async () => {
    gateway.noted.length = 0
    const bad = { ...RECORD, attributes: 7 }
    await send(logs(CHECKOUT_SERVICE, RECORD), logs(CHECKOUT_SERVICE, bad))
    expect(gateway.noted).toMatchObject([
      { team: 'shop', endpoint: PATH, code: 'invalid_request', index: 1, body: JSON.stringify(bad) },
    ])
    gateway.noted.length = 0
    const digits = '{"timeUnixNano":"-1","attributes":[{"key":"id","value":{"intValue":9007199254740993}}]}'
    await post(JSON.stringify({ resourceLogs: [logs(CHECKOUT_SERVICE, RECORD, 'LAST')] }).replace('"LAST"', digits))
    expect(gateway.noted).toMatchObject([{ code: 'invalid_timestamp', index: 1, body: digits }])
  })
})

describe('requests that are refused', () => {
  test.each<[string, unknown, Record<string, string>, number, string]>([
    ['no key', {}, { 'x-api-key': '' }, 401, 'missing_api_key'],
    ['a wrong key', {}, { 'x-api-key': 'nobody' }, 403, 'invalid_api_key'],
    ['no JSON', '{', {}, 400, 'malformed_json'],
    ['no object', '[]', {}, 400, 'invalid_request'],
    ['no list', { resourceLogs: {} }, {}, 400, 'invalid_request'],
    ['another type', 'x', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['corrupt compression', 'x', { 'content-encoding': 'gzip' }, 400, 'malformed_body'],
  ])('%s', async (_name, body, headers, status, reason) => {
    const answer = await post(body, headers)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
    expect(answer.body).toEqual({
      code: expect.any(Number),
      message: expect.any(String),
      details: [expect.objectContaining({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason })],
    })
  })

  test('wrong types are told by their place', async () => {
    const paths: [unknown, string][] = [
      [[5], '/resourceLogs/0'],
      [[{}, { resource: [] }], '/resourceLogs/1/resource'],
      [[{ scopeLogs: {} }], '/resourceLogs/0/scopeLogs'],
      [[{ scopeLogs: [null] }], '/resourceLogs/0/scopeLogs/0'],
      [[{ scopeLogs: [{ scope: 'x' }] }], '/resourceLogs/0/scopeLogs/0/scope'],
      [[{ scopeLogs: [{ logRecords: 'x' }] }], '/resourceLogs/0/scopeLogs/0/logRecords'],
    ]
    for (const [resourceLogs, path] of paths)
      expect(JSON.stringify((await post({ resourceLogs })).body.details)).toContain(`\\"${path}\\"`)
  })

  test('more than 10,000 records are too many, however small; as many as that are not', async () => {
    const many = (count: number) => logs(CHECKOUT_SERVICE, ...Array(count).fill({}))
    const { status, body } = await send(many(5_000), many(5_001))
    expect([status, body.details[0]?.reason]).toEqual([413, 'batch_too_large'])
    expect((await send(many(10_000))).body.partialSuccess?.rejectedLogRecords).toBe('10000')
  })

  test('before the registry is read nobody is told that a key is wrong', async () => {
    const early = await startGateway({ registry: foreignRegistry, registryReady: () => false })
    for (const path of [PATH, '/ingest/clef']) {
      const { status, headers } = await early.post(path, '{}', { 'x-api-key': 'any' })
      expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    }
    await early.close()
  })

  test('a body that does not come in time may be sent again, which clients do after 503 only', async () => {
    const slow = await startGateway({ registry: foreignRegistry, config: { BODY_TIMEOUT_MS: 50 } })
    const answer = await exchangeRaw(
      slow.port,
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Length: 9\r\n\r\n{`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n[\s\S]*"reason":"request_timeout"/i)
    await slow.close()
  })

  test('what is sent again under an Idempotency-Key, the same for all requests, gets the same ids', async () => {
    const idsOf = async (message: string) => {
      const before = gateway.records().length
      const body = { resourceLogs: [logs(CHECKOUT_SERVICE, RECORD, { ...RECORD, body: { stringValue: message } })] }
      await post(body, { 'idempotency-key': 'otlp' })
      return stored()
        .slice(before)
        .map(({ id }) => id)
    }
    const first = await idsOf('a')
    expect(await idsOf('a')).toEqual(first)
    expect(new Set([...first, ...(await idsOf('b'))]).size).toBe(4)
  })

  test('what the journal does not confirm is 503 with Retry-After, also when only a part', async () => {
    gateway.journal.fail('not_written')
    const { status, headers, body } = await send(logs(CHECKOUT_SERVICE, RECORD, { ...RECORD, body: 5 }))
    gateway.journal.fail(null)
    expect([status, headers.get('retry-after'), body.details[0]?.reason]).toEqual([503, '1', 'server_error'])
    expect(JSON.stringify(body.details)).toContain('\\"unconfirmed\\":1,\\"rejected\\":1')
  })
})

describe('whatever is sent', () => {
  const RUNS = 200
  const text = fc.constantFrom('', 'x', 'checkout api', 'Stock', CHECKOUT, '\0', '\ud800', '__proto__', '1e999', '12')
  const scalar = fc.oneof(text, fc.constantFrom<unknown>(null, 0, -1, 9, 2 ** 60, 1e300, true, [], {}))
  const anyValue = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      scalar.map((stringValue) => ({ stringValue })),
      scalar.map((intValue) => ({ intValue })),
      scalar.map((doubleValue) => ({ doubleValue })),
      scalar,
      fc.array(tie('value'), { maxLength: 3 }).map((values) => ({ arrayValue: { values } })),
      fc.array(fc.record({ key: scalar, value: tie('value') }), { maxLength: 3 }).map((values) => ({
        kvlistValue: { values },
      })),
    ),
  })).value
  const key = fc.oneof(
    fc.constantFrom('service.name', 'sluice.project.id', 'correlationKey', 'logrecord.event.id', 'exception.message'),
    text,
  )
  const attributeList = fc.oneof(fc.array(fc.record({ key, value: anyValue }), { maxLength: 4 }), scalar)
  const record = fc.record(
    {
      timeUnixNano: scalar,
      severityNumber: scalar,
      severityText: scalar,
      body: anyValue,
      attributes: attributeList,
      traceId: scalar,
      eventName: scalar,
    },
    { requiredKeys: [] },
  )
  const good = fc.constant(CHECKOUT_SERVICE).map((values) => ({ attributes: strings(values) }))
  const resource = fc.oneof({ weight: 3, arbitrary: good }, fc.record({ attributes: attributeList }))
  const request = fc.array(
    fc.record({
      resource,
      scopeLogs: fc.array(fc.record({ scope: fc.constant({ name: 'a' }), logRecords: fc.array(record) }), {
        maxLength: 2,
      }),
    }),
    { maxLength: 3 },
  )

  test('received is accepted and rejected together, and never a fault of ours', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(request, async (resourceLogs) => {
        const before = gateway.records().length
        const { status, body } = await send(...resourceLogs)
        expect(status).toBe(200)
        const received = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
        const accepted = gateway.records().length - before
        taken += accepted
        expect(accepted + Number(body.partialSuccess?.rejectedLogRecords ?? 0)).toBe(received.length)
      }),
      { numRuns: RUNS },
    )
    expect(taken).toBeGreaterThan(runsOf(RUNS) / 10)
    for (const { value } of gateway.records()) expect(() => JSON.parse(String(value))).not.toThrow()
  })

  test('any JSON and any bytes are answered as OTLP wants it', async () => {
    const any = fc.oneof(
      fc.json().map((json) => Buffer.from(json)),
      fc.jsonValue().map((resourceLogs) => Buffer.from(JSON.stringify({ resourceLogs }))),
      fc.uint8Array({ minLength: 1, maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
    )
    await fc.assert(
      fc.asyncProperty(any, fc.constantFrom('', 'gzip', 'zstd'), async (bytes, coding) => {
        const { status, body } = await post(bytes, { 'content-encoding': coding })
        expect([200, 400]).toContain(status)
        if (status === 400) expect(typeof body.message).toBe('string')
      }),
      { numRuns: 200 },
    )
  })
})

describe('the memory of records, which repeat the attributes of their resource', () => {
  const body = gzipSync(
    JSON.stringify({
      resourceLogs: [logs({ ...CHECKOUT_SERVICE, 'host.name': 'x'.repeat(3_000) }, ...Array(1_000).fill(RECORD))],
    }),
  )
  const HEADERS = { 'x-api-key': KEY, 'content-encoding': 'gzip' }

  test('is taken from that of bodies: without room the request is refused as a whole, and may come again', async () => {
    const small = await startForeignGateway({ config: { BODY_BUFFER_BYTES: 4_000_000 } })
    const stalled = openRaw(small.port)
    try {
      const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${LONE_KEY}\r\nContent-Length: 9000\r\n\r\n`
      stalled.send(`${head}${' '.repeat(8_000)}`)
      const metrics = () => small.metrics.registry.metrics()
      await eventually(async () => expect(await metrics()).not.toMatch(/^sluice_body_bytes 0$/m))
      const answer = await small.post(PATH, body, HEADERS)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      expect(answer.body).toMatchObject({
        message: expect.stringMatching(/more memory than is free.*Fewer in one request/),
      })
      expect(await metrics()).toMatch(/^sluice_limited_total\{reason="body_buffer"\} 1$/m)
      expect(small.records()).toEqual([])
      stalled.socket.destroy()
      await eventually(async () => expect(await metrics()).toMatch(/^sluice_body_bytes 0$/m))
      expect((await small.post(PATH, body, HEADERS)).body).toEqual({})
      expect(await metrics()).toMatch(/^sluice_body_bytes 0$/m)
    } finally {
      stalled.socket.destroy()
      await small.close()
    }
  })

  test('is bounded for one request by what a Team can have of the buffer before the journal', async () => {
    const small = await startForeignGateway({ config: { PUBLISH_BUFFER_BYTES: 4_000_000 } })
    try {
      const answer = await small.post(PATH, body, HEADERS)
      expect(answer.status).toBe(413)
      expect(answer.body).toMatchObject({
        message: expect.stringMatching(/^The entries come to more than 3,000,000 bytes, .*Split the batch\.$/),
        details: [{ reason: 'batch_too_large', metadata: { details: '{"limitBytes":3000000}' } }],
      })
      expect(small.records()).toEqual([])
    } finally {
      await small.close()
    }
  })
})
