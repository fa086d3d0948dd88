import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ReadNotBegunError } from '../../../shared/log-store/log-store.ts'
import { eventLog, KEY_A, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const PATHS = [
  '/api/event-logs',
  '/api/event-logs/histogram',
  '/api/event-logs/facets',
  '/api/event-logs/groups',
  '/api/event-logs/series',
  '/api/event-logs/absence',
  '/api/event-logs/tail',
  '/api/event-logs/export',
  '/api/event-logs/01981f2e-7c1a-7000-8000-9a3c5b7d1e42',
  '/api/event-logs/01981f2e-7c1a-7000-8000-9a3c5b7d1e42/context',
  '/api/application-logs',
  '/api/application-logs/export',
  '/api/flows',
  '/api/flows/k',
  '/api/flows/k/tail',
  '/api/flows/k/export',
]

describe('the key', () => {
  test.each(PATHS)('is asked for at %s', async (path) => {
    const missing = await views.get(path, {})
    expect(missing).toMatchObject({ status: 401, success: false, error: { code: 'missing_api_key', retryable: false } })
    expect(missing.headers.get('www-authenticate')).toBe('Bearer realm="sluice"')
    expect(await views.get(path, { 'x-api-key': '' })).toMatchObject({ error: { code: 'missing_api_key' } })
    const wrong = await views.get(path, { 'x-api-key': 'wrong' })
    expect(wrong).toMatchObject({ status: 401, success: false, error: { code: 'invalid_api_key', details: null } })
    expect(views.store.calls).toEqual([])
  })

  test('may be a bearer token', async () => {
    expect(await views.get('/api/event-logs', { authorization: `Bearer ${KEY_A}` })).toMatchObject({ status: 200 })
  })

  test('counts before a session, and a session counts where there is no key', async () => {
    await views.close()
    views = await startViews({ teamOfSession: ({ cookie }) => (cookie === 's=b' ? 'b' : undefined) })
    views.store.add(eventLog({ team: 'b', payload: 'of b' }))
    const cookie = 's=b'
    expect((await views.get('/api/event-logs', { cookie })).data).toMatchObject({ items: [{ payload: 'of b' }] })
    expect((await views.get('/api/event-logs', { cookie, 'x-api-key': KEY_A })).data).toMatchObject({ items: [] })
    expect(await views.get('/api/event-logs', { cookie, 'x-api-key': 'wrong' })).toMatchObject({ status: 401 })
    const unknown = await views.get('/api/event-logs', { cookie: 's=x' })
    expect(unknown).toMatchObject({ error: { code: 'missing_api_key' } })
  })

  test('of a session whose Team is gone opens nothing', async () => {
    await views.close()
    views = await startViews({ teamOfSession: () => 'gone' })
    expect(await views.get('/api/event-logs', {})).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } })
  })
})

