import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { emptyState } from '../../../../shared/registry/records.ts'
import { loadConfig } from '../../../../shared/runtime/config.ts'
import type { Action, List, TeamLists } from '../../../../views/schemas/team.ts'
import { eventually } from '../../../support/eventually.ts'
import { AUDIT_TOPIC, NOW, TOPIC } from '../../../support/registry-topic.ts'
import {
  KEY_A,
  KEY_B,
  PROJECT_A,
  PROJECT_B,
  startTeam,
  type TeamAnswer,
  type TeamFixture,
} from '../../../support/team-fixture.ts'
import { applicationLog, eventLog } from '../../../support/views-fixture.ts'

let team: TeamFixture
beforeEach(async () => {
  team = await startTeam()
})
afterEach(() => team.close())

const outcome = ({ status, error, data }: TeamAnswer) => [status, error?.code ?? data]
const pointer = ({ error }: TeamAnswer) => (error.details as { path: string; message: string }[])[0]

describe('GET /api/team/{kind}s/{id}/snippets', () => {
  test.each([
    ['/events/order/snippets', '"order"'],
    ['/steps/a%2Fb/snippets', '"a/b"'],
    ['/steps/-/snippets?identifier=..', '".."'],
    [`/projects/${PROJECT_A}/snippets`, `"${PROJECT_A}"`],
    [`/projects/${PROJECT_A.toUpperCase()}/snippets`, `"${PROJECT_A}"`],
  ])('%s', async (path, literal) => {
    for (const identifier of ['a/b', '..']) await team.ask('POST', '/steps', { identifier })
    const { status, data } = await team.ask('GET', path)
    const { snippets } = data as unknown as { readonly snippets: readonly { readonly code: string }[] }
    expect([status, snippets.length]).toEqual([200, 4])
    for (const { code } of snippets) expect(code).toContain(literal)
  })

  test.each([
    ['/events/unknown/snippets', 'Event with the identifier "unknown"'],
    ['/events/order.ship/snippets', 'Event with the identifier "order.ship"'],
    ['/events/secret/snippets', 'Event with the identifier "secret"'],
    [`/projects/${PROJECT_B}/snippets`, `Project with the id "${PROJECT_B}"`],
  ])('%s is not of this Team', async (path, what) => {
    const answer = await team.ask('GET', path)
    expect(outcome(answer)).toEqual([404, 'not_found'])
    expect(answer.error.message).toContain(`The Team has no ${what}.`)
  })

  test('takes no other parameter', async () => {
    const answer = await team.ask('GET', '/events/order/snippets?gateway=x')
    expect(outcome(answer)).toEqual([400, 'invalid_request'])
  })
})

describe('GET /api/team', () => {
  test('tells all that the Team owns, its keys by their first characters, and nothing of another Team', async () => {
    const { status, data, text, headers } = await team.ask('GET', '')
    const unseen = { lastSeenAt: null, lastDay: 0, archivedAt: null }
    expect(status).toBe(200)
    expect(data).toEqual({
      team: { id: 'a', name: 'Team A', defaultProject: null },
      keys: [{ prefix: 'key-a-', createdAt: NOW, revokedAt: null }],
      events: [
        {
          identifier: 'order',
          name: 'Order placed',
          ...unseen,
          steps: [
            { identifier: 'order.validate', name: 'Validate', order: 1, ...unseen },
            { identifier: 'order.ship', name: 'Ship', order: 2, ...unseen },
          ],
        },
      ],
      steps: [{ identifier: 'nightly', name: 'nightly', order: 1, ...unseen }],
      projects: [{ id: PROJECT_A, name: 'Checkout', ...unseen }],
      limits: { entriesPerSecond: null, bytesPerSecond: null, burstSeconds: 10, shadow: false },
      refused: [],
      gateway: { url: 'https://logs.example.com', here: false },
    })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).not.toMatch(/secret|Team B|of b/i)
    expect(text).not.toContain(KEY_A)
  })

  test('tells when each was last seen within a day, and how often', async () => {
    const at = (minutes: number): string => new Date(Date.parse(NOW) - minutes * 60_000).toISOString()
    team.store.add(
      eventLog({ event: 'order', step: 'order.validate', timestamp: at(9) }),
      eventLog({ event: 'order', step: 'order.validate', timestamp: at(3) }),
      eventLog({ event: 'order', timestamp: at(5) }),
      eventLog({ event: 'order', step: 'order.ship', timestamp: at(25 * 60) }),
      eventLog({ event: 'order', timestamp: at(1), team: 'b' }),
      applicationLog({ project: PROJECT_A, timestamp: at(7) }),
    )
    expect((await team.ask('GET', '')).data).toMatchObject({
      events: [
        {
          lastSeenAt: at(3),
          lastDay: 3,
          steps: [
            { lastSeenAt: at(3), lastDay: 2 },
            { lastSeenAt: null, lastDay: 0 },
          ],
        },
      ],
      steps: [{ lastSeenAt: null, lastDay: 0 }],
      projects: [{ lastSeenAt: at(7), lastDay: 1 }],
    })
  })

  test('is told all the same while the log store is down', async () => {
    team.store.failAfter(0)
    const { status, data } = await team.ask('GET', '')
    expect(status).toBe(200)
    expect(data).toMatchObject({ projects: [{ lastSeenAt: null, lastDay: null }] })
  })

  test('is told all the same while the log store does not answer', async () => {
    const slow = await startTeam({ store: { ...team.store, facets: () => new Promise(() => {}) }, patienceMs: 20 })
    const { status, data } = await slow.ask('GET', '')
    expect(status).toBe(200)
    expect(data).toMatchObject({ projects: [{ lastSeenAt: null, lastDay: null }] })
    await slow.close()
  })

  test('lets only so many readers of a Team wait', async () => {
    const held = Promise.withResolvers<never>()
    const slow = await startTeam({ store: { ...team.store, facets: () => held.promise } })
    const refused: TeamAnswer[] = []
    const asked = Array.from({ length: 80 }, async (_, number) => {
      const answer = await slow.ask('GET', number % 2 === 0 ? '' : '/lists')
      if (answer.status !== 200) refused.push(answer)
    })
    // Eight are at work, and 64 wait.
    await eventually(() => expect(refused).toHaveLength(8))
    held.reject(new Error('the store is down'))
    await Promise.all(asked)
    expect(refused).toHaveLength(8)
    expect(refused[0]).toMatchObject({ status: 429, error: { code: 'rate_limited', retryable: true } })
    await slow.close()
  })

  test('asks the store once for readers that come together', async () => {
    await Promise.all([1, 2, 3].map(() => team.ask('GET', '')))
    expect(team.store.calls).toEqual(['facets', 'facets'])
  })

  test('asks the store again after the clock was set back', async () => {
    let now = Date.parse(NOW)
    const own = await startTeam({ clock: { now: () => now } })
    await own.ask('GET', '')
    now -= 3_600_000
    await own.ask('GET', '')
    expect(own.store.calls).toEqual(['facets', 'facets', 'facets', 'facets'])
    await own.close()
  })
})

