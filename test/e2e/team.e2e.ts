import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient, type Envelope } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { runSluice, type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'team-e2e-key-0123456789abcdef0123456789'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const REGISTRY = `teams: [{ id: ops, name: Ops, apiKeys: ["${KEY}"] }]
events: [{ identifier: order-placed, team: ops }]
steps:
  - { identifier: order-placed.pay, team: ops, event: order-placed }
  - { identifier: order-placed.pack, team: ops, event: order-placed }
  - { identifier: order-placed.ship, team: ops, event: order-placed }
projects: [{ id: ${PROJECT}, team: ops }]
`
const eventLog = (uniqueIdentifier: string) => ({ uniqueIdentifier, payload: 'x', level: 'Error' })

interface Settings {
  readonly keys: readonly { readonly prefix: string; readonly revokedAt: string | null }[]
  readonly events: readonly { readonly identifier: string; readonly name: string; readonly archivedAt: string | null }[]
}
interface Refusal {
  readonly code: string
  readonly body: string
  readonly unnoted: number
  readonly nearest: unknown
}

const { settings, ...folder } = serverFolder(REGISTRY)
let server: SluiceProcess

beforeAll(async () => {
  server = await startSluice(settings)
})

afterAll(async () => {
  server.kill('SIGKILL')
  await server.exited
  folder.remove()
})

async function ask<Data>(method: string, path: string, body?: unknown, key = KEY): Promise<Envelope<Data>> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as Envelope<Data>
}

const refusals = async (query = ''): Promise<readonly Refusal[]> =>
  (await ask<{ items: Refusal[] }>('GET', `/api/refusals${query}`)).data.items

describe('a Team in the embedded mode', () => {
  test('makes a key that sends logs at once, and ends it', async () => {
    const { data } = await ask<{ key: string }>('POST', '/api/team/keys')
    expect(await ask('POST', '/api/ExternalLogs', eventLog('order-placed'), data.key)).toMatchObject({ success: true })
    await ask('DELETE', `/api/team/keys/${data.key.slice(0, 6)}`)
    expect((await ask('POST', '/api/ExternalLogs', eventLog('order-placed'), data.key)).error.code).toBe(
      'invalid_api_key',
    )
  })

  test('finds a rotation in the audit, with who made it and from where, and without any of the key', async () => {
    const { data } = await ask<{ key: string }>('POST', '/api/team/keys', { revokeOld: false })
    await ask('DELETE', `/api/team/keys/${data.key.slice(0, 6)}`)
    const { stdout } = await runSluice(['audit', '--team', 'ops'], settings)
    const changes = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(changes[0]).toMatchObject({ actor: { kind: 'server' }, via: 'REGISTRY_FILE', subject: { kind: 'team' } })
    const subject = { kind: 'key', id: data.key.slice(0, 6) }
    const byTeam = { actor: { kind: 'team', id: 'ops', key: KEY.slice(0, 6) }, from: '127.0.0.1', outcome: 'success' }
    expect(changes.slice(-2)).toMatchObject([
      { ...byTeam, via: 'POST /api/team/keys', action: 'created', subject, before: null },
      { ...byTeam, via: 'DELETE /api/team/keys/:id', action: 'revoked', subject, after: { prefix: subject.id } },
    ])
    for (const key of [KEY, data.key]) expect(stdout).not.toContain(key.slice(0, 7))
  })

  test('archives an Event; the command and a restart with the same file leave it so; a file restores it', async () => {
    await ask('POST', '/api/team/events', { identifier: 'refund', name: 'Refund' })
    expect(await ask('POST', '/api/ExternalLogs', eventLog('refund'))).toMatchObject({ success: true })
    await ask('PATCH', '/api/team/events/order-placed', { archived: true })
    for (const identifier of ['order-placed', 'order-placed.pay']) {
      const { error } = await ask('POST', '/api/ExternalLogs', eventLog(identifier))
      expect(error).toMatchObject({ code: 'entity_not_found', message: expect.stringContaining('is archived') })
    }
    const listed = await runSluice(['registry', 'list'], settings)
    expect(listed.stdout).toMatch(/event order-placed {2}order-placed {2}\(archived 2/)

    server.kill('SIGTERM')
    await server.exited
    server = await startSluice(settings)
    const { data } = await ask<Settings>('GET', '/api/team')
    expect(data.events.map(({ identifier, archivedAt }) => [identifier, archivedAt !== null])).toEqual([
      ['order-placed', true],
      ['refund', false],
    ])

    const file = join(folder.path, 'restored.yaml')
    writeFileSync(file, 'events: [{ identifier: order-placed, team: ops, archived: false }]')
    expect((await runSluice(['registry', 'apply', file], settings)).stdout).toContain('1 change made')
    await eventually(async () => {
      expect(await ask('POST', '/api/ExternalLogs', eventLog('order-placed.pay'))).toMatchObject({ success: true })
    })
  })

  test('sends itself a sample flow, and finds it', async () => {
    const { data } = await ask<{ correlationKey: string; sent: number }>('POST', '/api/team/sample-flow')
    const flow = await eventually(async () => {
      const found = await ask<{ summary: { total: number }; steps: { seen: boolean }[] }>(
        'GET',
        `/api/flows/${data.correlationKey}`,
      )
      expect(found.data.summary.total).toBe(data.sent)
      return found.data
    })
    expect(flow.steps.map(({ seen }) => seen)).toEqual([true, true, false])
  })

  test('sees what was refused, across a restart, and the flow of logs goes on', async () => {
    await ask('POST', '/api/ExternalLogs', eventLog('order-plcaed'))
    const [refused] = await eventually(async () => {
      const items = await refusals('?code=entity_not_found&limit=1')
      expect(items[0]?.nearest).toEqual({ identifier: 'order-placed', name: 'order-placed' })
      return items
    })
    expect(refused?.body).toBe(JSON.stringify(eventLog('order-plcaed')))
    server.kill('SIGKILL')
    await server.exited
    server = await startSluice(settings)
    await eventually(async () => expect((await refusals('?limit=1'))[0]).toEqual(refused))
  })

  test('is not hurt by a flood of refusals: every answer is right, some are noted, all are counted', async () => {
    const before = (await refusals('?code=invalid_log_level')).length
    expect(before).toBe(0)
    const rounds = 40
    const each = 50
    let taken = 0
    for (let round = 0; round < rounds; round += 1) {
      const bad = Array.from({ length: each }, () =>
        ask('POST', '/api/ExternalLogs', { ...eventLog('order-placed'), level: 'Loud' }),
      )
      const good = ask('POST', '/api/ExternalLogs', eventLog('order-placed'))
      expect((await Promise.all(bad)).every(({ error }) => error.code === 'invalid_log_level')).toBe(true)
      if ((await good).success) taken += 1
    }
    expect(taken).toBe(rounds)
    await eventually(async () => {
      const items = await refusals('?code=invalid_log_level')
      const unnoted = items.reduce((sum, one) => sum + one.unnoted, 0)
      expect(items.length + unnoted).toBe(rounds * each)
      expect(items.length).toBeGreaterThanOrEqual(20)
      expect(items.length).toBeLessThan(200)
    })
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(metrics).toMatch(/^sluice_refusals_noted_total\{outcome="unnoted"\} [1-9]/m)
    expect(await createClient(server.url, KEY).all('/api/event-logs?level=error')).not.toHaveLength(0)
  })
})
