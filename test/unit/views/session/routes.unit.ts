import express from 'express'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createProxies } from '../../../../shared/http/proxies.ts'
import { hashKeyHex } from '../../../../shared/registry/keys.ts'
import type { KeyInfo, Registry } from '../../../../shared/registry/registry.ts'
import { createMetrics, type Metrics } from '../../../../shared/runtime/metrics.ts'
import { registerSession } from '../../../../views/session/register.ts'
import { IDLE_SECONDS, LONGEST_SECONDS } from '../../../../views/session/sessions.ts'
import { type BareServer, startBare } from '../../../support/raw-http.ts'

const SECRET = 'a secret of 32 characters or more'
const MINUTE = 60_000
const [KEY_A, KEY_B] = ['key-of-a', 'key-of-b']

interface Body {
  readonly success: boolean
  readonly data: {
    readonly team: { readonly id: string; readonly name: string } | null
    readonly keyPrefix: string | null
    readonly refused: unknown
  }
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details: unknown
    readonly retryable: boolean
  }
}

const REFUSED = {
  kind: 'refusal' as const,
  at: '2026-02-01T11:00:00.000Z',
  endpoint: '/v1/logs',
  code: 'project_not_found',
  message: 'no',
  details: null,
  index: null,
  identifier: null,
  keyPrefix: 'key-of',
  userAgent: 'go',
  body: null,
  bodyCut: false,
}

/** The address that the requests of the tests come from. */
const PROXY = '127.0.0.1'

let time: { now: number }
let ready: boolean
let keys: Map<string, { team: string; revokedAt: string | null }>
let metrics: Metrics
let logged: string
let server: BareServer
let url: string

beforeEach(() => start([PROXY]))

async function start(trusted: readonly string[]): Promise<void> {
  time = { now: Date.parse('2026-02-01T12:00:00Z') }
  ready = true
  keys = new Map([KEY_A, KEY_B].map((key) => [key, { team: key.slice(-1), revokedAt: null }]))
  metrics = createMetrics()
  logged = ''
  const teamOf = (id: string | undefined) => (id === 'a' || id === 'b' ? { id, name: `Team ${id}` } : undefined)
  const live = (key: string) => (keys.get(key)?.revokedAt === null ? keys.get(key)?.team : undefined)
  const registry = {
    team: teamOf,
    teamOfKey: (key: string) => teamOf(live(key)),
    ownerOfKey: (key: string) => live(key),
    keysOf: (team: string): KeyInfo[] =>
      [...keys].flatMap(([key, { team: owner, revokedAt }]) =>
        owner === team ? [{ hash: hashKeyHex(key), prefix: key.slice(0, 6), createdAt: '', revokedAt }] : [],
      ),
  } as unknown as Registry
  const write = (line: string): void => {
    logged += line
  }
  const app = express()
  const sessions = registerSession(app, {
    clock: { now: () => time.now },
    logger: pino({ level: 'trace' }, { write }),
    metrics,
    registry,
    registryReady: () => ready,
    secrets: () => [SECRET],
    basePath: '/logs',
    proxies: createProxies(trusted),
    refusals: { of: (team) => [{ id: '1', noted: { ...REFUSED, team }, unnoted: 2 }] },
  })
  app.get('/api/whose', (request, response) => void response.end(String(sessions.teamOf(request.headers))))
  server = await startBare(app)
  url = server.url
}

afterEach(() => server.close())

interface Asked {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
  /** The cookie that was set, as a request sends it back. */
  readonly cookie: string
  readonly setCookie: string
}