describe('invalid_request names the parameter', () => {
  test.each([
    ['/api/event-logs?limit=0', 'limit', 'must be a whole number from 1 to 1000'],
    ['/api/event-logs?limit=1001', 'limit', 'must be a whole number from 1 to 1000'],
    ['/api/event-logs?limit=1e2', 'limit', 'must be a whole number from 1 to 1000'],
    ['/api/event-logs?limit=-1', 'limit', 'must be a whole number from 1 to 1000'],
    ['/api/event-logs?limit=5&limit=6', 'limit', 'is given more than once'],
    ['/api/event-logs?q=a&q=b', 'q', 'is given more than once'],
    ['/api/event-logs?level=Loud', 'level', expect.stringContaining('Trace, Debug')],
    ['/api/event-logs?from=yesterday', 'from', expect.stringContaining('ISO 8601')],
    ['/api/event-logs?to=2026-02-30', 'to', expect.stringContaining('ISO 8601')],
    ['/api/event-logs?from=2026-01-01T00:00:00+02:00', 'from', expect.stringContaining('%2B')],
    ['/api/event-logs?from=now&to=now-1h', 'to', expect.stringContaining('later than from')],
    ['/api/event-logs?order=up', 'order', 'must be desc or asc'],
    ['/api/event-logs?cursor=garbage', 'cursor', expect.stringContaining('nextCursor')],
    ['/api/event-logs?cursor=%00%7f', 'cursor', expect.stringContaining('nextCursor')],
    ['/api/event-logs?project=42', 'project', expect.stringContaining('GUID')],
    ['/api/event-logs?levle=Error', 'levle', expect.stringContaining('this path takes q, level')],
    ['/api/event-logs?limit=5&environment=Pr%FCf', 'environment', 'must be percent-encoded UTF-8'],
    ['/api/event-logs?%ff=x', '\ufffd', 'must be percent-encoded UTF-8'],
    ['/api/event-logs?__proto__=x', '__proto__', expect.stringContaining('is not a parameter')],
    ['/api/event-logs?constructor=x', 'constructor', expect.stringContaining('is not a parameter')],
    ['/api/event-logs/histogram?buckets=0', 'buckets', 'must be a whole number from 1 to 1000'],
    ['/api/event-logs/histogram?limit=5', 'limit', expect.stringContaining('is not a parameter')],
    ['/api/event-logs/facets?values=101', 'values', 'must be a whole number from 1 to 100'],
    ['/api/event-logs/tail?from=now', 'from', expect.stringContaining('is not a parameter')],
    ['/api/event-logs/tail?lastEventId=garbage', 'lastEventId', expect.stringContaining('id of an event')],
    ['/api/event-logs/export?format=xml', 'format', 'must be ndjson or csv, or svg for a flow'],
    [
      '/api/event-logs?from=2026-02-01T11:00:00Z&to=2026-02-01T11:00:00Z',
      'to',
      'must be later than from (2026-02-01T11:00:00.000Z)',
    ],
    ['/api/application-logs/export?format=svg', 'format', 'must be ndjson or csv, or svg for a flow'],
    ['/api/event-logs/x?limit=5', 'limit', 'is not a parameter; this path takes none'],
    ['/api/event-logs/x/context?before=101', 'before', 'must be a whole number from 0 to 100'],
    ['/api/flows?cursor=garbage', 'cursor', expect.stringContaining('flows')],
    ['/api/flows?order=asc', 'order', expect.stringContaining('is not a parameter')],
    ['/api/flows/k?cursor=garbage', 'cursor', expect.stringContaining('order asc')],
    ['/api/flows/k?key=other', 'key', expect.stringContaining('needs -')],
    ['/api/flows/%zz', 'path', expect.stringContaining('percent-encoded')],
    ['/api/flows/%ff', 'path', expect.stringContaining('percent-encoded')],
  ])('%s', async (path, parameter, message) => {
    const answer = await views.get(path)
    expect(answer).toMatchObject({ status: 400, success: false, error: { code: 'invalid_request', retryable: false } })
    expect(answer.error.details).toEqual([{ path: parameter, message }])
    expect(answer.error.message).toContain(parameter)
  })

  test('but a % that stands for itself is no fault', async () => {
    expect(await views.get('/api/event-logs?q=100%&environment=%f&project=')).toMatchObject({ status: 200 })
  })

  test('and all that are at fault', async () => {
    const { error } = await views.get('/api/event-logs?limit=x&level=y&levle=z&order=q')
    expect(error.details.map((detail) => detail.path).toSorted()).toEqual(['level', 'levle', 'limit', 'order'])
  })

  test('the first of many, and how many more there are', async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `x${index}`)
    const { error } = await views.get(`/api/event-logs?${names.join('&')}`)
    expect(error.details.map((detail) => detail.path)).toEqual(names.slice(0, 20))
    expect(error.message).toMatch(/There are 1980 more\.$/)
    expect(error.message.length).toBeLessThan(10_000)
  })

  test('a garbage Last-Event-ID is refused as the parameter is', async () => {
    const answer = await views.get('/api/event-logs/tail', { 'x-api-key': KEY_A, 'last-event-id': 'garbage' })
    expect(answer).toMatchObject({ status: 400, error: { details: [{ path: 'lastEventId' }] } })
  })

  test('a cursor is bound to the order', async () => {
    views.store.add(eventLog(), eventLog())
    const { data } = await views.get<{ nextCursor: string }>('/api/event-logs?limit=1&order=desc')
    expect(await views.get(`/api/event-logs?order=desc&cursor=${data.nextCursor}`)).toMatchObject({ status: 200 })
    const answer = await views.get(`/api/event-logs?order=asc&cursor=${data.nextCursor}`)
    expect(answer).toMatchObject({ status: 400, error: { details: [{ path: 'cursor' }] } })
  })
})