describe('GET /api/team/lists', () => {
  const lists = async (): Promise<TeamLists> => (await team.ask('GET', '/lists')).data as TeamLists
  const changes = (list: List | undefined) =>
    list?.lines.map((line) => line.changes.map((one) => list.changes[one]?.kind))

  test('tells what the Team owns and what can be done with each, and nothing of another Team', async () => {
    const { text } = await team.ask('GET', '/lists')
    const { lists: all, targets } = JSON.parse(text).data as TeamLists
    expect(all.map(({ kind, lines }) => [kind, ...lines.map(({ id }) => id)])).toEqual([
      ['entities', 'order', 'order.validate', 'order.ship', 'nightly'],
      ['projects', PROJECT_A],
      ['keys', 'key-a-'],
    ])
    expect(all[0]?.lines.map(({ kind, below }) => [kind, below])).toEqual([
      ['event', false],
      ['step', true],
      ['step', true],
      ['step', false],
    ])
    expect(changes(all[0])).toEqual([
      ['newStep', 'rename', 'archive'],
      ['rename', 'archive'],
      ['rename', 'archive'],
      ['rename', 'archive'],
    ])
    expect(all.map(({ actions }) => actions.map(({ kind }) => kind))).toEqual([
      ['newEvent', 'newStep'],
      ['defaultProject', 'newProject'],
      ['newKey', 'replaceKeys'],
    ])
    expect(targets).toEqual({
      event: '/api/team/events/order/snippets',
      application: `/api/team/projects/${PROJECT_A}/snippets`,
      flow: '/api/team/events/order/snippets',
    })
    expect(text).not.toMatch(/secret|Team B|of b/i)
    expect(text).not.toContain(KEY_A)
  })

  test('every change that it tells of is one that the API takes', async () => {
    await team.ask('POST', '/steps', { identifier: '..' })
    await team.ask('POST', '/keys')
    const values: Readonly<Record<string, string>> = {
      identifier: 'new',
      name: 'New',
      event: 'order',
      defaultProject: PROJECT_A,
    }
    for (const { actions, lines, changes } of (await lists()).lists)
      for (const { kind, method, path, body, fields = [], isRefused } of [
        ...lines.flatMap((line) => line.changes.map((one) => ({ path: line.path, ...(changes[one] as Action) }))),
        ...actions,
      ]) {
        const { pathname, search } = new URL(path ?? '', team.url)
        const given = Object.fromEntries(fields.flatMap(({ name }) => (values[name] ? [[name, values[name]]] : [])))
        const sent = method === 'DELETE' ? undefined : { ...body, ...given }
        const { status, error } = await team.ask(method, pathname.slice('/api/team'.length) + search, sent)
        // Two new Steps with one identifier, and what ended with a change before.
        expect([
          kind,
          isRefused,
          status < 300 || ['conflict', 'not_found', 'invalid_api_key'].includes(error.code),
        ]).toEqual([kind, isRefused, true])
      }
  })

  test('every line that has code has it below its path', async () => {
    for (const identifier of ['..', 'a/b?']) await team.ask('POST', '/steps', { identifier })
    for (const { path, snippets, id } of (await lists()).lists
      .flatMap(({ lines }) => lines)
      .filter((one) => one.snippets)) {
      const { pathname, search } = new URL(path.replace(/(?=[?]|$)/, '/snippets'), team.url)
      const { status, text } = await team.ask('GET', pathname.slice('/api/team'.length) + search)
      expect([id, snippets, status, text.includes(id)]).toEqual([id, true, 200, true])
    }
  })

  test('stay in proportion to what the Team owns, however long the names are', async () => {
    const long = (index: number) => `${index}`.padEnd(500, 'x')
    const events = Array.from({ length: 1_000 }, (_, index) => ({
      identifier: long(index),
      team: 'a',
      name: long(index),
    }))
    await team.admin.applyFile(JSON.stringify({ events }), { prune: false })
    await eventually(() => team.registry.eventsOf('a').length > 1_000)
    const [settings, answer] = [await team.ask('GET', ''), await team.ask('GET', '/lists')]
    expect(answer.status).toBe(200)
    expect(answer.text.length).toBeLessThan(5 * settings.text.length)
  })

  test('what is archived has no code and comes back with its Event; a Step is offered for Events in use alone', async () => {
    await team.ask('PATCH', '/events/order', { archived: true })
    await team.ask('PATCH', '/steps/nightly', { archived: true })
    const [entities, projects] = (await lists()).lists
    expect(entities?.lines.map(({ state, snippets }) => [state, snippets])).toEqual(
      Array.from({ length: 4 }, () => ['archived', false]),
    )
    expect(changes(entities)).toEqual([['rename', 'restore'], ['rename'], ['rename'], ['rename', 'restore']])
    expect(entities?.options['event']).toEqual([])
    expect(projects?.lines[0]).toMatchObject({ path: `/api/team/projects/${PROJECT_A}`, snippets: true })
    expect((await lists()).targets).toMatchObject({ event: null, flow: `/api/team/projects/${PROJECT_A}/snippets` })
  })

  test('two live keys: each can be ended, a third cannot be made, and what was revoked stands last', async () => {
    await team.ask('POST', '/keys')
    const keys = (await lists()).lists[2]
    expect(changes(keys)).toEqual([['revoke'], ['revoke']])
    expect(keys?.actions.map(({ isRefused }) => isRefused)).toEqual([true, undefined])
    await team.ask('DELETE', `/keys/${keys?.lines.find(({ id }) => id !== 'key-a-')?.id}`)
    const after = (await lists()).lists[2]
    expect(after?.lines.map(({ state, changes }) => [state, changes])).toEqual([
      ['live', []],
      ['revoked', []],
    ])
  })
})

