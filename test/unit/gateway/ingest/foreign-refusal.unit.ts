import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALIASES, type Alias, type AliasedField, nameOf } from '../../../../gateway/json-logs/aliases.ts'
import { CHECKOUT, type ForeignGateway, KEY, startForeignGateway } from '../../../support/foreign-gateway.ts'
import { protobufOf } from '../../../support/otlp-protobuf.ts'

let gateway: ForeignGateway

beforeAll(async () => {
  gateway = await startForeignGateway({ config: { MAX_ENTRY_BYTES: 20_000 } })
})
afterAll(() => gateway.close())

/** The refusal of the only entry of a request. */
async function refusalOf(path: string, body: string | Uint8Array, type: string) {
  gateway.noted.length = 0
  const headers = { 'x-api-key': KEY, 'x-project-id': CHECKOUT, 'content-type': type }
  const sent = typeof body === 'string' ? body : Uint8Array.from(body)
  const url = `http://127.0.0.1:${gateway.port}${path}`
  const answer = await (await fetch(url, { method: 'POST', body: sent, headers })).text()
  const [noted] = gateway.noted
  if (noted?.kind !== 'refusal') throw new Error(`not refused: ${answer}`)
  const { code, message, details } = noted
  return { code, message, details: details as unknown, answer }
}
const ofJson = (entry: object) => refusalOf('/ingest/json', JSON.stringify(entry), 'application/json')
const ofClef = (event: object) => refusalOf('/ingest/clef', JSON.stringify(event), 'application/json')

const long = (bytes: number): string => 'x'.repeat(bytes)
const pointer = (...names: readonly string[]): string => `/${names.map((name) => name.replaceAll('/', '~1')).join('/')}`
const tooLong = (path: string, bytes: number, not = bytes + 1) => [
  { path, message: `must have at most ${bytes} bytes in UTF-8, not ${not}` },
]

/** The spellings of an alias: one name and, if that has dots, objects in objects. */
function spellings(alias: Alias, value: unknown): readonly { readonly names: readonly string[]; entry: object }[] {
  const name = nameOf(alias)
  const beside = typeof alias === 'string' ? {} : Object.fromEntries(alias.beside.map((each) => [each, 'info']))
  const dotted = name.split(/\.(?!googleapis|com)/)
  return (dotted.length === 1 ? [dotted] : [[name], dotted]).map((names) => ({
    names,
    entry: { ...beside, ...(names.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value) as object) },
  }))
}

const spellingsOf = (field: AliasedField, value: unknown) =>
  ALIASES[field].flatMap((alias: Alias) => spellings(alias, value))

describe('an entry of any logger', () => {
  test.each([
    ['categoryName', 4_096],
    ['environment', 256],
    ['correlationKey', 512],
    ['traceId', 512],
    ['eventName', 4_096],
  ] as const)('names the member that is too long for %s', async (field, bytes) => {
    for (const { names, entry } of spellingsOf(field, 'a'.repeat(bytes + 1)))
      expect((await ofJson({ ...entry, msg: 'm' })).details).toEqual(tooLong(pointer(...names), bytes))
  })

  test('names the member that is no level', async () => {
    for (const { names, entry } of spellingsOf('level', 'audit')) {
      // A priority that is no level stays in scope data.
      if (names[0] === 'PRIORITY') continue
      const { code, message, details } = await ofJson({ ...entry, msg: 'm' })
      expect([code, details]).toEqual(['invalid_log_level', { received: 'audit' }])
      expect(message).toMatch(`${names.join('.')} "audit" is not a recognized log level. Send one of Trace, `)
    }
  })

  test('that is too large names its own largest member', async () => {
    for (const { entry } of (Object.keys(ALIASES) as AliasedField[]).flatMap((field) => spellingsOf(field, { a: 'b' })))
      expect((await ofJson({ ...entry, big: { blob: long(30_000) }, msg: 'm' })).details).toMatchObject({
        limit: 20_000,
        largest: '/big/blob',
      })
    for (const field of ['message', 'exceptionMessage', 'exceptionTrace', 'exceptionCause'] as const)
      for (const { names, entry } of spellingsOf(field, long(30_000)))
        expect((await ofJson(entry)).details).toMatchObject({ largest: pointer(...names) })
  })

  test('that is not JSON is told its line and its place there', async () => {
    const body = '{"msg":"a"}\n\n{"msg":"b",}\n'
    expect((await refusalOf('/ingest/json', body, 'application/json')).message).toMatch(
      /^Line 3 is not valid JSON: .* position 11 .*\. Send JSON in UTF-8: /,
    )
  })

  test('names the one that counts of several names, as it is written', async () => {
    expect((await ofJson({ logger: long(4_097), Logger_Name: long(4_098), category: 5 })).details).toEqual(
      tooLong('/Logger_Name', 4_096, 4_098),
    )
    expect((await ofJson({ correlationId: { a: 1 }, 'trace/id': 'b', traceId: 'A'.repeat(513) })).details).toEqual(
      tooLong('/traceId', 512),
    )
    expect((await ofJson({ 'log.level': { a: 1 }, lvl: 'audit', msg: 'm' })).message).toMatch(/^lvl "audit"/)
  })
})

