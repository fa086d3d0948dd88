import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEYLESS_PROJECT, OTHER_KEY, PROJECT, type RunningGateway, startGateway } from '../../support/gateway.ts'

const EVENT = { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information' }
const ENTRY = { categoryName: 'Acme', message: 'paid', level: 'Error' }
const APPLICATION = { uniqueIdentifier: PROJECT, ...ENTRY }
const batch = (...logEntries: object[]) => ({ uniqueIdentifier: PROJECT, logEntries })
const EVENTS = '/api/ExternalLogs'
const APPLICATIONS = '/api/ApplicationLogs'
const BATCH = '/api/ApplicationLogs/batch'

describe('X-Strict-Status: true', () => {
  let gateway: RunningGateway
  beforeAll(async () => {
    gateway = await startGateway({ config: { MAX_BATCH_ENTRIES: 3, MAX_ENTRY_BYTES: 1_024 } })
  })
  afterAll(() => gateway.close())

  test.each([
    [200, 'accepted', EVENTS, EVENT, {}],
    [400, 'missing_identifier', EVENTS, { ...EVENT, uniqueIdentifier: '' }, {}],
    [400, 'missing_payload', EVENTS, { ...EVENT, payload: '' }, {}],
    [400, 'invalid_log_level', EVENTS, { ...EVENT, level: '' }, {}],
    [400, 'invalid_request', EVENTS, { ...EVENT, environment: 1 }, {}],
    [400, 'invalid_timestamp', EVENTS, { ...EVENT, timestamp: 'x' }, {}],
    [401, 'missing_api_key', EVENTS, EVENT, { 'x-api-key': '' }],
    [403, 'invalid_api_key', EVENTS, EVENT, { 'x-api-key': OTHER_KEY }],
    [404, 'entity_not_found', EVENTS, { ...EVENT, uniqueIdentifier: 'x' }, {}],
    [500, 'team_not_found', EVENTS, { ...EVENT, uniqueIdentifier: 'orphan' }, {}],
    [413, 'entry_too_large', EVENTS, { ...EVENT, payload: 'x'.repeat(2_000) }, {}],
    [400, 'missing_project_id', APPLICATIONS, { ...APPLICATION, uniqueIdentifier: '' }, {}],
    [400, 'invalid_project_id', APPLICATIONS, { ...APPLICATION, uniqueIdentifier: 'x' }, {}],
    [400, 'missing_category_name', APPLICATIONS, { ...APPLICATION, categoryName: '' }, {}],
    [400, 'missing_message', APPLICATIONS, { ...APPLICATION, message: '' }, {}],
    [403, 'invalid_team_config', APPLICATIONS, { ...APPLICATION, uniqueIdentifier: KEYLESS_PROJECT }, {}],
    [404, 'project_not_found', APPLICATIONS, { ...APPLICATION, uniqueIdentifier: PROJECT.replace('3', '4') }, {}],
    [400, 'missing_log_entries', BATCH, batch(), {}],
    [413, 'batch_too_large', BATCH, batch(ENTRY, ENTRY, ENTRY, ENTRY), {}],
    [200, 'accepted', BATCH, batch(ENTRY, ENTRY), {}],
    [207, 'accepted', BATCH, batch(ENTRY, { ...ENTRY, level: 'x' }), {}],
    [400, 'missing_message', BATCH, batch({ ...ENTRY, message: '' }, { ...ENTRY, level: 'x' }), {}],
  ])('%i for %s at %s', async (status, code, path, sent, headers) => {
    const loose = await gateway.post(path, sent, headers)
    expect(loose.status).toBe(200)
    for (const value of ['true', 'TRUE']) {
      const strict = await gateway.post(path, sent, { ...headers, 'x-strict-status': value })
      expect([strict.status, strict.body.success ? 'accepted' : strict.body.error.code]).toEqual([status, code])
      // The bodies are the same, but for the id of an entry that was created.
      if (strict.body.data?.['id'] === undefined) expect(strict.body).toEqual(loose.body)
    }
    for (const value of ['false', '1', 'yes'])
      expect((await gateway.post(path, sent, { ...headers, 'x-strict-status': value })).status).toBe(200)
  })

  test('503 for server_error, also in a batch whose first entry is refused for another reason', async () => {
    gateway.journal.fail('not_written')
    const { status, headers } = await gateway.post(EVENTS, EVENT, { 'x-strict-status': 'true' })
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    const mixed = batch({ ...ENTRY, level: 'x' }, ENTRY)
    const { body, ...answer } = await gateway.post(BATCH, mixed, { 'x-strict-status': 'true' })
    expect([answer.status, answer.headers.get('retry-after'), body.error.code]).toEqual([503, '1', 'invalid_log_level'])
    gateway.journal.fail(null)
  })
})

describe('strict=true in the address', () => {
  test.each([
    ['?strict=true', {}, 400],
    ['?a=b&strict=TRUE', {}, 400],
    ['?strict=false', {}, 200],
    ['?strict', {}, 200],
    ['?strict=true', { 'x-strict-status': 'false' }, 200],
  ])('%s with the headers %j gives %s', async (query, headers, status) => {
    const gateway = await startGateway()
    expect((await gateway.post(EVENTS + query, { ...EVENT, level: '' }, headers)).status).toBe(status)
    expect((await gateway.post(EVENTS + query, EVENT, headers)).status).toBe(200)
    await gateway.close()
  })
})