describe('who may', () => {
  test.each([
    ['nobody', {}, 401, 'missing_api_key'],
    ['a wrong key', { 'x-api-key': 'nonsense' }, 401, 'invalid_api_key'],
    ['a wrong cookie', { cookie: 'sluice_session=s1.e30.x' }, 401, 'missing_api_key'],
  ])('not %s', async (_who, headers, status, code) => {
    const before = team.records().length
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/lists'],
      ['POST', '/keys'],
      ['DELETE', '/keys/key-a-'],
      ['POST', '/events'],
      ['PATCH', '/events/order'],
      ['POST', '/sample-flow'],
    ] as const) {
      const answer = await team.ask(method, path, undefined, headers)
      expect(outcome(answer)).toEqual([status, code])
    }
    expect(team.records()).toHaveLength(before)
  })

  test('the session reads from anywhere, and changes from the page itself only', async () => {
    const cookie = team.cookie(KEY_A)
    expect((await team.ask('GET', '', undefined, { cookie })).data).toMatchObject({ team: { id: 'a' } })
    const rename = (headers: Record<string, string>) =>
      team.ask('PATCH', '/events/order', { name: 'Renamed' }, { cookie, ...headers })
    for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }] as const)
      expect(outcome(await rename(headers))).toEqual([403, 'cross_origin'])
    expect(team.registry.entity('order')?.name).toBe('Order placed')
    expect((await rename({ origin: team.url })).status).toBe(200)
    expect(team.registry.entity('order')?.name).toBe('Renamed')
  })

  test('the session ends with its key', async () => {
    const cookie = team.cookie(KEY_A)
    await team.ask('POST', '/keys', { revokeOld: true }, { cookie, origin: team.url })
    expect((await team.ask('GET', '', undefined, { cookie })).status).toBe(401)
  })
})

