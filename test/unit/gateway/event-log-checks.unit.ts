import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OTHER_KEY, type RunningGateway, startGateway } from '../../support/gateway.ts'

interface Sent {
  readonly headers: Record<string, string>
  readonly body: Record<string, unknown>
}

const PATH = '/api/ExternalLogs'
const GOOD = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information' }

/** One fault a row: the specification's table 7.1 from top to bottom, then ours. */
const ROWS: readonly (readonly [code: string, fault: (sent: Sent) => void])[] = [
  ['missing_api_key', ({ headers }) => Object.assign(headers, { 'x-api-key': '' })],
  ['missing_identifier', ({ body }) => Object.assign(body, { uniqueIdentifier: '' })],
  ['missing_payload', ({ body }) => Object.assign(body, { payload: null })],
  ['invalid_log_level', ({ body }) => Object.assign(body, { level: 'Loud' })],
  ['entity_not_found', ({ body }) => Object.assign(body, { uniqueIdentifier: 'nowhere' })],
  ['team_not_found', ({ body }) => Object.assign(body, { uniqueIdentifier: 'orphan' })],
  ['invalid_api_key', ({ headers }) => Object.assign(headers, { 'x-api-key': OTHER_KEY })],
  ['invalid_request', ({ body }) => Object.assign(body, { environment: 7 })],
  ['invalid_timestamp', ({ body }) => Object.assign(body, { timestamp: '2026-02-30T00:00:00Z' })],
  ['entry_too_large', ({ body }) => Object.assign(body, { payload: 'x'.repeat(2_000) })],
]

