import type { RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Journal } from '../../../../shared/journal/journal.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import type { MadeWatch, Outcome, TestedWatch, WatchDetails, Watches } from '../../../../views/schemas/watches.ts'
import { createWatchBook, type WatchBook } from '../../../../views/watches/book.ts'
import { stateOf } from '../../../../views/watches/progress.ts'
import { type BareServer, startBare } from '../../../support/raw-http.ts'
import { KEY_B, startTeam, type TeamAnswer, type TeamFixture, WATCHES_TOPIC } from '../../../support/team-fixture.ts'
import { knownWatch, SECRET } from '../../../support/watches.ts'

let team: TeamFixture
let receiver: BareServer | undefined
beforeEach(async () => {
  team = await startTeam()
})
afterEach(async () => {
  await receiver?.close()
  await team.close()
})

const COUNT = { type: 'count', list: 'event-logs', params: { level: 'Error', q: 'declined' }, more: 10, minutes: 5 }
const WATCH = { name: 'Errors', condition: COUNT, webhook: { url: 'https://hooks.example.com/x', format: 'json' } }
const ofB = { 'x-api-key': KEY_B }
const outcome = ({ status, error }: TeamAnswer) => [status, error?.code]
const made = async (fields: object = {}): Promise<MadeWatch> =>
  (await team.ask('POST', '/watches', { ...WATCH, ...fields })).data as MadeWatch
const items = async (headers?: Record<string, string>) =>
  ((await team.ask('GET', '/watches', undefined, headers)).data as Watches).items
const stored = (id: string) => {
  const watch = team.book.find('a', id)
  if (watch === undefined) throw new Error('there is no such watch')
  return watch
}