describe('keys', () => {
  test('a new one is shown once and opens at once; the old one stays; a third is refused', async () => {
    const made = await team.ask('POST', '/keys')
    expect(made.status).toBe(201)
    const { key, prefix, revoked } = made.data as { key: string; prefix: string; revoked: string[] }
    expect([prefix, revoked]).toEqual([key.slice(0, 6), []])
    const { data, text } = await team.ask('GET', '', undefined, { 'x-api-key': key })
    expect((data as { keys: unknown[] }).keys).toHaveLength(2)
    expect(text).not.toContain(key)
    const third = await team.ask('POST', '/keys')
    expect(outcome(third)).toEqual([409, 'conflict'])
    expect(third.error.message).toBe(
      'The Team has two live keys, the most there may be. Revoke one first, or replace both at once.',
    )
  })

  test('all others may end with the new one', async () => {
    const { data } = await team.ask('POST', '/keys', { revokeOld: true })
    expect(data).toMatchObject({ revoked: ['key-a-'] })
    expect((await team.ask('GET', '')).status).toBe(401)
  })

  test('the last one cannot be ended, and another one can', async () => {
    const last = await team.ask('DELETE', '/keys/key-a-')
    expect(outcome(last)).toEqual([409, 'conflict'])
    expect(last.error.message).toContain('Make a new one first, then revoke this one.')
    const { key } = (await team.ask('POST', '/keys')).data as { key: string }
    const ended = await team.ask('DELETE', `/keys/${key.slice(0, 6)}`)
    expect(outcome(ended)).toEqual([200, { prefix: key.slice(0, 6), liveKeys: 1 }])
    expect((await team.ask('GET', '', undefined, { 'x-api-key': key })).status).toBe(401)
    const again = await team.ask('DELETE', `/keys/${key.slice(0, 6)}`)
    expect(outcome(again)).toEqual([200, { prefix: key.slice(0, 6), liveKeys: 1 }])
  })

  test('keys that are shown alike can only be replaced together, or be ended by an operator', async () => {
    await team.admin.applyFile('teams: [{ id: a, apiKeys: [key-a-1123456789-abcdefghijklmno] }]', { prune: false })
    const { status, error } = await team.ask('DELETE', '/keys/key-a-')
    expect([status, error.message]).toEqual([
      409,
      'Both live keys of the Team begin so. Replace them together, or ask an operator to revoke one by the whole key.',
    ])
  })

  test("another Team's key is not there, and a whole key does not belong into a path", async () => {
    await team.ask('POST', '/keys')
    expect(outcome(await team.ask('DELETE', '/keys/kez-b-'))).toEqual([404, 'not_found'])
    const whole = await team.ask('DELETE', `/keys/${KEY_A}`)
    expect([...outcome(whole), pointer(whole)?.path]).toEqual([400, 'invalid_request', 'prefix'])
    expect(team.registry.keyOpens('b', KEY_B)).toBe(true)
  })

  test('are made twenty a day at most, and the answer says when to try again', async () => {
    let key = KEY_A
    const replace = () => team.ask('POST', '/keys', { revokeOld: true }, { 'x-api-key': key })
    for (let count = 1; count < 20; count += 1) {
      const { status, data } = await replace()
      expect(status).toBe(201)
      key = (data as { key: string }).key
    }
    const { status, error, headers } = await replace()
    expect([status, headers.get('retry-after')]).toEqual([429, '86400'])
    expect(error).toEqual({
      code: 'rate_limited',
      message:
        'The Team has made 20 keys within 24 hours, the most that it can by itself: it can make the next one in 1 d. Try again after the time in Retry-After.',
      details: { retryAfterSeconds: 86_400 },
      retryable: true,
    })
    expect((await team.ask('GET', '', undefined, { 'x-api-key': key })).status).toBe(200)
  })

  test('that were revoked are told up to fifty, the last ones', async () => {
    const now = team.clock.now()
    const revoked: string[] = []
    for (let count = 0; count < 60; count += 1) {
      team.clock.now = () => now + count * 1_000
      const result = await team.admin.rotateKey('a', { revokeOld: true })
      if (result.outcome === 'rotated') revoked.push(...result.revoked)
    }
    const { key } = (await team.admin.rotateKey('a', { revokeOld: false })) as { key: string }
    await eventually(() => team.registry.keyOpens('a', key))
    const { data } = await team.ask('GET', '', undefined, { 'x-api-key': key })
    const { keys } = data as { keys: { prefix: string; revokedAt: string | null }[] }
    expect(keys.slice(0, 50).map(({ prefix }) => prefix)).toEqual(revoked.slice(-50))
    expect(keys.slice(50).map(({ revokedAt }) => revokedAt)).toEqual([null, null])
    expect((await team.ask('GET', '/lists', undefined, { 'x-api-key': key })).data).toMatchObject({
      lists: [{}, {}, { lines: { length: 52 } }],
    })
  })

  test('made at once by many: never more than two, and every one that was shown opens', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => team.ask('POST', '/keys')))
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    const keys = made.flatMap(({ status, data }) => (status === 201 ? [(data as { key: string }).key] : []))
    expect(keys.map((key) => team.registry.keyOpens('a', key))).toEqual([true])
  })
})

