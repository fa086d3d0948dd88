import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as fc from '../../../support/fast-check.ts'
import {
  CHECKOUT,
  type ForeignGateway,
  foreignRegistry,
  KEY,
  LONE,
  LONE_KEY,
  STOCK,
  startForeignGateway,
} from '../../../support/foreign-gateway.ts'
import { startGateway } from '../../../support/gateway.ts'

const PATH = '/ingest/json'
const ENTRY = { level: 'info', msg: 'hello', a: 1 }

let gateway: ForeignGateway

beforeAll(async () => {
  gateway = await startForeignGateway()
})
afterAll(() => gateway.close())

const post = (body: string | Uint8Array, headers: Record<string, string> = {}, path = PATH) =>
  gateway.post(path, body, { 'x-api-key': KEY, 'x-project-id': CHECKOUT, ...headers })
const stored = (from?: number) => gateway.stored(from)
const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent)

describe('a body', () => {
  test.each<[string, string, number]>([
    ['one object', json(ENTRY), 1],
    ['one object over several lines', json({ ...ENTRY, log: { level: 'x' } }, 2), 1],
    ['lines', `${json(ENTRY)}\r\n\n \t\n${json(ENTRY)}\n`, 2],
    ['an array', json([ENTRY, ENTRY, ENTRY]), 3],
    ['an array over several lines', ` \n${json([ENTRY, ENTRY], 2)}\n`, 2],
    ['a list in an object', json({ events: [ENTRY, ENTRY] }), 2],
    ['a list in an object over several lines', json({ Events: [ENTRY] }, 4), 1],
    ['an object with a list of its own', json({ msg: 'x', events: [1, 2] }), 1],
    ['nothing in a list', '[]', 0],
  ])('of %s is taken', async (_form, body, count) => {
    for (const type of ['application/json', 'application/x-ndjson', 'text/plain; charset=utf-8', '']) {
      const before = gateway.records().length
      const answer = await post(Buffer.from(body), { 'content-type': type })
      expect(answer).toMatchObject({ status: 200, body: { success: true, data: { count } } })
      expect(gateway.records().length - before).toBe(count)
    }
  })

  test.each([
    ['application/ecs+json', ''],
    ['application/x-www-form-urlencoded', ''],
    ['application/json', 'gzip'],
  ])('is taken as %s %s', async (type, coding) => {
    const body = coding === 'gzip' ? gzipSync(json(ENTRY)) : Buffer.from(json(ENTRY))
    expect((await post(body, { 'content-type': type, 'content-encoding': coding })).status).toBe(200)
  })

  test.each<[string, string | Uint8Array, Record<string, string>, number, string]>([
    ['empty', Buffer.from(''), {}, 400, 'malformed_json'],
    ['blank', ' \n\t\n', {}, 400, 'malformed_json'],
    ['a list that is cut off', '[{"msg":"x"},', {}, 400, 'malformed_json'],
    ['an object over several lines that lacks a comma', '{\n  "msg": "x"\n  "level": 30\n}', {}, 400, 'malformed_json'],
    ['several objects over several lines', '{\n  "msg": "x"\n}\n{\n  "msg": "y"\n}', {}, 400, 'malformed_json'],
    ['no UTF-8', Buffer.from([0x7b, 0xff]), {}, 400, 'malformed_json'],
    ['of another type', '{}', { 'content-type': 'application/msgpack' }, 415, 'unsupported_media_type'],
    ['in another charset', '{}', { 'content-type': 'text/plain; charset=latin1' }, 415, 'unsupported_media_type'],
    ['too many entries', `[${'{},'.repeat(10_000)}{}]`, {}, 413, 'batch_too_large'],
  ])('that is %s is refused as a whole', async (_name, body, headers, status, code) => {
    const answer = await post(body, headers)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })
})

