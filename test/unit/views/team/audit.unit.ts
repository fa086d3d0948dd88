import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProxies } from '../../../../shared/http/proxies.ts'
import { toldBy } from '../../../support/registry-topic.ts'
import { KEY_A, KEY_B, startTeam, type TeamFixture } from '../../../support/team-fixture.ts'

let team: TeamFixture
beforeEach(async () => {
  team = await startTeam({ proxies: createProxies(['127.0.0.1']), changesMax: 5 })
})
afterEach(() => team.close())

const told = () => toldBy(team.journal)
const event = (identifier: string) => ({ identifier })

describe('a change that a Team makes', () => {
  test('is told with the key that made it, the path, and the address that trusted proxies tell', async () => {
    const headers = { 'x-api-key': KEY_A, 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }
    await team.ask('POST', '/events', event('refund'), headers)
    await team.ask('PATCH', '/events/refund', { archived: true }, headers)
    const actor = { kind: 'team', id: 'a', key: 'key-a-' }
    const from = '203.0.113.7'
    expect(await told()).toMatchObject([
      { actor, from, via: 'POST /api/team/events', action: 'created', team: 'a', outcome: 'success' },
      { actor, from, via: 'PATCH /api/team/events/:id', action: 'archived', subject: { kind: 'event', id: 'refund' } },
    ])
  })

  test('by a session is told with the key that the session began with', async () => {
    const headers = { cookie: team.cookie(KEY_A), origin: team.url }
    const { status, data } = await team.ask('POST', '/keys', {}, headers)
    const { key } = data as { key: string }
    const changes = await told()
    expect(status).toBe(201)
    expect(changes).toMatchObject([
      { actor: { id: 'a', key: 'key-a-' }, from: '127.0.0.1', subject: { kind: 'key', id: key.slice(0, 6) } },
    ])
    expect(JSON.stringify(changes)).not.toContain(key.slice(0, 7))
  })

  test('that is refused is none', async () => {
    await team.ask('POST', '/events', event('order'))
    await team.ask('POST', '/events', { name: 'no identifier' })
    await team.ask('POST', '/events', event('new'), { 'x-api-key': 'nobody' })
    expect(await told()).toEqual([])
  })

  test('is refused, and not made, where it cannot be told', async () => {
    const before = team.records().length
    team.journal.failAppends('unknown')
    const { status, error } = await team.ask('POST', '/events', event('refund'))
    expect([status, error.code, error.details]).toEqual([503, 'server_error', { outcome: 'not_written' }])
    expect(team.records()).toHaveLength(before)
  })

  test('is refused beyond so many a day; other Teams go on', async () => {
    for (const name of ['1', '2', '3', '4', '5']) await team.ask('PATCH', '/events/order', { name })
    const { status, error, headers } = await team.ask('PATCH', '/events/order', { name: '6' })
    expect([status, error.code]).toEqual([429, 'rate_limited'])
    expect(Number(headers.get('retry-after'))).toBe(86_400 / 5)
    expect(team.registry.entity('order')?.name).toBe('5')
    expect((await team.ask('PATCH', '/events/order', { name: '5' })).status).toBe(200)
    expect((await team.ask('PATCH', '/events/secret', { name: 'x' }, { 'x-api-key': KEY_B })).status).toBe(200)
    expect(await told()).toHaveLength(6)
  })
})

test('a change that has to be taken back is, also beyond the limit of a day, and both are told', async () => {
  for (const name of ['1', '2', '3', '4']) await team.ask('PATCH', '/events/order', { name })
  const second = await team.admin.rotateKey('a', { revokeOld: false })
  if (second.outcome !== 'rotated') throw new Error(second.reason)
  // Another process ends the first key just before this one ends the second.
  const { append } = team.journal
  team.journal.append = async (batch) => {
    if (batch.topic === team.topic) {
      team.journal.append = append
      await team.admin.revokeKey('a', 'key-a-')
    }
    await append(batch)
  }
  const prefix = second.key.slice(0, 6)
  const { status } = await team.ask('DELETE', `/keys/${prefix}`, undefined, { 'x-api-key': second.key })
  expect([status, team.registry.keyOpens('a', second.key)]).toEqual([409, true])
  expect((await told()).slice(4)).toMatchObject([
    { action: 'revoked', subject: { id: prefix } },
    { action: 'restored', subject: { id: prefix } },
  ])
})

test('a watch is told without its secret and the path of its webhook; the fingerprint tells that they changed', async () => {
  const webhook = { url: 'https://hooks.slack.com/services/T0/B0/hidden', format: 'slack' }
  const condition = { type: 'count', list: 'event-logs', params: { level: 'Error' }, more: 10, minutes: 5 }
  const { data } = await team.ask('POST', '/watches', { name: 'Errors', condition, webhook })
  const { id, secret } = data as { id: string; secret: string }
  await team.ask('PATCH', `/watches/${id}`, { webhook: { ...webhook, url: `${webhook.url}-2` } })
  await team.ask('DELETE', `/watches/${id}`)
  await team.ask('POST', `/watches/${id}/test`)
  const [made, changed, deleted, ...more] = await told()
  const fingerprint = expect.stringMatching(/^[0-9a-f]{8}$/)
  const shown = {
    name: 'Errors',
    condition,
    paused: false,
    webhook: { origin: 'https://hooks.slack.com', format: 'slack', fingerprint },
  }
  expect(made).toMatchObject({
    action: 'created',
    subject: { kind: 'watch', id },
    team: 'a',
    before: null,
    after: shown,
  })
  expect(changed).toMatchObject({ action: 'changed', before: shown, after: shown })
  expect(changed?.before).not.toEqual(changed?.after)
  expect(deleted).toMatchObject({ action: 'deleted', before: changed?.after, after: null })
  expect(more).toEqual([])
  const text = JSON.stringify([made, changed, deleted])
  expect([text.includes('hidden'), text.includes(secret)]).toEqual([false, false])
})