describe('Events, Steps and Projects', () => {
  test('are created, and shown by the time of the answer', async () => {
    expect(outcome(await team.ask('POST', '/events', { identifier: 'refund', name: 'Refund' }))).toEqual([
      201,
      { identifier: 'refund', name: 'Refund', archivedAt: null },
    ])
    expect(outcome(await team.ask('POST', '/steps', { identifier: 'refund.pay', event: 'refund' }))).toEqual([
      201,
      { identifier: 'refund.pay', name: 'refund.pay', event: 'refund', order: 1, archivedAt: null },
    ])
    const { status, data } = await team.ask('POST', '/projects', { name: 'Worker' })
    const { id } = data as { id: string }
    expect([status, data]).toEqual([
      201,
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Worker', archivedAt: null },
    ])
    expect(team.registry.project(id)?.team).toBe('a')
    expect(team.registry.entity('refund.pay')).toMatchObject({ team: 'a', event: 'refund' })
  })

  test('read only what is new in the topic', async () => {
    const counted = await startTeam()
    const { scan } = counted.journal
    let read = 0
    Object.assign(counted.journal, {
      scan: async function* (topic: string, from?: number) {
        for await (const record of scan(topic, from)) {
          read += 1
          yield record
        }
      },
    })
    for (const name of ['One', 'Two', 'Three'])
      expect((await counted.ask('PATCH', '/events/order', { name })).status).toBe(200)
    // Each change reads on at the last record that is known, and reads back its own.
    expect(read).toBe(3 * 2)
    await counted.close()
  })

  test('are answered only once this process shows them', async () => {
    let looks = 0
    const lagging = await startTeam({
      knownRegistry: () => {
        looks += 1
        return looks < 10 ? { state: emptyState(), end: 0 } : team.known()
      },
      journal: team.journal,
    })
    expect((await lagging.ask('POST', '/events', { identifier: 'late' })).status).toBe(201)
    expect(looks).toBe(10)
    await lagging.close()
  })

  test('a Project takes an id of its sender in any form', async () => {
    const id = '3f2504e0-4f89-11d3-9a0c-0305e82c3309'
    const given = `{${id.toUpperCase()}}`
    expect((await team.ask('POST', '/projects', { name: 'Worker', id: given })).data).toMatchObject({ id })
    const renamed = await team.ask('PATCH', `/projects/${encodeURIComponent(given)}`, { name: 'Packer' })
    expect(renamed.data).toMatchObject({ id, name: 'Packer' })
  })

  test('are renamed, moved, archived and restored', async () => {
    const patch = (path: string, body: object) => team.ask('PATCH', path, body)
    expect((await patch('/steps/order.ship', { name: 'Send', order: 9 })).data).toMatchObject({
      name: 'Send',
      order: 9,
    })
    expect((await patch('/steps/order.ship', { event: null })).data).toMatchObject({ event: null })
    expect((await patch(`/projects/${PROJECT_A}`, { archived: true })).data).toMatchObject({ archivedAt: NOW })
    expect((await patch('/events/order', { archived: true })).data).toMatchObject({ archivedAt: NOW })
    expect(team.registry.entity('order.validate')?.archivedAt).toBe(NOW)
    const { data } = await team.ask('GET', '')
    expect(data).toMatchObject({ events: [{ archivedAt: NOW, steps: [{ archivedAt: NOW }] }] })
    expect((await patch('/events/order', { archived: false })).data).toMatchObject({ archivedAt: null })
    expect(team.registry.entity('order.validate')).not.toHaveProperty('archivedAt')
  })

  test('not with two identifiers, and by the path with an empty one', async () => {
    await team.ask('POST', '/events', { identifier: '-' })
    const named = { name: 'Named' }
    const twice = await team.ask('PATCH', '/events/-?identifier=order&identifier=-', named)
    expect([outcome(twice), pointer(twice)]).toEqual([
      [400, 'invalid_request'],
      { path: 'identifier', message: 'is given more than once' },
    ])
    expect((await team.ask('PATCH', '/events/-?identifier=', named)).data).toMatchObject({ identifier: '-' })
  })

  test('whatever their identifier is', async () => {
    for (const identifier of ['a/b c', 'ä%2F', '-', '..', '<script>']) {
      expect((await team.ask('POST', '/events', { identifier })).status).toBe(201)
      const path = identifier === '..' ? '-?identifier=..' : encodeURIComponent(identifier)
      const { data } = await team.ask('PATCH', `/events/${path}`, { name: 'Named' })
      expect(data).toMatchObject({ identifier, name: 'Named' })
    }
  })

  test.each<[string, string, string, object | string, number, string, RegExp]>([
    ['taken here', 'POST', '/events', { identifier: 'order' }, 409, 'conflict', /already\. Choose another one/],
    [
      'taken elsewhere',
      'POST',
      '/events',
      { identifier: 'secret' },
      409,
      'conflict',
      /is taken: it is unique over all/,
    ],
    ['taken by a Step elsewhere', 'POST', '/steps', { identifier: 'secret.step' }, 409, 'conflict', /is taken/],
    ["another Team's Project", 'POST', '/projects', { name: 'X', id: PROJECT_B }, 409, 'conflict', /is taken/],
    ["another Team's Event", 'PATCH', '/events/secret', { name: 'Mine' }, 404, 'not_found', /no Event/],
    ["another Team's Step", 'PATCH', '/steps/secret.step', { archived: true }, 404, 'not_found', /no Step/],
    ["another Team's Project", 'PATCH', `/projects/${PROJECT_B}`, { name: 'Mine' }, 404, 'not_found', /no Project/],
    ['of no kind', 'PATCH', '/events/order.ship', { name: 'Mine' }, 404, 'not_found', /no Event/],
    [
      'of an Event elsewhere',
      'POST',
      '/steps',
      { identifier: 's', event: 'secret' },
      400,
      'invalid_request',
      /\/event must be an Event of the Team; "secret" is none\.$/,
    ],
  ])('%s: %s %s is refused', async (_what, method, path, body, status, code, message) => {
    const before = team.records().length
    const answer = await team.ask(method, path, body)
    expect(outcome(answer)).toEqual([status, code])
    expect(answer.error.message).toMatch(message)
    expect(answer.text).not.toMatch(/Team B|of b|"b"/)
    expect(team.records()).toHaveLength(before)
  })

  test('a Step of an archived Event is neither made nor restored', async () => {
    await team.ask('PATCH', '/events/order', { archived: true })
    const made = await team.ask('POST', '/steps', { identifier: 'order.late', event: 'order' })
    const restored = await team.ask('PATCH', '/steps/order.ship', { archived: false })
    for (const answer of [made, restored])
      expect([answer.status, answer.error.message]).toEqual([
        409,
        'The Event of this Step is archived. Restore the Event first.',
      ])
  })
})