describe('an entry that is refused', () => {
  test('is told by its line, and does not hold up the others', async () => {
    gateway.noted.length = 0
    const before = gateway.records().length
    const lines = [
      json(ENTRY),
      '',
      'Listening on 8080',
      '{"msg":"cut',
      '5',
      '{"level":30}',
      '{"msg":"x","level":"loud"}',
    ]
    const { status, body } = await post([...lines, json(ENTRY)].join('\n'))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      data: {
        count: 2,
        rejected: 5,
        errors: [
          { index: 1, code: 'malformed_json', message: expect.stringContaining('Line 3'), details: { line: 3 } },
          { index: 2, code: 'malformed_json', message: expect.stringContaining('Line 4') },
          { index: 3, code: 'invalid_request' },
          { index: 4, code: 'missing_message', message: expect.stringContaining('Send message, msg or log') },
          { index: 5, code: 'invalid_log_level' },
        ],
      },
    })
    expect(gateway.records().length - before).toBe(2)
    expect(gateway.noted.map(({ endpoint, index, body: sent }) => [endpoint, index, sent])).toEqual([
      [PATH, 1, '"Listening on 8080"'],
      [PATH, 2, '"{\\"msg\\":\\"cut"'],
      [PATH, 3, '"5"'],
      [PATH, 4, '{"level":30}'],
      [PATH, 5, '{"msg":"x","level":"loud"}'],
    ])
  })

  test('may be a line that begins like JSON, and be the first', async () => {
    for (const junk of [
      '[INFO] starting',
      '[2026-11-21 17:20] starting',
      '{starting',
      '[1',
      '[]]',
      '["a"]',
      '{"msg":"cut',
    ])
      expect(await post(`${junk}\n${json(ENTRY)}\n${json(ENTRY)}`)).toMatchObject({
        status: 200,
        body: { data: { count: 2, rejected: 1, errors: [{ index: 0 }] } },
      })
  })

  test('is 200 in a list, also where it was the only one, and 422 where it was sent alone', async () => {
    for (const body of ['[{"level":30}]', '{"events":[5]}', 'x\ny'])
      expect(await post(body)).toMatchObject({ status: 200, body: { success: false, error: { retryable: false } } })
    for (const body of ['{"level":30}', 'Listening on 8080', '5', '{"msg":"x","level":"loud"}', '{"a":'])
      expect(await post(body)).toMatchObject({ status: 422, body: { success: false, error: { retryable: false } } })
  })

  test('is not sent again with others of which the journal did not confirm some: these are 503, in every form', async () => {
    gateway.journal.fail('not_written')
    const answers = []
    for (const body of [json(ENTRY), json([ENTRY, 5]), `${json(ENTRY)}\nx`]) answers.push(await post(body))
    gateway.journal.fail(null)
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('retry-after'), body.error.retryable]).toEqual([503, '1', true])
    }
  })
})

describe('the Project', () => {
  test.each([
    [{ 'x-project-id': STOCK }, '', STOCK],
    [{ 'x-project-id': '' }, '?project=stock', STOCK],
    [{ 'x-project-id': '', 'x-api-key': LONE_KEY }, '', LONE],
    [{ 'x-project-id': '', 'x-api-key': '', 'x-seq-apikey': LONE_KEY }, '', LONE],
    [{ 'x-project-id': '', 'x-api-key': '', authorization: `Bearer ${LONE_KEY}` }, '', LONE],
  ])('is the one that is named, or the only one: %j%s', async (headers, query, project) => {
    expect((await post('{"msg":"x","service":"Checkout API"}', headers, PATH + query)).status).toBe(200)
    expect(stored(-1)[0]).toMatchObject({ project, scopeData: { service: 'Checkout API' } })
  })

  test('has to be named where there are several', async () => {
    expect(await post('{"msg":"x"}', { 'x-project-id': '' })).toMatchObject({
      status: 400,
      body: { error: { code: 'missing_project_id', message: expect.stringContaining('?project=') } },
    })
    expect((await post('{"msg":"x"}', { 'x-api-key': '' })).status).toBe(401)
    expect((await post('{"msg":"x"}', { 'x-api-key': 'nobody' })).status).toBe(403)
  })
})