describe('an event in CLEF', () => {
  const CLEF = { '@t': '2026-01-31T09:30:00Z', '@m': 'hello' }
  const RAW = { Timestamp: '2026-01-31T09:30:00Z', MessageTemplate: 'hello' }

  test.each([
    ...['SourceContext', 'LoggerName', 'logger', 'logger.name', 'log.logger'].map((name) => [name, 4_096] as const),
    ...['EnvironmentName', 'Environment'].map((name) => [name, 256] as const),
    ...['correlationKey', 'CorrelationId', '@tr'].map((name) => [name, 512] as const),
  ])('names %s where it is too long, in both formats', async (name, bytes) => {
    const value = 'a'.repeat(bytes + 1)
    expect((await ofClef({ ...CLEF, [name]: value })).details).toEqual(tooLong(`/${name}`, bytes))
    expect((await ofJson({ ...CLEF, [name]: value })).details).toEqual(tooLong(`/${name}`, bytes))
    const raw = name === '@tr' ? { TraceId: value } : { Properties: { [name]: value } }
    const path = name === '@tr' ? '/TraceId' : `/Properties/${name}`
    expect((await ofClef({ ...RAW, ...raw })).details).toEqual(tooLong(path, bytes))
  })

  test.each([
    ['@l', { ...CLEF, '@l': 'Loud' }, /^@l "Loud" is not a recognized log level\./],
    ['@l of another type', { ...CLEF, '@l': { a: 1 } }, /^@l is not a string\./],
    ['Level', { ...RAW, Level: 'Loud' }, /^Level "Loud" is not a recognized log level\./],
    ['@t', { ...CLEF, '@t': [1] }, /^@t is not a date and time .*: "\[1\]"\. .* or leave @t out\.$/],
    ['Timestamp', { ...RAW, Timestamp: 'now' }, /^Timestamp is not a date .*: "now"\. .* or leave Timestamp out\.$/],
  ])('names %s in its message', async (_name, event, message) => {
    expect((await ofClef(event)).message).toMatch(message)
  })

  test.each([
    ['@m', { ...CLEF, '@m': 5 }, [{ path: '/@m', message: 'must be a string, not 5' }]],
    ['@mt', { '@mt': [1] }, [{ path: '/@mt', message: 'must be a string, not an array; serialise it to JSON text' }]],
    [
      'RenderedMessage',
      { ...RAW, RenderedMessage: { a: 1 } },
      [{ path: '/RenderedMessage', message: 'must be a string, not an object; serialise it to JSON text' }],
    ],
    [
      'MessageTemplate',
      { MessageTemplate: '{a}'.repeat(50), Properties: { a: long(1_000) } },
      [{ path: '/MessageTemplate', message: expect.stringContaining('4 times its line') }],
    ],
  ])('names %s in its details', async (_name, event, details) => {
    expect((await ofClef(event)).details).toEqual(details)
  })

  test('that is too large names its own largest field', async () => {
    expect((await ofClef({ ...CLEF, '@x': long(30_000) })).details).toMatchObject({ largest: '/@x' })
    expect((await ofClef({ ...RAW, Properties: { Order: { Lines: long(30_000) } } })).details).toMatchObject({
      largest: '/Properties/Order/Lines',
    })
    expect((await ofClef({ ...CLEF, a: long(9_000), b: long(12_000) })).details).toMatchObject({ largest: '/b' })
  })

  test('names the member that is nested too deeply', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`)
    expect((await ofClef({ ...CLEF, 'a/b': deep })).details).toEqual([
      { path: '/a~1b', message: 'must be at most 63 levels deep' },
    ])
  })

  test('has a message although its exception begins with a blank line', async () => {
    for (const path of ['/ingest/clef', '/ingest/json']) {
      const event = path === '/ingest/clef' ? { '@x': '\n  boom\n at a' } : { stack: '\n  boom\n at a' }
      await gateway.post(path, JSON.stringify(event), { 'x-api-key': KEY, 'x-project-id': CHECKOUT })
      expect(gateway.stored().at(-1)).toMatchObject({ message: 'boom' })
    }
  })
})

describe('a log record', () => {
  type Attributes = Readonly<Record<string, unknown>>
  const list = (attributes: Attributes) =>
    Object.entries(attributes).map(([key, value]) => ({
      key,
      value: typeof value === 'string' ? { stringValue: value } : value,
    }))

  /** The refusal of a record, which both encodings share. */
  async function ofRecord(record: object, { scope = '', resource = {} as Attributes } = {}) {
    const logRecords = [{ body: { stringValue: 'hello' }, ...record }]
    const request = {
      resourceLogs: [{ resource: { attributes: list(resource) }, scopeLogs: [{ scope: { name: scope }, logRecords }] }],
    }
    const json = await refusalOf('/v1/logs', JSON.stringify(request), 'application/json')
    const { answer: _, ...binary } = await refusalOf('/v1/logs', protobufOf(request), 'application/x-protobuf')
    expect(json).toEqual({ ...json, ...binary })
    return json
  }

  /** The paths of attributes. */
  const attributes = (...names: readonly string[]) => names.map((name) => `/attributes/${name}`)

  test.each<[path: string, bytes: number, around?: object]>([
    ...attributes('SourceContext', 'LoggerName', 'logger', 'logger.name', 'log.logger').map(
      (path): [string, number] => [path, 4_096],
    ),
    ['/attributes/name', 4_096, { scope: 'unknown' }],
    ...attributes('event.name', 'logrecord.event.name').map((path): [string, number] => [path, 4_096]),
    ...attributes('correlationKey', 'sluice.correlation_key').map((path): [string, number] => [path, 512]),
  ])('names %s where it is too long', async (path, bytes, around) => {
    const record = { attributes: list({ [path.slice('/attributes/'.length)]: long(bytes + 1) }) }
    expect((await ofRecord(record, around)).details).toEqual(tooLong(path, bytes))
  })

  test('names its own fields, its scope and its resource where they are too long', async () => {
    const detailsOf = async (...sent: Parameters<typeof ofRecord>) => (await ofRecord(...sent)).details
    expect(await detailsOf({ eventName: long(4_097) })).toEqual(tooLong('/eventName', 4_096))
    expect(await detailsOf({ traceId: 'ab'.repeat(257) })).toEqual(tooLong('/traceId', 512, 514))
    expect(await detailsOf({}, { scope: long(4_097) })).toEqual(tooLong('/scope/name', 4_096))
    for (const [name, bytes] of [
      ['service.name', 4_096],
      ['deployment.environment.name', 256],
      ['deployment.environment', 256],
    ] as const)
      expect(await detailsOf({}, { resource: { [name]: long(bytes + 1) } })).toEqual(
        tooLong(`/resource/attributes/${name}`, bytes),
      )
  })

  test('names its time in its message', async () => {
    expect((await ofRecord({ timeUnixNano: '9999999999999999999' })).message).toMatch(
      /^timeUnixNano is not .*: "9999999999999999999"/,
    )
  })

  test('names the attribute that is nested too deeply', async () => {
    let value: unknown = { intValue: 1 }
    for (let level = 0; level < 70; level += 1) value = { kvlistValue: { values: [{ key: 'a', value }] } }
    expect((await ofRecord({ attributes: list({ flat: 'x', 'a/b': value }) })).details).toEqual([
      { path: '/attributes/a~1b', message: 'must be at most 63 levels deep' },
    ])
  })

  test.each([30_000, 300_000])('that is too large, of %d bytes, names its largest field', async (bytes) => {
    expect((await ofRecord({ attributes: list({ a: 'x', 'http.body': long(bytes) }) })).details).toMatchObject({
      limit: 20_000,
      largest: '/attributes/http.body',
    })
    expect((await ofRecord({ body: { stringValue: long(bytes) } })).details).toMatchObject({ largest: '/body' })
  })

  test('of several in a request is told by its number', async () => {
    const logRecords = [1, 20, 30, 40].map((times) => ({
      attributes: list({ correlationKey: long(100 * times) }),
      body: { stringValue: 'hello' },
    }))
    const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
    const { answer } = await refusalOf('/v1/logs', body, 'application/json')
    expect(answer).toContain('3 with invalid_request (first record 1): ')
    expect(answer).toContain('/attributes/correlationKey')
    expect(answer).not.toContain('more kinds')
  })
})

describe('the status line', () => {
  const statusText = async (path: string, headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${gateway.port}${path}`, { method: 'POST', body: '{}', headers })).statusText

  test.each(['/ingest/clef', '/ingest/json', '/v1/logs', '/api/ApplicationLogs?strict=true'])(
    'of a refusal by %s says why',
    async (path) => {
      expect(await statusText(path, { 'x-api-key': KEY, 'content-type': 'text/html' })).toMatch(/ Send application\//)
    },
  )

  test('has no more than fits, in ASCII', async () => {
    const text = await statusText(`/projects/${encodeURIComponent('Größe\n')}/ingest/json`, { 'x-api-key': KEY })
    expect(text).toMatch(/^No Project of the Team is named "Gr\?\?e\\n"\. Name /)
    expect(text).toHaveLength(256)
  })

  test('of a refusal that is answered 200 says nothing', async () => {
    expect(await statusText('/api/ApplicationLogs', { 'content-type': 'application/json' })).toBe('OK')
  })
})
