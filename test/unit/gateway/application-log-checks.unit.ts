import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEYLESS_PROJECT, OTHER_KEY, PROJECT, type RunningGateway, startGateway } from '../../support/gateway.ts'

interface Sent {
  readonly headers: Record<string, string>
  readonly body: Record<string, unknown>
}
type Row = readonly [code: string, fault: (sent: Sent) => void]

const SINGLE = '/api/ApplicationLogs'
const BATCH = '/api/ApplicationLogs/batch'
const ENTRY = { categoryName: 'Acme.Billing', message: 'paid', level: 'Information' }
const UNKNOWN_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c33ff'

const inBody =
  (fields: object) =>
  ({ body }: Sent): void =>
    void Object.assign(body, fields)

/** One fault a row: the specification's table 7.2 from top to bottom. */
const PROJECT_ROWS: readonly Row[] = [
  ['missing_project_id', inBody({ uniqueIdentifier: '' })],
  ['invalid_project_id', inBody({ uniqueIdentifier: `${PROJECT}0` })],
  ['missing_api_key', ({ headers }) => void Object.assign(headers, { 'x-api-key': '' })],
  ['project_not_found', inBody({ uniqueIdentifier: UNKNOWN_PROJECT })],
  ['invalid_team_config', inBody({ uniqueIdentifier: KEYLESS_PROJECT })],
  ['invalid_api_key', ({ headers }) => void Object.assign(headers, { 'x-api-key': OTHER_KEY })],
]

/** The faults of an entry, those of our own rules among them. */
const ENTRY_FAULTS: readonly (readonly [code: string, fields: object])[] = [
  ['missing_category_name', { categoryName: null }],
  ['missing_message', { message: '' }],
  ['invalid_log_level', { level: 'Loud' }],
  ['invalid_request', { eventId: 'one' }],
  ['invalid_timestamp', { timestamp: '0001-01-01T00:00:00' }],
  ['entry_too_large', { exception: 'x'.repeat(2_000) }],
]

const SINGLE_ROWS: readonly Row[] = [
  ...PROJECT_ROWS,
  ...ENTRY_FAULTS.map(([code, fields]): Row => [code, inBody(fields)]),
]
const BATCH_ROWS: readonly Row[] = [
  ...PROJECT_ROWS,
  ['missing_log_entries', inBody({ logEntries: [] })],
  ['batch_too_large', inBody({ logEntries: [ENTRY, ENTRY, ENTRY, ENTRY] })],
  ...ENTRY_FAULTS.map(
    ([code, fields]): Row => [
      code,
      ({ body }) => void Object.assign((body['logEntries'] as object[])[0] ?? {}, fields),
    ],
  ),
]

