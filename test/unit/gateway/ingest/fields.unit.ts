import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exceeds, leastBytes } from '../../../../gateway/ingest/fields.ts'
import { LEVELS } from '../../../../shared/contract/levels.ts'
import * as fc from '../../../support/fast-check.ts'
import { PROJECT, type RunningGateway, startGateway } from '../../../support/gateway.ts'

const NOW = Date.UTC(2026, 0, 31, 9, 30)
const EVENT = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information' }
const APPLICATION = { uniqueIdentifier: PROJECT, categoryName: 'Acme', message: 'paid', level: 'Information' }

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway({ clock: { now: () => NOW } })
})
afterAll(() => gateway.close())

async function problemsOf(path: string, body: unknown): Promise<unknown> {
  const answer = await gateway.post(path, body)
  return answer.body.success
    ? 'accepted'
    : answer.body.error.code === 'invalid_request'
      ? answer.body.error.details
      : answer.body.error.code
}
const event = (fields: object) => problemsOf('/api/ExternalLogs', { ...EVENT, ...fields })
const application = (fields: object) => problemsOf('/api/ApplicationLogs', { ...APPLICATION, ...fields })
const stored = () => gateway.stored(-1)[0] as Readonly<Record<string, unknown>>

const tooLong = (path: string, bytes: number) => [
  { path, message: `must have at most ${bytes} bytes in UTF-8, not ${bytes + 1}` },
]
const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`)

describe('optional fields', () => {
  test('null is the same as absent, for every field', async () => {
    expect(await event({ correlationKey: null, environment: null, timestamp: null })).toBe('accepted')
    const nulled = stored()
    expect(await event({})).toBe('accepted')
    expect({ ...stored(), id: nulled['id'] }).toEqual(nulled)
    const fields = ['eventId', 'eventName', 'exception', 'scopeData', 'correlationKey', 'environment', 'timestamp']
    expect(await application(Object.fromEntries(fields.map((field) => [field, null])))).toBe('accepted')
    const without = stored()
    expect(await application({})).toBe('accepted')
    expect({ ...stored(), id: without['id'] }).toEqual(without)
  })

  test('an empty correlationKey or environment says no more than none', async () => {
    await application({ correlationKey: '', environment: '' })
    expect(stored()).toMatchObject({ correlationKey: null, environment: 'Development' })
  })

  test('unknown fields are ignored', async () => {
    expect(await event({ surprise: { deep: [1] }, LEVEL: 'nonsense' })).toBe('accepted')
    expect(stored()).not.toHaveProperty('surprise')
  })
})

describe('levels', () => {
  test('are matched in any case and stored in the spelling of the specification', async () => {
    for (const level of LEVELS)
      for (const written of [level, level.toLowerCase(), level.toUpperCase()]) {
        expect(await event({ level: written })).toBe('accepted')
        expect(stored()['level']).toBe(level)
      }
    for (const level of [' Error', 'Error ', 'Err', 'Fatal', 'None', '4', 4, null, undefined, [], {}])
      expect(await event({ level })).toBe('invalid_log_level')
  })
})

describe('timestamps', () => {
  test('are given back as the same instant in UTC, with no digit lost', async () => {
    for (const [written, kept] of [
      ['2026-01-31T10:30:00+01:00', '2026-01-31T09:30:00.000Z'],
      ['2026-01-31T09:30:00.123456789Z', '2026-01-31T09:30:00.123456789Z'],
      ['2026-01-31T09:30:00.1234567', '2026-01-31T09:30:00.1234567Z'],
      ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ]) {
      for (const send of [event, application]) {
        expect(await send({ timestamp: written })).toBe('accepted')
        expect(stored()).toMatchObject({ timestamp: kept, receivedAt: '2026-01-31T09:30:00.000Z' })
      }
    }
  })

  test('left out, they are the time of receipt', async () => {
    await application({})
    expect(stored()).toMatchObject({ timestamp: '2026-01-31T09:30:00.000Z', receivedAt: '2026-01-31T09:30:00.000Z' })
  })

  test('anything else is invalid_timestamp; what is no text is invalid_request', async () => {
    for (const timestamp of [
      '',
      'now',
      '0001-01-01T00:00:00',
      '2026-02-29',
      '1969-12-31T23:59:59Z',
      '2262-01-01',
      '1769851800',
      '20260131T093000Z',
      '2026-01-31T09:30:00.1234567891Z',
    ])
      expect(await event({ timestamp })).toBe('invalid_timestamp')
    const { error } = (await gateway.post('/api/ExternalLogs', { ...EVENT, timestamp: '1'.repeat(99) })).body
    expect(error.details).toEqual({ received: '1'.repeat(64) })
    expect(error.message).toMatch(
      /^timestamp is not .* extended .* 9 digits of a second: "1{64}"\. Send a time such as/,
    )
    expect(await event({ timestamp: 1_769_851_800 })).toEqual([
      { path: '/timestamp', message: 'must be a string, not 1769851800; send a time such as 2026-01-31T09:30:00.123Z' },
    ])
  })
})

describe('types and lengths', () => {
  test('all offenders are listed with JSON pointers', async () => {
    const fields = {
      eventId: 1.5,
      eventName: 1,
      exception: true,
      scopeData: [],
      correlationKey: {},
      environment: 7,
      timestamp: 0,
    }
    expect(await application({ ...fields, categoryName: 5, message: ['x'] })).toEqual(
      expect.arrayContaining([
        { path: '/categoryName', message: 'must be a string, not 5' },
        { path: '/eventId', message: 'must be a whole number, not 1.5' },
        { path: '/eventName', message: 'must be a string, not 1' },
        { path: '/message', message: 'must be a string, not an array; serialise it to JSON text' },
        { path: '/exception', message: 'must be a string, not true' },
        { path: '/scopeData', message: 'must be a JSON object, not an array' },
        { path: '/correlationKey', message: 'must be a string, not an object; serialise it to JSON text' },
        { path: '/environment', message: 'must be a string, not 7' },
        { path: '/timestamp', message: 'must be a string, not 0; send a time such as 2026-01-31T09:30:00.123Z' },
      ]),
    )
  })

  test.each([
    ['correlationKey', 512],
    ['environment', 256],
    ['categoryName', 4_096],
    ['eventName', 4_096],
  ])('%s has at most %i bytes in UTF-8', async (field, bytes) => {
    expect(await application({ [field]: 'x'.repeat(bytes) })).toBe('accepted')
    expect(await application({ [field]: 'é'.repeat(bytes / 2) })).toBe('accepted')
    expect(await application({ [field]: 'x'.repeat(bytes + 1) })).toEqual(tooLong(`/${field}`, bytes))
    expect(await application({ [field]: `${'é'.repeat(bytes / 2)}x` })).toEqual(tooLong(`/${field}`, bytes))
  })

  test('eventId is a whole number of 32 bits', async () => {
    for (const eventId of [0, -0, 1, 2_147_483_647, -2_147_483_648]) {
      expect(await application({ eventId })).toBe('accepted')
      expect(stored()['eventId'] === eventId).toBe(true)
    }
    for (const eventId of [2_147_483_648, -2_147_483_649])
      expect(await application({ eventId })).toEqual([
        { path: '/eventId', message: `must be a whole number of 32 bits, not ${eventId}` },
      ])
    const huge = JSON.stringify(APPLICATION).replace('{', '{"eventId":1e400,')
    expect(await problemsOf('/api/ApplicationLogs', huge)).toEqual([
      { path: '/eventId', message: 'must be a whole number, not Infinity' },
    ])
  })

  test('scopeData is at most 64 levels deep, and deeper is refused at any depth', async () => {
    expect(await application({ scopeData: nested(64) })).toBe('accepted')
    expect(stored()['scopeData']).toEqual(nested(64))
    const problem = [{ path: '/scopeData', message: 'must be at most 64 levels deep' }]
    expect(await application({ scopeData: nested(65) })).toEqual(problem)
    const deep = (text: string) => JSON.stringify(APPLICATION).replace('{', `{"scopeData":{"a":${text}},`)
    expect(await problemsOf('/api/ApplicationLogs', deep(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))).toEqual(
      problem,
    )
  })

  test('nesting of 10,000 levels is harmless in every other field', async () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
    const send = (field: string, good: object, path: string) =>
      problemsOf(path, JSON.stringify({ ...good, [field]: undefined }).replace('{', `{"${field}":${deep},`))
    for (const field of ['payload', 'correlationKey', 'environment', 'timestamp', 'uniqueIdentifier'])
      expect(await send(field, EVENT, '/api/ExternalLogs')).toHaveLength(1)
    expect(await send('level', EVENT, '/api/ExternalLogs')).toBe('invalid_log_level')
    expect(await send('other', EVENT, '/api/ExternalLogs')).toBe('accepted')
    for (const field of ['categoryName', 'message', 'eventId', 'eventName', 'exception'])
      expect(await send(field, APPLICATION, '/api/ApplicationLogs')).toHaveLength(1)
  })
})

describe('the least bytes of a value as JSON', () => {
  test.each([
    ['text', 6],
    [null, 2],
    [['a', 1, null], 9],
    [{ a: 'b' }, 9],
    [{ ab: [true], c: {} }, 17],
  ])('%j: %i', (value, bytes) => {
    expect(leastBytes(value)).toBe(bytes)
    expect([exceeds(value, bytes), exceeds(value, bytes - 1)]).toEqual([false, true])
  })

  test('are no more than it takes, with a comma after it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(leastBytes(value)).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(value)) + 1)
      }),
    )
  })
})

describe('what is accepted is kept as it was sent', () => {
  test('NUL, lone surrogates, controls and every other text', async () => {
    for (const text of [
      '\0',
      'a\0b',
      '\ud800',
      'x\udc00y',
      '\u0007\u001b[31m',
      '\u2028',
      '😀',
      '\ufeff',
      "'; drop--",
    ]) {
      expect(await event({ payload: text, correlationKey: text, environment: text })).toBe('accepted')
      expect(stored()).toMatchObject({ payload: text, correlationKey: text, environment: text })
    }
  })

  test('keys that JavaScript treats as special', async () => {
    const scope = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toJSON":1,"":2}'
    const text = JSON.stringify(APPLICATION).replace(
      '{',
      `{"__proto__":{"polluted":true},"constructor":1,"scopeData":${scope},`,
    )
    expect(await problemsOf('/api/ApplicationLogs', text)).toBe('accepted')
    expect(String(gateway.records().at(-1)?.value)).toContain(`"scopeData":${scope}`)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('numbers of scope data that JavaScript would round, in a single entry and in a batch', async () => {
    const scope = '{"orderId":9007199254740993,"big":[123456789012345678901234567890,1e400],"exact":0.10}'
    const single = JSON.stringify(APPLICATION).replace('{', `{"scopeData":${scope},`)
    expect(await problemsOf('/api/ApplicationLogs', single)).toBe('accepted')
    expect(String(gateway.records().at(-1)?.value)).toContain(`"scopeData":${scope}`)
    const entry = JSON.stringify({ ...APPLICATION, uniqueIdentifier: undefined })
    const batch = `{"uniqueIdentifier":"${PROJECT}","logEntries":[${entry},${entry.replace('{', `{"scopeData":${scope},`)}]}`
    expect(await problemsOf('/api/ApplicationLogs/batch', batch)).toBe('accepted')
    expect(String(gateway.records().at(-1)?.value)).toContain(`"scopeData":${scope}`)
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    expect(await problemsOf('/api/ApplicationLogs', single.replace('{', `{"ignored":${deep},`))).toBe('accepted')
  })

  test('any scope data, message and exception', async () => {
    const entry = fc.record({
      message: fc.string({ unit: 'binary', minLength: 1 }),
      exception: fc.string({ unit: 'binary' }),
      scopeData: fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 })),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 50 }), async (entries) => {
        const logEntries = entries.map((fields) => ({ categoryName: 'Acme', level: 'Information', ...fields }))
        const { body } = await gateway.post('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries })
        expect(body.data).toMatchObject({ count: entries.length })
        const values = gateway
          .records()
          .slice(-entries.length)
          .map(({ value }) => String(value))
        for (const [index, fields] of entries.entries())
          expect(values[index]).toContain(JSON.stringify(fields).slice(1, -1))
      }),
      { numRuns: 10 },
    )
  })
})