test('a read that the store had no time to begin is refused as those that wait too long are', async () => {
  views.store.search = () => Promise.reject(new ReadNotBegunError())
  const answer = await views.get('/api/event-logs')
  expect(answer).toMatchObject({ status: 429, error: { code: 'rate_limited', retryable: true } })
})

describe('not_found', () => {
  test.each([
    '/api/event-logs/01981f2e-7c1a-7000-8000-9a3c5b7d1e42',
    '/api/event-logs/nothing-like-an-id',
    '/api/event-logs/nothing/context',
    '/api/application-logs/nothing',
    '/api/flows/nothing',
    '/api/flows/nothing/export',
    '/api/flows/nothing/export?format=svg',
  ])('%s', async (path) => {
    expect(await views.get(path)).toMatchObject({ status: 404, success: false, error: { code: 'not_found' } })
  })

  test.each([
    ['/api/event-logs/nothing', 'There is no such entry. Check the id; '],
    ['/api/flows/nothing', 'There is no entry with the correlationKey nothing. Check the key; '],
  ])('says what to check of %s, whose path is right', async (path, message) => {
    const { error } = await views.get(path)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
    expect(error).not.toMatchObject({ message: expect.stringContaining('/docs') })
  })

  test('is the answer to an entry of the other kind', async () => {
    const entry = eventLog()
    views.store.add(entry)
    expect(await views.get(`/api/event-logs/${entry.id}`)).toMatchObject({ status: 200 })
    expect(await views.get(`/api/application-logs/${entry.id}`)).toMatchObject({ status: 404 })
  })

  test('is left to others for paths that the read API has not', async () => {
    const beside = ['/api/ApplicationLogs', '/api/ExternalLogs', '/', '/api/flowsheet', '/%zz']
    const below = ['/api/flows/a/b/c', '/api/event-logs/a/b', '/api/event-logs/histogram/more']
    for (const path of [...beside, ...below]) expect(await views.get(path)).toMatchObject({ status: 418 })
  })
})

describe('methods', () => {
  test.each(PATHS)('%s takes GET and HEAD only', async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await fetch(views.url + path, { method, headers: { 'x-api-key': KEY_A } })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('GET, HEAD')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } })
    }
  })

  test('HEAD answers as GET does, without the body', async () => {
    const entry = eventLog({ correlationKey: 'k' })
    views.store.add(entry)
    for (const path of PATHS.filter((one) => one.includes('event-logs') || one.includes('flows'))) {
      const own = path.replace('01981f2e-7c1a-7000-8000-9a3c5b7d1e42', entry.id)
      const response = await fetch(views.url + own, { method: 'HEAD', headers: { 'x-api-key': KEY_A } })
      expect([own, response.status]).toEqual([own, 200])
      expect(await response.text()).toBe('')
    }
  })
})

describe('server_error', () => {
  test.each(PATHS)('is the answer of %s while the store is down, with Retry-After', async (path) => {
    views.store.failAfter(0)
    const answer = await views.get(path)
    expect(answer).toMatchObject({ status: 503, success: false, error: { code: 'server_error', retryable: true } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.text).not.toContain('the store is down')
    views.store.failAfter(null)
  })

  test.each(PATHS)('is the answer of %s until the registry is read, whatever the key', async (path) => {
    views.ready.now = false
    for (const key of [KEY_A, 'unknown yet'])
      expect(await views.get(path, { 'x-api-key': key })).toMatchObject({
        status: 503,
        error: { code: 'server_error' },
      })
    expect(await views.get(path, {})).toMatchObject({ status: 401 })
  })
})