describe.each([
  [SINGLE, SINGLE_ROWS, () => ({ uniqueIdentifier: PROJECT, ...ENTRY })],
  [BATCH, BATCH_ROWS, () => ({ uniqueIdentifier: PROJECT, logEntries: [{ ...ENTRY }] })],
])('POST %s', (path, rows, good) => {
  let gateway: RunningGateway
  const codeOf = async (faults: readonly ((sent: Sent) => void)[]): Promise<string | undefined> => {
    const sent: Sent = { headers: {}, body: good() }
    for (const fault of faults) fault(sent)
    const { status, body } = await gateway.post(path, sent.body, sent.headers)
    expect(status).toBe(200)
    return body.success ? undefined : body.error.code
  }

  beforeAll(async () => {
    gateway = await startGateway({ config: { MAX_ENTRY_BYTES: 1_024, MAX_BATCH_ENTRIES: 3 } })
  })
  afterAll(() => gateway.close())

  test('a required field in another case is named', async () => {
    for (const [name, value] of Object.entries(good())) {
      const written = name[0]?.toUpperCase() + name.slice(1)
      const { body } = await gateway.post(path, { ...good(), [name]: undefined, [written]: value })
      expect(body.error.message).toContain(
        `${name} is missing or empty: "${written}" is another name, as case matters. `,
      )
    }
  })

  test('a good request has no code', async () => {
    expect(await codeOf([])).toBeUndefined()
  })

  test.each(rows)('7.2 %s', async (code, fault) => {
    expect(await codeOf([fault])).toBe(code)
  })

  test('of two faults the earlier row of 7.2 is told', async () => {
    for (const [earlier, [code, fault]] of rows.entries()) {
      for (const [later, laterFault] of rows.slice(earlier + 1)) {
        // Where both faults are in one field, the earlier row's is put there last.
        expect([later, await codeOf([laterFault, fault])]).toEqual([later, code])
      }
    }
  })

  test('in a long body, an entry that is too large is told last as well', async () => {
    const long = ({ body }: Sent): void => {
      for (const entry of [body, ...((body['logEntries'] ?? []) as object[])])
        Object.assign(entry, { exception: 'x'.repeat(300_000) })
    }
    expect(await codeOf([long])).toBe('entry_too_large')
    for (const [code, fault] of rows.slice(-3, -1)) expect(await codeOf([long, fault])).toBe(code)
  })

  test('a Project id absent, null or empty is missing; one that is no GUID string is invalid', async () => {
    for (const uniqueIdentifier of [undefined, null, ''])
      expect(await codeOf([inBody({ uniqueIdentifier })])).toBe('missing_project_id')
    for (const uniqueIdentifier of [
      5,
      {},
      [],
      true,
      ' ',
      ` ${PROJECT}`,
      `${PROJECT}\n`,
      `(${PROJECT})`,
      'x'.repeat(36),
    ])
      expect(await codeOf([inBody({ uniqueIdentifier })])).toBe('invalid_project_id')
  })

  test('a GUID may be in any case, without dashes or in braces', async () => {
    for (const uniqueIdentifier of [PROJECT.toUpperCase(), PROJECT.replaceAll('-', ''), `{${PROJECT}}`])
      expect(await codeOf([inBody({ uniqueIdentifier })])).toBeUndefined()
    for (const entry of gateway.stored()) expect(entry).toMatchObject({ project: PROJECT })
  })

  test('a body that is JSON but no object is invalid_request', async () => {
    for (const body of ['[]', '"text"', '5', 'null']) {
      const { status, body: answer } = await gateway.post(path, body, { 'x-api-key': '' })
      expect([status, answer.error.code]).toEqual([200, 'invalid_request'])
    }
  })
})

describe('levels of application logs', () => {
  test('INVALID_LEVEL=information stores Information and keeps the original text; what is no text is still refused', async () => {
    const gateway = await startGateway({ config: { INVALID_LEVEL: 'information' } })
    const send = (level: unknown) => gateway.post(SINGLE, { uniqueIdentifier: PROJECT, ...ENTRY, level })
    expect((await send('Loud')).body.success).toBe(true)
    expect((await send('wArNiNg')).body.success).toBe(true)
    for (const level of [undefined, null, '', 3, { a: 1 }])
      expect((await send(level)).body.error.code).toBe('invalid_log_level')
    const [replaced, kept] = gateway.stored()
    expect(replaced).toMatchObject({ level: 'Information', originalLevel: 'Loud' })
    expect(kept).toMatchObject({ level: 'Warning' })
    expect(kept).not.toHaveProperty('originalLevel')
    const event = await gateway.post('/api/ExternalLogs', {
      uniqueIdentifier: 'order-placed',
      payload: 'x',
      level: 'Loud',
    })
    expect(event.body.error.code).toBe('invalid_log_level')
    await gateway.close()
  })

  test('a refused level is named, shortened', async () => {
    const gateway = await startGateway()
    const { body } = await gateway.post(SINGLE, { uniqueIdentifier: PROJECT, ...ENTRY, level: 'W'.repeat(1_000) })
    expect(body.error.details).toEqual({ received: 'W'.repeat(64) })
    expect(body.error.message).toContain('Trace, Debug, Information, Warning, Error, Critical')
    await gateway.close()
  })
})

describe('a batch at the path of one entry', () => {
  let gateway: RunningGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.close())

  test.each([
    ['missing_category_name', { uniqueIdentifier: PROJECT, logEntries: [ENTRY] }],
    ['invalid_request', [ENTRY]],
  ])('is %s, and told where it belongs', async (code, body) => {
    const { error } = (await gateway.post(SINGLE, body)).body
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(`to ${BATCH}.`)])
  })
})