describe('the quota', () => {
  test('is shown, completed by the settings, and cannot be changed', async () => {
    const own = await startTeam({
      quotas: loadConfig({ QUOTA_BYTES_PER_SECOND: '4000000', QUOTA_MODE: 'shadow' }),
    })
    try {
      await own.admin.applyFile('teams: [{ id: a, limits: { entriesPerSecond: 2000 } }]', { prune: false })
      const limits = { entriesPerSecond: 2_000, bytesPerSecond: 4_000_000, burstSeconds: 10, shadow: true }
      await eventually(async () => {
        expect((await own.ask('GET', '')).data).toMatchObject({ limits })
      })
      expect((await own.ask('GET', '/lists')).data).toMatchObject({ limits })
      const refused = await own.ask('PATCH', '', { defaultProject: null, limits: { entriesPerSecond: 1 } })
      expect([...outcome(refused), pointer(refused)?.path]).toEqual([400, 'invalid_request', '/limits'])
      await own.ask('PATCH', '', { defaultProject: PROJECT_A })
      expect(own.registry.team('a')?.limits).toEqual({ entriesPerSecond: 2_000 })
    } finally {
      await own.close()
    }
  })
})

describe('the Project for logs of unknown services', () => {
  const projects = async () => ((await team.ask('GET', '/lists')).data as TeamLists).lists[1]

  test('is named and taken back, and shown by the time of the answer', async () => {
    const named = { id: 'a', name: 'Team A', defaultProject: PROJECT_A }
    expect(outcome(await team.ask('PATCH', '', { defaultProject: PROJECT_A.toUpperCase() }))).toEqual([200, named])
    expect((await team.ask('GET', '')).data).toMatchObject({ team: named })
    expect(team.registry.team('a')).toEqual(named)
    const list = await projects()
    expect(list?.lines).toMatchObject([{ id: PROJECT_A, isDefault: true }])
    expect(list?.actions[0]?.fields).toEqual([{ name: 'defaultProject', value: PROJECT_A }])
    expect(list?.options).toEqual({ defaultProject: [[PROJECT_A, 'Checkout']] })
    expect(outcome(await team.ask('PATCH', '', { defaultProject: null }))).toEqual([
      200,
      { ...named, defaultProject: null },
    ])
    expect(team.registry.team('a')).not.toHaveProperty('defaultProject')
    expect((await projects())?.lines[0]).not.toHaveProperty('isDefault')
  })

  test('is no other Team’s, no archived one, and nothing else', async () => {
    for (const id of [PROJECT_B, '3f2504e0-4f89-11d3-9a0c-0305e82c3309', 'Checkout', 7]) {
      const answer = await team.ask('PATCH', '', { defaultProject: id })
      expect([...outcome(answer), pointer(answer)?.path]).toEqual([400, 'invalid_request', '/defaultProject'])
    }
    expect(outcome(await team.ask('PATCH', '', {}))).toEqual([400, 'invalid_request'])
    await team.ask('PATCH', `/projects/${PROJECT_A}`, { archived: true })
    const archived = await team.ask('PATCH', '', { defaultProject: PROJECT_A })
    expect([...outcome(archived), archived.error.message]).toEqual([
      409,
      'conflict',
      expect.stringContaining('Restore it first'),
    ])
    expect((await projects())?.options).toEqual({ defaultProject: [] })
  })

  test('is none once it is archived, and stays none when it is restored', async () => {
    await team.ask('PATCH', '', { defaultProject: PROJECT_A })
    for (const archived of [true, false]) {
      await team.ask('PATCH', `/projects/${PROJECT_A}`, { archived })
      expect((await team.ask('GET', '')).data).toMatchObject({ team: { defaultProject: null } })
    }
  })

  test('needs a key of the Team, or the page itself', async () => {
    expect(outcome(await team.ask('PATCH', '', { defaultProject: null }, {}))).toEqual([401, 'missing_api_key'])
  })
})