describe('a level that names none', () => {
  test('is kept beside Information where the operator wants that', async () => {
    const lenient = await startGateway({ registry: foreignRegistry, config: { INVALID_LEVEL: 'information' } })
    const answer = await lenient.post(PATH, '{"msg":"x","level":"loud"}', { 'x-api-key': LONE_KEY })
    expect(answer.status).toBe(200)
    expect(lenient.stored()).toMatchObject([{ level: 'Information', originalLevel: 'loud' }])
    await lenient.close()
  })

  test('is no level where it is a priority', async () => {
    expect((await post('{"msg":"x","priority":"high"}')).status).toBe(200)
    expect(stored(-1)[0]).toMatchObject({ level: 'Information', scopeData: { priority: 'high' } })
  })
})

describe('whatever is sent', () => {
  const NAMES = ['msg', 'message', 'MESSAGE', 'level', 'time', 'ts', 'err', 'error', 'stack', 'log', 'trace_id', 'name']
  const name = fc.oneof(
    fc.constantFrom(...NAMES, 'hostname', 'scopeData', '__proto__', '@t', 'Events', 'x'),
    fc.string(),
  )
  const value = fc.oneof(
    fc.constantFrom<unknown>('x', '', 'info', 30, 1795281613, 2 ** 60, 1e300, null, true, [], {}, '\0', '\ud800'),
    fc.dictionary(fc.constantFrom('type', 'message', 'stack', 'cause', 'level', 'name', 'id'), fc.jsonValue()),
    fc.jsonValue({ maxDepth: 3 }),
  )
  const entry = fc.dictionary(name, value)

  test('is answered, and accepted and rejected are together what was sent', async () => {
    const anything = fc.oneof({ weight: 4, arbitrary: entry }, fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 6 }), async (entries) => {
        const before = gateway.records().length
        const { status, body } = await post(json([{ msg: 'first' }, ...entries]))
        expect([status, body.success]).toEqual([200, true])
        const accepted = gateway.records().length - before
        expect(body.data['count']).toBe(accepted)
        expect(accepted + Number(body.data['rejected'] ?? 0)).toBe(entries.length + 1)
      }),
      { numRuns: 200 },
    )
  })

  test('becomes the same entries as lines, as an array, in an object, and one by one', async () => {
    const strip = ({ id: _id, receivedAt, timestamp, ...rest }: Record<string, unknown>) => ({
      ...rest,
      timestamp: timestamp === receivedAt ? 'of receipt' : timestamp,
    })
    // One that has a list of events, sent alone, is these events.
    const single = entry.filter(({ Events }) => !Array.isArray(Events))
    await fc.assert(
      fc.asyncProperty(fc.array(single, { minLength: 2, maxLength: 4 }), async (entries) => {
        const results: unknown[] = []
        const forms = [
          [entries.map((one) => json(one)).join('\n')],
          [json(entries)],
          [json(entries, 1)],
          [json({ events: entries })],
          entries.map((one) => json(one, 1)),
        ]
        for (const bodies of forms) {
          const before = gateway.records().length
          for (const body of bodies) expect([200, 422]).toContain((await post(body)).status)
          // Entries with a key and without one take turns in an order of their own.
          results.push(
            stored(before)
              .map((one) => json(strip(one)))
              .sort(),
          )
        }
        for (const result of results) expect(result).toEqual(results[0])
      }),
      { numRuns: 100 },
    )
  })

  test('any bytes are answered with the envelope', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 })
    const start = fc.constantFrom('', '{', '[', '{"events":[', '{"msg":"x"}\n')
    await fc.assert(
      fc.asyncProperty(start, bytes, async (text, body) => {
        const answer = await post(Buffer.concat([Buffer.from(text), body]))
        expect([200, 400, 422]).toContain(answer.status)
        expect(typeof answer.body.success).toBe('boolean')
      }),
      { numRuns: 100 },
    )
  })
})

test('a body that is no JSON is told all that the path takes', async () => {
  for (const body of ['{"msg":"x"', '[{"msg":"x"}', ' '])
    expect((await post(body)).body.error.message).toContain('one object, or a list or lines of objects')
})