describe('/api/team/watches', () => {
  test('a watch is made with a secret that is shown once, listed, changed and deleted', async () => {
    const { status, data } = await team.ask('POST', '/watches', WATCH)
    const { id, secret, ...rest } = data as MadeWatch
    expect([status, secret]).toEqual([201, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)])
    const shown = {
      ...WATCH,
      paused: false,
      state: 'new',
      lastEvaluatedAt: null,
      error: null,
      delivery: null,
      gaveUpAt: null,
    }
    expect(rest).toEqual(shown)
    expect(await items()).toEqual([{ id, ...shown }])
    expect(await items(ofB)).toEqual([])
    expect((await team.ask('GET', `/watches/${id}`)).data).toEqual({ id, ...shown, history: [] })
    const changed = await team.ask('PATCH', `/watches/${id.toUpperCase()}`, { name: 'All errors', paused: true })
    expect([changed.status, changed.data]).toEqual([
      200,
      { id, ...shown, name: 'All errors', paused: true, state: 'paused', secret: null },
    ])
    expect(stored(id).webhook.secret).toBe(secret)
    expect((await team.ask('DELETE', `/watches/${id}`)).data).toEqual({ id })
    expect(await items()).toEqual([])
  })

  test('the secret is never shown again, and stays, is given or made anew as is asked for', async () => {
    const { id, secret } = await made({ webhook: { ...WATCH.webhook, secret: SECRET } })
    expect(secret).toBe(SECRET)
    expect(JSON.stringify([await items(), (await team.ask('GET', `/watches/${id}`)).data])).not.toContain('whsec_')
    const patch = async (webhook: object) =>
      ((await team.ask('PATCH', `/watches/${id}`, { webhook })).data as MadeWatch).secret
    expect(await patch({ url: 'https://other.example.com/', format: 'slack' })).toBeNull()
    expect(stored(id).webhook).toEqual({ url: 'https://other.example.com/', format: 'slack', secret: SECRET })
    const next = await patch({ ...WATCH.webhook, secret: null })
    expect([next === SECRET, stored(id).webhook.secret]).toEqual([false, next])
  })

  test('a watch that is paused delivers nothing', async () => {
    const { id } = await made()
    const watch = stored(id)
    const delivery = {
      ...{ id: 'msg_1', at: watch.since, match: { count: 1, samples: [] } },
      ...{ attempts: 1, nextAt: watch.since, reason: 'The receiver answered 500.' },
    }
    await team.book.advance(watch, { ...stateOf(watch), delivery })
    const shown = async (fields: object) => (await team.ask('PATCH', `/watches/${id}`, fields)).data as MadeWatch
    expect((await shown({ name: 'Renamed' })).delivery).toMatchObject({ attempts: 1 })
    expect((await shown({ paused: true })).delivery).toBeNull()
  })

  test('a message that was given up is told until a later one is delivered, or the watch starts over', async () => {
    const { id } = await made()
    const told = async () => (await items()).find((each) => each.id === id)?.gaveUpAt
    const note = (outcome: Outcome['outcome'], at: string) => {
      const watch = stored(id)
      const { history, ...state } = stateOf(watch)
      return team.book.advance(watch, { ...state, history: [...history, { at, outcome, text: '' }] })
    }
    const { since } = stored(id)
    expect(await told()).toBeNull()
    await note('gave_up', since)
    await note('fired', since)
    expect(await told()).toBe(since)
    await note('delivered', since)
    expect(await told()).toBeNull()
    await note('gave_up', since)
    expect(await told()).toBe(since)
    const now = team.clock.now()
    team.clock.now = () => now + 1_000
    for (const paused of [true, false]) await team.ask('PATCH', `/watches/${id}`, { paused })
    expect(await told()).toBeNull()
  })

  test('a condition that changes, or a watch that goes on, begins anew; another name does not', async () => {
    const { id } = await made()
    const watch = stored(id)
    await team.book.advance(watch, {
      ...stateOf(watch),
      history: [{ at: watch.since, outcome: 'fired', text: 'x' }],
      memory: { ...stateOf(watch).memory, isMet: true },
    })
    const state = async () => ((await team.ask('GET', `/watches/${id}`)).data as WatchDetails).state
    expect(await state()).toBe('met')
    await team.ask('PATCH', `/watches/${id}`, { name: 'Other', webhook: WATCH.webhook })
    expect(await state()).toBe('met')
    expect(((await team.ask('GET', `/watches/${id}`)).data as WatchDetails).history).toHaveLength(1)
  })

  test('a watch that fired or failed was evaluated, also before the time of its evaluations is written', async () => {
    const { id } = await made()
    const watch = stored(id)
    const text = 'The log store does not answer.'
    await team.book.advance(watch, {
      ...stateOf(watch),
      error: text,
      history: [{ at: watch.since, outcome: 'error', text }],
    })
    expect((await team.ask('GET', `/watches/${id}`)).data).toMatchObject({
      state: 'error',
      lastEvaluatedAt: watch.since,
    })
  })

  test('a condition whose parameters are only given in another order is the same', async () => {
    const { id } = await made()
    const { since } = stored(id)
    const now = team.clock.now()
    team.clock.now = () => now + 1_000
    const condition = { ...COUNT, params: { q: 'declined', level: 'Error' } }
    await team.ask('PATCH', `/watches/${id}`, { condition })
    expect(stored(id).since).toBe(since)
    await team.ask('PATCH', `/watches/${id}`, { condition: { ...condition, params: { q: 'declined' } } })
    expect(stored(id).since).not.toBe(since)
  })

  test('another Team can neither see, change, test nor delete it', async () => {
    const { id } = await made()
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['POST', '/test', undefined],
    ] as const)
      expect(outcome(await team.ask(method, `/watches/${id}${path}`, body, ofB))).toEqual([404, 'not_found'])
    expect(await items()).toHaveLength(1)
  })

  const refused: readonly (readonly [what: string, body: unknown, path: string, message: string])[] = [
    ['no name', { ...WATCH, name: undefined }, '/name', 'is missing'],
    ['an empty name', { ...WATCH, name: '' }, '/name', 'is empty'],
    ['no condition', { ...WATCH, condition: undefined }, '/condition', 'is missing'],
    [
      'an unknown field',
      { ...WATCH, colour: 1 },
      '/colour',
      'is not a field; there are name, condition, webhook, paused',
    ],
    ['another type', { ...WATCH, condition: { type: 'x' } }, '/condition/type', 'must be count, flows or newGroup'],
    ['no type', { ...WATCH, condition: {} }, '/condition/type', 'is missing'],
    [
      'a negative number',
      { ...WATCH, condition: { ...COUNT, more: -1 } },
      '/condition/more',
      'must be a whole number from 0 to 1000000000',
    ],
    [
      'too long a time',
      { ...WATCH, condition: { ...COUNT, minutes: 1_441 } },
      '/condition/minutes',
      'must be a whole number from 1 to 1440',
    ],
    [
      'another list',
      { ...WATCH, condition: { ...COUNT, list: 'flows' } },
      '/condition/list',
      'must be event-logs or application-logs',
    ],
    [
      'a field of another type',
      { ...WATCH, condition: { ...COUNT, by: 'exception' } },
      '/condition/by',
      'is not a field; there are type, list, params, more, minutes',
    ],
    [
      'an unknown parameter',
      { ...WATCH, condition: { ...COUNT, params: { from: 'now-1h' } } },
      '/condition/params/from',
      'is not a parameter; logs are selected by q, level, levelMax, environment, event, step, project, category, template, exceptionGroup',
    ],
    [
      'a wrong level',
      { ...WATCH, condition: { ...COUNT, params: { level: 'Loud' } } },
      '/condition/params/level',
      'must be one of Trace, Debug, Information, Warning, Error, Critical, in any case',
    ],
    [
      'an unknown Event',
      { ...WATCH, condition: { type: 'flows', state: 'failed', event: 'secret' } },
      '/condition/event',
      'must be the identifier of an Event of the Team, or null for all',
    ],
    [
      'a running flow',
      { ...WATCH, condition: { type: 'flows', state: 'running', event: null } },
      '/condition/state',
      'must be failed or stalled',
    ],
    [
      'groups of levels',
      { ...WATCH, condition: { type: 'newGroup', by: 'level', params: {} } },
      '/condition/by',
      'must be exception or template',
    ],
    ['no address', { ...WATCH, webhook: { format: 'json' } }, '/webhook/url', 'is missing'],
    [
      'another protocol',
      { ...WATCH, webhook: { url: 'ftp://x/', format: 'json' } },
      '/webhook/url',
      'must be an address that begins with https://, such as https://hooks.example.com/sluice',
    ],
    ...['https://x:99999/', 'https://a b/', 'https://[fe80::1%25eth0]/'].map(
      (url) =>
        [
          url,
          { ...WATCH, webhook: { url, format: 'json' } },
          '/webhook/url',
          'has a host or a port that cannot be; write it like https://hooks.example.com:8443/sluice',
        ] as const,
    ),
    [
      'a password',
      { ...WATCH, webhook: { url: 'https://a:b@x/', format: 'json' } },
      '/webhook/url',
      'must hold no user name and no password',
    ],
    [
      'a long address',
      { ...WATCH, webhook: { url: `https://x/${'x'.repeat(2_048)}`, format: 'json' } },
      '/webhook/url',
      'has 2058 characters; the most is 2048',
    ],
    [
      'a private address',
      { ...WATCH, webhook: { url: 'https://169.254.169.254/', format: 'json' } },
      '/webhook/url',
      'cannot be posted to: 169.254.169.254 has a private address, and nothing was sent. The operator can allow its network (WEBHOOK_ALLOWED_NETWORKS)',
    ],
    [
      'another format',
      { ...WATCH, webhook: { ...WATCH.webhook, format: 'xml' } },
      '/webhook/format',
      'must be json, slack or teams',
    ],
    [
      'a short secret',
      { ...WATCH, webhook: { ...WATCH.webhook, secret: 'whsec_AAAA' } },
      '/webhook/secret',
      'must be whsec_ and 24 to 64 bytes in Base64, or null for a new one',
    ],
    ['a flag that is none', { ...WATCH, paused: 1 }, '/paused', 'must be true or false'],
    ['no object', 7, '', 'must be a JSON object'],
  ]
  test.each(refused)('%s is refused with what to change', async (_what, body, path, message) => {
    const answer = await team.ask('POST', '/watches', body)
    const [problem] = answer.error.details as { path: string; message: string }[]
    expect([answer.status, problem]).toEqual([400, { path, message }])
  })

  test('a list in the place of an object is refused for that alone, not for what an object would have', async () => {
    for (const [body, path] of [
      [[], ''],
      [{ ...WATCH, condition: [] }, '/condition'],
      [{ ...WATCH, webhook: [] }, '/webhook'],
    ] as const)
      expect((await team.ask('POST', '/watches', body)).error.details).toEqual([
        { path, message: 'must be a JSON object' },
      ])
  })

  test('every problem of a body is named at once', async () => {
    const answer = await team.ask('POST', '/watches', { webhook: { url: 1 }, condition: { type: 'count' } })
    expect((answer.error.details as { path: string }[]).map(({ path }) => path)).toEqual([
      '/webhook/url',
      '/webhook/format',
      '/condition/list',
      '/condition/params',
      '/condition/more',
      '/condition/minutes',
      '/name',
    ])
    expect(outcome(await team.ask('PATCH', `/watches/${(await made()).id}`, {}))).toEqual([400, 'invalid_request'])
  })

  test('a Team has 50 of them at most', async () => {
    for (let count = 0; count < 50; count += 1) await made({ name: `Watch ${count}` })
    const answer = await team.ask('POST', '/watches', WATCH)
    expect([answer.status, answer.error.message]).toEqual([
      409,
      'The Team has 50 watches, the most there may be. Delete one first.',
    ])
    expect((await team.ask('POST', '/watches', WATCH, ofB)).status).toBe(201)
  })

  test('a Team has 50 of them at most, also where another process makes one meanwhile', async () => {
    for (let count = 0; count < 49; count += 1) await made({ name: `Watch ${count}` })
    const put: WatchBook['put'] = async (...change) => {
      await made({ name: 'Meanwhile' })
      return team.book.put(...change)
    }
    const other = await startTeam({ watches: { book: { ...team.book, put }, poster: team.poster } })
    expect((await other.ask('POST', '/watches', WATCH)).status).toBe(409)
    expect((await items()).map(({ name }) => name)).toHaveLength(50)
    expect((await items()).map(({ name }) => name)).toContain('Meanwhile')
    await other.close()
  })

  test('changes at once all take effect, though the watches show them after the journal has confirmed them', async () => {
    const { id } = await made()
    const { journal, clock } = team
    const follow: Journal['follow'] = (topic, onRecords) =>
      journal.follow(topic, (records) => void setTimeout(onRecords, 50, records))
    const deps = {
      journal: { ...journal, follow },
      topic: WATCHES_TOPIC,
      clock,
      logger: createLogger('silent', 'test'),
    }
    const book = createWatchBook({ ...deps, writer: 'lagging' })
    await book.start()
    await expect.poll(() => book.find('a', id)).toBeDefined()
    const lagging = await startTeam({ watches: { book, poster: team.poster } })
    const change = (fields: object) => lagging.ask('PATCH', `/watches/${id}`, fields)
    const answers = await Promise.all([change({ name: 'Renamed' }), change({ paused: true })])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(stored(id)).toMatchObject({ name: 'Renamed', paused: true })
    expect((await lagging.ask('DELETE', `/watches/${id}`)).status).toBe(200)
    expect(book.find('a', id)).toBeUndefined()
    await lagging.close()
    await book.stop(clock.now())
  })

  test('a change at a process that does not show the last one yet keeps both', async () => {
    const { id } = await made()
    const stale = stored(id)
    await team.ask('PATCH', `/watches/${id}`, { name: 'Renamed' })
    let isBehind = true
    const find: WatchBook['find'] = (...which) => (isBehind ? stale : team.book.find(...which))
    const put: WatchBook['put'] = (...change) => {
      isBehind = false
      return team.book.put(...change)
    }
    const lagging = await startTeam({ watches: { book: { ...team.book, find, put }, poster: team.poster } })
    expect((await lagging.ask('PATCH', `/watches/${id}`, { paused: true })).status).toBe(200)
    expect(stored(id)).toMatchObject({ name: 'Renamed', paused: true })
    await team.ask('DELETE', `/watches/${id}`)
    isBehind = true
    expect(outcome(await lagging.ask('PATCH', `/watches/${id}`, { paused: false }))).toEqual([404, 'not_found'])
    expect(await items()).toEqual([])
    await lagging.close()
  })

  test('all Teams have 2,000 of them at most, without those of deleted Teams', async () => {
    let owner = 'b'
    const all = () => Array.from({ length: 2_000 }, () => knownWatch({ team: owner }))
    const full = await startTeam({ watches: { book: { ...team.book, all }, poster: team.poster } })
    expect(outcome(await full.ask('POST', '/watches', WATCH))).toEqual([409, 'conflict'])
    owner = 'deleted'
    expect((await full.ask('POST', '/watches', WATCH)).status).toBe(201)
    await full.close()
  })

  test('nothing is answered before the watches are read', async () => {
    await team.close()
    team = await startTeam({ watches: { book: { ...team.book, ready: () => false }, poster: team.poster } })
    expect(outcome(await team.ask('GET', '/watches'))).toEqual([503, 'server_error'])
    expect(outcome(await team.ask('POST', '/watches', WATCH))).toEqual([503, 'server_error'])
  })
})