describe('a body that cannot be accepted', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['/events', {}, '/identifier', /is missing/],
    ['/events', { identifier: '' }, '/identifier', /is empty/],
    ['/events', { identifier: 'x'.repeat(1_025) }, '/identifier', /1025 bytes; the most is 1024/],
    ['/events', { identifier: 'a\u001b[31m' }, '/identifier', /control characters/],
    ['/events', { identifier: 7 }, '/identifier', /must be a string/],
    ['/events', { identifier: 'x', name: null }, '/name', /must be a string/],
    ['/events', { identifier: 'x', 'na/me~': 1 }, '/na~1me~0', /is not a field; this path takes identifier, name/],
    ['/events', { identifier: 'x', __proto__x: 1 }, '/__proto__x', /is not a field/],
    ['/events', '{"identifier":"x","__proto__":{}}', '/__proto__', /is not a field/],
    ['/events', '{"identifier":"x","constructor":{}}', '/constructor', /is not a field/],
    ['/steps', { identifier: 'x', order: 0 }, '/order', /whole number from 1/],
    ['/steps', { identifier: 'x', event: '' }, '/event', /is empty/],
    ['/projects', {}, '/name', /is missing/],
    ['/projects', { name: 'x', id: 'nonsense' }, '/id', /must be a GUID/],
    ['/keys', { revokeOld: 'yes' }, '/revokeOld', /true or false/],
    ['/sample-flow', { anything: 1 }, '/anything', /takes none/],
    ['/events', [], '', /must be a JSON object/],
    ['/events', 'null', '', /must be a JSON object/],
  ])('%s %j names %s', async (path, body, at, message) => {
    const before = team.records().length
    const answer = await team.ask('POST', path, body)
    expect([...outcome(answer), pointer(answer)?.path]).toEqual([400, 'invalid_request', at])
    expect(pointer(answer)?.message).toMatch(message)
    expect(answer.error.message).toContain(`${at || 'it'} ${pointer(answer)?.message}.`)
    expect(team.records()).toHaveLength(before)
  })

  test('names the first of many fields that are none', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => index.toString(36))
    const { error } = await team.ask('POST', '/events', Object.fromEntries(names.map((name) => [name, 1])))
    expect(error.details).toHaveLength(20)
  })

  test('that changes nothing says what could be', async () => {
    const answer = await team.ask('PATCH', '/steps/order.ship', {})
    expect(pointer(answer)).toEqual({
      path: '',
      message: 'has nothing to change; give one of name, event, order, archived',
    })
  })

  test('that is no JSON, too large, or of another type', async () => {
    expect(outcome(await team.ask('POST', '/events', '{'))).toEqual([400, 'malformed_json'])
    expect(outcome(await team.ask('POST', '/events', { identifier: 'x'.repeat(20_000) }))).toEqual([
      413,
      'payload_too_large',
    ])
    const form = await team.ask('POST', '/events', 'identifier=x', {
      'x-api-key': KEY_A,
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(outcome(form)).toEqual([415, 'unsupported_media_type'])
  })
})