describe('POST /api/ExternalLogs', () => {
  let gateway: RunningGateway
  const codeOf = async (faults: readonly ((sent: Sent) => void)[]): Promise<string | undefined> => {
    const sent: Sent = { headers: {}, body: { ...GOOD } }
    for (const fault of faults) fault(sent)
    const { status, body } = await gateway.post(PATH, sent.body, sent.headers)
    expect(status).toBe(200)
    return body.success ? undefined : body.error.code
  }

  beforeAll(async () => {
    gateway = await startGateway({ config: { MAX_ENTRY_BYTES: 1_024 } })
  })
  afterAll(() => gateway.close())

  test('answers the id of the created entry', async () => {
    const { status, body } = await gateway.post(PATH, GOOD)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: { id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) },
    })
    expect(gateway.records().at(-1)?.headers['ce_id']).toBe(body.data['id'])
  })

  test.each(ROWS)('7.1 %s', async (code, fault) => {
    expect(await codeOf([fault])).toBe(code)
  })

  test('of two faults the earlier row of 7.1 is told', async () => {
    for (const [earlier, [code, fault]] of ROWS.entries()) {
      // Where both faults are in one field, the earlier row's is put there last.
      for (const [later, laterFault] of ROWS.slice(earlier + 1)) {
        expect([later, await codeOf([laterFault, fault])]).toEqual([later, code])
      }
    }
  })

  test('in a long body, a payload that is too large is told last as well', async () => {
    const long = ({ body }: Sent) => Object.assign(body, { payload: 'x'.repeat(300_000) })
    expect(await codeOf([long])).toBe('entry_too_large')
    for (const [code, fault] of ROWS.slice(-3, -1)) expect(await codeOf([long, fault])).toBe(code)
  })

  test.each([
    ['uniqueIdentifier', 'missing_identifier'],
    ['payload', 'missing_payload'],
    ['level', 'invalid_log_level'],
  ])('%s absent, null or empty is missing', async (field, code) => {
    for (const value of [undefined, null, ''])
      expect(await codeOf([({ body }) => Object.assign(body, { [field]: value })])).toBe(code)
  })

  test('a string of blanks is not missing', async () => {
    expect(await codeOf([({ body }) => Object.assign(body, { payload: '  ' })])).toBeUndefined()
    expect(await codeOf([({ body }) => Object.assign(body, { uniqueIdentifier: ' ' })])).toBe('entity_not_found')
  })

  test('an identifier that is no string is invalid_request in the place of entity_not_found', async () => {
    const identifier = ({ body }: Sent) => Object.assign(body, { uniqueIdentifier: 5, environment: [] })
    const level = ({ body }: Sent) => Object.assign(body, { level: 'Loud' })
    const key = ({ headers }: Sent) => Object.assign(headers, { 'x-api-key': OTHER_KEY })
    expect(await codeOf([identifier, level])).toBe('invalid_log_level')
    expect(await codeOf([identifier, key])).toBe('invalid_request')
    const { body } = await gateway.post(PATH, { ...GOOD, uniqueIdentifier: 5, environment: [] })
    expect(body.error.details).toEqual([
      { path: '/uniqueIdentifier', message: 'must be a string, not 5' },
      { path: '/environment', message: 'must be a string, not an array; serialise it to JSON text' },
    ])
  })

  test('identifiers are exact: case and blanks count', async () => {
    for (const uniqueIdentifier of ['Order-Placed', ' order-placed', 'order-placed '])
      expect(await codeOf([({ body }) => Object.assign(body, { uniqueIdentifier })])).toBe('entity_not_found')
  })

  test('an Event whose Team has no key is invalid_api_key, and the message asks for none that does not exist', async () => {
    const { body } = await gateway.post(PATH, { ...GOOD, uniqueIdentifier: 'keyless' })
    expect([body.error.code, body.error.message]).toEqual([
      'invalid_api_key',
      'The Team of this Event or Step has no key configured. An operator has to issue a key: `sluice registry rotate-key TEAM`.',
    ])
  })

  test('a field in another case is missing, and the message names it', async () => {
    const [identifier, level] = [
      { ...GOOD, uniqueIdentifier: undefined, UniqueIdentifier: 'order-placed' },
      { ...GOOD, level: '', Level: 'Error' },
    ].map(async (sent) => (await gateway.post(PATH, sent)).body.error.message)
    expect(await identifier).toBe(
      'uniqueIdentifier is missing or empty: "UniqueIdentifier" is another name, as case matters. Send the identifier of an Event or a Step.',
    )
    expect(await level).toMatch(/^level is missing or empty: "Level" is another name, as case matters\. Send one of /)
  })

  test('the key may come as Authorization: Bearer', async () => {
    const headers = { 'x-api-key': '', authorization: `Bearer ${OTHER_KEY}` }
    expect(await codeOf([(sent) => Object.assign(sent.headers, headers)])).toBe('invalid_api_key')
    headers.authorization = 'bearer key-of-payments-0123456789abcdef'
    expect(await codeOf([(sent) => Object.assign(sent.headers, headers)])).toBeUndefined()
    headers.authorization = 'Basic abc'
    expect(await codeOf([(sent) => Object.assign(sent.headers, headers)])).toBe('missing_api_key')
  })

  test('a body that is JSON but no object is invalid_request, after missing_api_key', async () => {
    for (const body of ['"text"', '5', 'null', 'true']) {
      const { status, body: answer } = await gateway.post(PATH, body)
      expect([status, answer.error.code]).toEqual([200, 'invalid_request'])
      expect(answer.error.details).toEqual([{ path: '', message: 'must be a JSON object' }])
      expect((await gateway.post(PATH, body, { 'x-api-key': '' })).body.error.code).toBe('missing_api_key')
    }
  })

  test('a list of event logs is told that each is a request of its own', async () => {
    const { body } = await gateway.post(PATH, [GOOD])
    expect([body.error.code, body.error.message]).toEqual([
      'invalid_request',
      'Correct what cannot be accepted: it must be a JSON object, not a list: send each event log in a request.',
    ])
  })

  test('a payload that is an object is told to be serialised', async () => {
    const { body } = await gateway.post(PATH, { ...GOOD, payload: { paid: true } })
    expect(body.error).toEqual({
      code: 'invalid_request',
      message: expect.any(String),
      details: [{ path: '/payload', message: 'must be a string, not an object; serialise it to JSON text' }],
      retryable: false,
    })
  })

  test('an entry is measured as its record in UTF-8: exactly the limit is taken, a byte more is not', async () => {
    await gateway.post(PATH, { ...GOOD, payload: 'é' })
    const bytesOfOne = Buffer.byteLength(String(gateway.records().at(-1)?.value))
    const fits = 'é'.repeat((1_024 - bytesOfOne) / 2 + 1) + 'x'.repeat((1_024 - bytesOfOne) % 2)
    expect(await codeOf([({ body }) => Object.assign(body, { payload: fits })])).toBeUndefined()
    expect(Buffer.byteLength(String(gateway.records().at(-1)?.value))).toBe(1_024)
    expect(await codeOf([({ body }) => Object.assign(body, { payload: `${fits}x` })])).toBe('entry_too_large')
    const ascii = 'x'.repeat(Buffer.byteLength(fits))
    expect(await codeOf([({ body }) => Object.assign(body, { payload: ascii })])).toBeUndefined()
    expect(await codeOf([({ body }) => Object.assign(body, { payload: `${ascii}x` })])).toBe('entry_too_large')
  })

  test('an entry that is too large names no field that is not in its record', async () => {
    const { body } = await gateway.post(PATH, { ignored: 'y'.repeat(5_000), ...GOOD, payload: 'x'.repeat(2_000) })
    expect([body.error.code, body.error.details]).toMatchObject(['entry_too_large', { largest: '/payload' }])
  })

  test('an entry that is too large says its size and the limit', async () => {
    const { body } = await gateway.post(PATH, { ...GOOD, payload: 'x'.repeat(2_000) })
    expect(body.error.details).toEqual({ bytes: expect.any(Number), limit: 1_024, largest: '/payload' })
    expect((body.error.details as { bytes: number }).bytes).toBeGreaterThan(2_000)
  })
})