describe('hostile bodies', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

  test.each<[string, () => string, number, string]>([
    ['1,000,000 empty lines', () => '\n'.repeat(1_000_000), 400, 'malformed_json'],
    ['a line after 1,000,000 empty ones', () => `${'\n'.repeat(1_000_000)}x`, 422, 'malformed_json'],
    ['an array of 1,000,000 nulls', () => `[${'null,'.repeat(999_999)}null]`, 413, 'batch_too_large'],
    ['an array of more values than a body may have', () => `[${'1,'.repeat(1_000_001)}1]`, 413, 'payload_too_large'],
    ['lists in lists without end', () => '{"Events":'.repeat(100_000), 422, 'invalid_request'],
    ['arrays in arrays', () => deep(100_000), 200, 'invalid_request'],
    ['long arrays in arrays', () => deep(200_000), 400, 'invalid_request'],
    ['an entry that is nested deep', () => `{"msg":"x","a":${deep(100_000)}}`, 422, 'invalid_request'],
    ['causes of causes', () => `{"err":${'{"cause":'.repeat(70)}1${'}'.repeat(70)}}`, 422, 'invalid_request'],
    ['one line of 4 MB', () => `{"msg":"${'x'.repeat(4_000_000)}"}`, 422, 'entry_too_large'],
    ['many names', () => `{${Array.from({ length: 100_001 }, (_, i) => `"n${i}":1`).join()}}`, 422, 'invalid_request'],
    ['an entry of names alone, too long', () => json({ x: 'y'.repeat(1_100_000) }), 422, 'entry_too_large'],
  ])('%s', async (_name, make, status, code) => {
    const before = gateway.records().length
    const answer = await post(make())
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(gateway.records().length).toBe(before)
  })

  test('one line of 20 MB, compressed', async () => {
    const line = gzipSync(`{"msg":"${'x'.repeat(19_900_000)}"}`)
    const answer = await post(line, { 'content-encoding': 'gzip' })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'entry_too_large'])
  })

  test('20 MB of empty lines, compressed, between two entries', async () => {
    const body = gzipSync(`{"msg":"a"}${'\n'.repeat(19_900_000)}{"msg":"b"}`)
    expect(await post(body, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
      body: { data: { count: 2 } },
    })
  })

  test('all names of a message at once: the preferred one is it, the others are kept', async () => {
    const names = ['text', 'msg', 'MESSAGE', 'Message', 'log', 'body', 'short_message', 'formatted_message']
    const sent = Object.fromEntries(names.map((one) => [one, one]))
    expect((await post(json(sent))).status).toBe(200)
    const { formatted_message, ...rest } = sent
    expect(stored(-1)[0]).toMatchObject({ message: formatted_message, scopeData: rest })
  })

  test('names that JavaScript has', async () => {
    expect(
      (await post('{"msg":"x","__proto__":{"level":"loud"},"constructor":1,"error":{"__proto__":1}}')).status,
    ).toBe(200)
    expect(String(gateway.records().at(-1)?.value)).toContain(
      '"scopeData":{"__proto__":{"level":"loud"},"constructor":1,"error":{"__proto__":1}}',
    )
  })

  test('every digit is kept', async () => {
    expect(
      (await post('[{"msg":"x","order":{"id":9007199254740993,"err":{"message":12345678901234567890}}}]')).status,
    ).toBe(200)
    expect(String(gateway.records().at(-1)?.value)).toContain(
      '{"id":9007199254740993,"err":{"message":12345678901234567890}}',
    )
    expect((await post('{"msg":"x","scopeData":12345678901234567890}')).status).toBe(200)
    expect(String(gateway.records().at(-1)?.value)).toContain('"scopeData":{"scopeData":12345678901234567890}')
    expect((await post('{"msg":9007199254740993}')).status).toBe(200)
    expect(stored(-1)[0]).toMatchObject({ message: '9007199254740993' })
  })
})

test('the same lines under one Idempotency-Key are a repeat, for the same Project', async () => {
  const idOf = async (project: string) => {
    await post(json(ENTRY), { 'x-project-id': project, 'idempotency-key': 'retry' })
    return stored(-1)[0]?.['id']
  }
  const first = await idOf(CHECKOUT)
  expect(await idOf(STOCK)).not.toBe(first)
  expect(await idOf('checkout api')).toBe(first)
})