describe('paths', () => {
  test('know their methods', async () => {
    for (const [method, path, allow] of [
      ['POST', '', 'GET, HEAD, PATCH'],
      ['GET', '/keys', 'POST'],
      ['GET', '/keys/sl_abc', 'DELETE'],
      ['DELETE', '/events/order', 'PATCH'],
      ['GET', '/sample-flow', 'POST'],
    ] as const) {
      const answer = await team.ask(method, path)
      expect([...outcome(answer), answer.headers.get('allow')]).toEqual([405, 'method_not_allowed', allow])
      expect(answer.error.message).toContain(`Use ${allow.replaceAll(', ', ' or ')}.`)
    }
  })

  test('with parameters that are none, and escapes that are none, are refused', async () => {
    expect(outcome(await team.ask('GET', '?limit=1'))).toEqual([400, 'invalid_request'])
    expect(outcome(await team.ask('PATCH', '/events/order?identifier=x', { name: 'X' }))).toEqual([
      400,
      'invalid_request',
    ])
    expect(outcome(await team.ask('PATCH', '/events/%E0%A4%A', { name: 'X' }))).toEqual([400, 'invalid_request'])
  })

  test('beside and below them are passed on', async () => {
    for (const path of ['/api/teams', '/api/team/nothing'])
      expect(await (await fetch(team.url + path)).text()).toBe('passed on')
  })
})

describe('when the journal fails', () => {
  test('says whether the change may have been made', async () => {
    for (const reason of ['not_written', 'unknown'] as const) {
      team.journal.failAppends(reason, 1, team.topic)
      const answer = await team.ask('POST', '/keys', { revokeOld: true })
      expect([...outcome(answer), answer.error.details]).toEqual([503, 'server_error', { outcome: reason }])
      expect(answer.headers.get('retry-after')).toBe('1')
    }
  })

  test.each([TOPIC, AUDIT_TOPIC])('until an operator acts on the topic %s, says so', async (topic) => {
    for (const [isFinal, told] of [
      [true, 'The journal takes the change only once an operator has acted'],
      [false, 'The journal did not confirm the change'],
    ] as const) {
      team.journal.failAppends('not_written', 1, topic, isFinal)
      const { status, error } = await team.ask('POST', '/events', { identifier: 'refused' })
      expect([status, error.code, error.details]).toEqual([503, 'server_error', { outcome: 'not_written' }])
      expect(error.message).toContain(told)
    }
  })

  test('after the change was written, the change may have been made, and one that is found was', async () => {
    team.journal.failAppends('unknown', 1, team.topic)
    expect((await team.ask('POST', '/events', { identifier: 'found' })).status).toBe(201)
    const { scan } = team.journal
    let scans = 0
    const flaky: typeof scan = (topic) => {
      scans += 1
      if (scans === 2) throw new Error('the connection broke')
      return scan(topic)
    }
    const cut = await startTeam({ journal: { ...team.journal, scan: flaky } })
    const { status, error } = await cut.ask('POST', '/events', { identifier: 'lost' })
    expect([status, error.code, error.details]).toEqual([503, 'server_error', { outcome: 'unknown' }])
    await cut.close()
  })

  test('that does not answer: what has begun may happen, what waits for it does not', async () => {
    const held = Promise.withResolvers<void>()
    const slow = await startTeam({
      changes: { waitingMax: 16, teamWaitingMax: 4, timeoutMs: 50 },
      journal: {
        ...team.journal,
        scan: async function* (topic) {
          await held.promise
          yield* team.journal.scan(topic)
        },
      },
    })
    const answers = await Promise.all(['one', 'two'].map((identifier) => slow.ask('POST', '/events', { identifier })))
    expect(answers.map(({ status, error }) => [status, error.code, error.details])).toEqual([
      [503, 'server_error', { outcome: 'unknown' }],
      [503, 'server_error', { outcome: 'not_written' }],
    ])
    const keys = () => team.records().map(({ key }) => String(key))
    expect(keys()).not.toContain('event/one')
    held.resolve()
    await eventually(async () => {
      const { status, error } = await slow.ask('POST', '/events', { identifier: 'three' })
      expect([201, 'conflict']).toContain(status === 201 ? status : error.code)
    })
    expect(keys()).toEqual(expect.arrayContaining(['event/one', 'event/three']))
    expect(keys()).not.toContain('event/two')
    await slow.close()
  })

  test('takes no more changes than it can work off, and of one Team fewer than of all', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = await startTeam({
      changes: { waitingMax: 5, teamWaitingMax: 4, timeoutMs: 15_000 },
      journal: {
        ...team.journal,
        scan: async function* (topic) {
          await held
          yield* team.journal.scan(topic)
        },
      },
    })
    const ask = (count: number, key: string) =>
      Array.from({ length: count }, (_, n) =>
        slow.ask('POST', '/events', { identifier: `${key}-${n}` }, { 'x-api-key': key }),
      )
    const own = ask(7, KEY_A)
    expect(outcome(await Promise.race(own))).toEqual([503, 'server_error'])
    const others = ask(3, KEY_B)
    expect(outcome(await Promise.race(others))).toEqual([503, 'server_error'])
    release()
    const refused = async (answers: typeof own) =>
      (await Promise.all(answers)).filter(({ status }) => status === 503).length
    expect([await refused(own), await refused(others)]).toEqual([3, 2])
    await slow.close()
  }, 120_000)
})