describe('/api/team/watches/{id}/test', () => {
  const listen = async (listener: RequestListener): Promise<string> => {
    receiver = await startBare(listener)
    return `${receiver.url}/`
  }
  const tested = async (url: string, format = 'json'): Promise<TestedWatch> => {
    const { id } = await made({ webhook: { url, format } })
    return (await team.ask('POST', `/watches/${id}/test`)).data as TestedWatch
  }

  test.each([
    ['json', { type: 'watch.test', data: { watch: { name: 'Errors' }, team: { id: 'a', name: 'Team A' } } }],
    ['slack', { text: 'Team A: Test of “Errors”' }],
    ['teams', { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive' }] }],
  ])('posts a test in the form of %s', async (format, body) => {
    const posted = Promise.withResolvers<unknown>()
    const url = await listen(async (request, response) => {
      posted.resolve(JSON.parse(Buffer.concat(await request.toArray()).toString()))
      response.writeHead(200).end()
    })
    expect(await tested(url, format)).toEqual({ delivered: true, status: 200, message: 'The receiver answered 200.' })
    expect(await posted.promise).toMatchObject(body)
  })

  test('tells exactly what failed', async () => {
    const url = await listen((_request, response) => void response.writeHead(403).end('secret reasons'))
    expect(await tested(url)).toEqual({ delivered: false, status: 403, message: 'The receiver answered 403.' })
    expect((await tested('https://nowhere.invalid/')).message).toMatch(
      /^The name of the receiver cannot be resolved \(E/,
    )
  })
})