async function ask(method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Asked> {
  const response = await fetch(`${url}/api/session`, {
    method,
    headers: { origin: url, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const setCookie = response.headers.get('set-cookie') ?? ''
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
    cookie: setCookie.split(';')[0] ?? '',
    setCookie,
  }
}

const signIn = (apiKey: unknown = KEY_A, headers?: Record<string, string>) => ask('POST', { apiKey }, headers)
const whose = async (cookie: string): Promise<string | undefined> =>
  (await ask('GET', undefined, { cookie })).body.data?.team?.id

describe('POST /api/session', () => {
  test('signs in: the answer names the Team and sets a cookie that no script and no other site can use', async () => {
    const { status, headers, body, setCookie, cookie } = await signIn()
    expect([status, body]).toEqual([
      200,
      { success: true, data: { team: { id: 'a', name: 'Team a' }, keyPrefix: 'key-of', refused: expect.anything() } },
    ])
    expect(setCookie.split('; ').slice(1)).toEqual([
      'Path=/logs',
      `Max-Age=${IDLE_SECONDS}`,
      'HttpOnly',
      'SameSite=Strict',
    ])
    expect(headers.get('cache-control')).toBe('no-store')
    expect(await whose(cookie)).toBe('a')
  })

  test('tells of refused logs, and nothing of them to those who did not sign in', async () => {
    const { userAgent, keyPrefix, endpoint, code, at } = REFUSED
    expect((await signIn()).body.data.refused).toEqual([{ userAgent, keyPrefix, endpoint, code, count: 3, lastAt: at }])
    expect((await ask('GET')).body.data.refused).toBeNull()
  })

  test('over https, also where a proxy ended it, the cookie stays on https', async () => {
    expect((await signIn(KEY_A, { 'x-forwarded-proto': 'https' })).setCookie).toMatch(/; Secure$/)
    expect((await signIn(KEY_A, { 'x-forwarded-proto': 'http, https' })).setCookie).not.toContain('Secure')
  })

  test('a proxy that is not trusted is not believed, and the log says once what to set', async () => {
    await server.close()
    await start([])
    for (let count = 0; count < 2; count += 1)
      expect((await signIn(KEY_A, { 'x-forwarded-proto': 'https' })).setCookie).not.toContain('Secure')
    expect(logged.match(/TRUSTED_PROXIES/g)).toHaveLength(1)
    expect(logged).not.toContain(PROXY)
  })

  test('neither the answer, the cookie nor the log has the key in it', async () => {
    const { body, setCookie } = await signIn()
    await signIn('not-a-key')
    const decoded = Buffer.from(setCookie.split('.')[1] ?? '', 'base64url').toString()
    for (const text of [JSON.stringify(body), setCookie, decoded, logged]) {
      expect(text).not.toContain(KEY_A)
      expect(text).not.toContain('not-a-key')
      expect(text).not.toContain(hashKeyHex(KEY_A))
    }
    expect(logged).toContain('signed in')
  })

  test('a Team that signs in all the time has few lines in the log, and another has its own', async () => {
    for (let count = 0; count < 15; count += 1) expect((await signIn()).status).toBe(200)
    await signIn(KEY_B)
    const lines = logged.split('\n').filter((line) => line.includes('signed in'))
    expect(lines.map((line) => JSON.parse(line).team)).toEqual([...Array(10).fill('a'), 'b'])
  })

  test.each([
    ['no key of any Team', { apiKey: 'wrong' }, 401, 'invalid_api_key'],
    ['no key', {}, 400, 'invalid_request'],
    ['an empty key', { apiKey: '' }, 400, 'invalid_request'],
    ['a key that is no text', { apiKey: 7 }, 400, 'invalid_request'],
    ['null', null, 400, 'invalid_request'],
    ['no JSON', 'apiKey=key-of-a', 400, 'malformed_json'],
    ['nothing', '', 400, 'malformed_json'],
    ['far too much', { apiKey: 'x'.repeat(5_000) }, 413, 'payload_too_large'],
  ])('%s is refused', async (_name, body, status, code) => {
    const asked = await ask('POST', body)
    expect([asked.status, asked.body.error.code, asked.setCookie]).toEqual([status, code, ''])
  })

  test('a form of another site cannot send it', async () => {
    const asked = await ask('POST', 'x', { 'content-type': 'text/plain' })
    expect([asked.status, asked.body.error.code]).toEqual([415, 'unsupported_media_type'])
  })

  test('another origin is refused, whatever the key', async () => {
    const asked = await signIn(KEY_A, { origin: 'https://evil.test' })
    expect([asked.status, asked.body.error.code, asked.setCookie]).toEqual([403, 'cross_origin', ''])
  })

  test('while the registry is read nobody is told that a key is wrong', async () => {
    ready = false
    const asked = await signIn('wrong')
    expect([asked.status, asked.body.error.code, asked.body.error.retryable]).toEqual([503, 'server_error', true])
  })

  test('after ten failures a client waits, and is told how long, even with the right key', async () => {
    // Whole, as sums of fractions would count a failure more or less.
    const at = Math.ceil(performance.now())
    vi.spyOn(performance, 'now').mockReturnValue(at)
    for (let count = 0; count < 10; count += 1) expect((await signIn('wrong')).status).toBe(401)
    const limited = await signIn()
    expect([limited.status, limited.body.error.code, limited.headers.get('retry-after')]).toEqual([
      429,
      'too_many_attempts',
      '6',
    ])
    const message = 'Too many attempts. Try again in 6 s.'
    expect(limited.body.error).toMatchObject({ message, retryable: true, details: { retryAfterSeconds: 6 } })
    // The time of day does not count.
    time.now -= 60 * MINUTE
    vi.spyOn(performance, 'now').mockReturnValue(at + 6_000)
    expect((await signIn()).status).toBe(200)
    vi.restoreAllMocks()
    expect(await metrics.registry.getSingleMetricAsString('sluice_sign_ins_total')).toMatch(/"limited"} 1/)
  })

  test('signing in with the right key is never counted', async () => {
    for (let count = 0; count < 30; count += 1) expect((await signIn()).status).toBe(200)
  })

  test('attempts from one address behind a proxy do not lock out another', async () => {
    for (let count = 0; count < 11; count += 1) await signIn('wrong', { 'x-forwarded-for': '203.0.113.9' })
    expect((await signIn(KEY_A, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(429)
    expect((await signIn(KEY_A, { 'x-forwarded-for': '203.0.113.10' })).status).toBe(200)
  })

  test('the addresses of one IPv6 network are one client', async () => {
    for (let count = 0; count < 10; count += 1) await signIn('wrong', { 'x-forwarded-for': `2001:db8::${count}` })
    expect((await signIn(KEY_A, { 'x-forwarded-for': '2001:db8::99' })).status).toBe(429)
  })

  test('made-up addresses are one client where nobody is trusted', async () => {
    await server.close()
    await start([])
    for (let count = 0; count < 10; count += 1) await signIn('wrong', { 'x-forwarded-for': `203.0.113.${count}` })
    expect((await signIn('wrong', { 'x-forwarded-for': '203.0.113.99' })).status).toBe(429)
  })

  test('however many fail, whoever has a key and has not failed signs in', async () => {
    for (let count = 0; count < 300; count += 1) await signIn('wrong', { 'x-forwarded-for': `203.0.${count}.9` })
    expect((await signIn(KEY_A, { 'x-forwarded-for': '198.51.100.7' })).status).toBe(200)
  })
})

describe('GET /api/session', () => {
  test('tells nobody where nobody is signed in', async () => {
    const { status, body } = await ask('GET')
    expect([status, body]).toEqual([200, { success: true, data: { team: null, keyPrefix: null, refused: null } }])
  })

  test.each(['sluice_session=x', 'sluice_session=', 'sluice_session=s1.e30.AAAA', 'other=1', ';;=;'])(
    'a cookie that nobody signed is none: %s',
    async (cookie) => {
      expect(await whose(cookie)).toBeUndefined()
    },
  )

  test('a cookie that was changed is none', async () => {
    const { cookie } = await signIn()
    const [form, , signature] = cookie.split('.')
    const forged = Buffer.from(JSON.stringify(['b', 'x', 0, 9e9])).toString('base64url')
    expect(await whose([form, forged, signature].join('.'))).toBeUndefined()
    expect(await whose(cookie)).toBe('a')
  })

  test('a session ends with its key, and only with its own', async () => {
    keys.set('second-of-a', { team: 'a', revokedAt: null })
    const [first, second] = [(await signIn()).cookie, (await signIn('second-of-a')).cookie]
    keys.set(KEY_A, { team: 'a', revokedAt: '2026-02-01T12:00:00Z' })
    expect([await whose(first), await whose(second)]).toEqual([undefined, 'a'])
    const teamOf = async (cookie: string) => (await fetch(`${url}/api/whose`, { headers: { cookie } })).text()
    expect([await teamOf(first), await teamOf(second)]).toEqual(['undefined', 'a'])
  })

  test('while the registry is read nobody is told that a session is over', async () => {
    const { cookie } = await signIn()
    ready = false
    keys.clear()
    expect((await ask('GET', undefined, { cookie })).status).toBe(503)
    expect(await (await fetch(`${url}/api/whose`, { headers: { cookie } })).text()).toBe('a')
  })

  test('it is over when it was not used for a while', async () => {
    const { cookie } = await signIn()
    time.now += IDLE_SECONDS * 1_000 - 1_000
    expect(await whose(cookie)).toBe('a')
    time.now += 1_000
    expect(await whose(cookie)).toBeUndefined()
  })
})

describe('a session in use', () => {
  const use = async (cookie: string): Promise<string> => {
    const { headers, cookie: renewed } = await ask('GET', undefined, { cookie })
    expect(headers.get('cache-control')).toBe('no-store')
    return renewed
  }

  test('gets a new cookie every quarter of an hour, where the page asks who is signed in', async () => {
    const { cookie } = await signIn()
    time.now += 14 * MINUTE
    expect(await use(cookie)).toBe('')
    time.now += MINUTE
    const renewed = await use(cookie)
    expect(renewed).toMatch(/^sluice_session=/)
    expect(renewed).not.toBe(cookie)
    time.now += IDLE_SECONDS * 1_000 - MINUTE
    expect([await whose(cookie), await whose(renewed)]).toEqual([undefined, 'a'])
  })

  test('is over after a week all the same', async () => {
    let { cookie } = await signIn()
    const end = time.now + LONGEST_SECONDS * 1_000
    while (time.now < end - 60 * MINUTE) {
      time.now += 60 * MINUTE
      cookie = (await use(cookie)) || cookie
      expect(await whose(cookie)).toBe('a')
    }
    time.now = end
    expect(await whose(cookie)).toBeUndefined()
  })

  test('the last cookies are kept no longer than the session lasts', async () => {
    let { cookie } = await signIn()
    const start = time.now
    while (time.now < start + (LONGEST_SECONDS - 3_600) * 1_000) {
      time.now += 60 * MINUTE
      cookie = (await use(cookie)) || cookie
    }
    time.now += 30 * MINUTE
    expect((await ask('GET', undefined, { cookie })).setCookie).toContain('Max-Age=1800;')
  })

  test('is not brought back by a read that another process answers after a sign-out or a sign-in', async () => {
    const { cookie } = await signIn()
    time.now += 60 * MINUTE
    const response = await fetch(`${url}/api/whose`, { headers: { cookie } })
    expect([await response.text(), response.headers.get('set-cookie')]).toEqual(['a', null])
  })
})

describe('DELETE /api/session', () => {
  test('signs out: the cookie is taken away', async () => {
    const { cookie } = await signIn()
    const { status, body, setCookie } = await ask('DELETE', undefined, { cookie })
    expect([status, body.data]).toEqual([200, { team: null, keyPrefix: null, refused: null }])
    expect(setCookie).toBe('sluice_session=; Path=/logs; Max-Age=0; HttpOnly; SameSite=Strict')
  })

  test('not at the wish of another site', async () => {
    const { cookie } = await signIn()
    const { status, setCookie } = await ask('DELETE', undefined, { cookie, origin: 'https://evil.test' })
    expect([status, setCookie]).toEqual([403, ''])
  })

  test('no other method is taken', async () => {
    const { status, headers } = await ask('PUT')
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, DELETE'])
  })
})
