import dns, { type LookupAddress } from 'node:dns'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { describeTeam } from '../../../../shared/registry/describe.ts'
import { createTickets } from '../../../../views/session/tickets.ts'
import { sampleRequests } from '../../../../views/team/sample-flow.ts'
import { startGateway } from '../../../support/gateway.ts'
import { startBare } from '../../../support/raw-http.ts'
import { NOW, registryOf } from '../../../support/registry-topic.ts'
import { PROJECT_A, startTeam } from '../../../support/team-fixture.ts'

const NOW_MS = Date.parse(NOW)
const tickets = createTickets(() => ['a secret of 32 characters or more'], { now: () => NOW_MS })

const requestsOf = (file: object) => {
  const registry = registryOf(JSON.stringify({ teams: [{ id: 'a' }], ...file }))
  return sampleRequests(describeTeam(registry, { id: 'a', name: 'A' }), 'sample-1', NOW_MS)
}
const identifiersOf = (file: object): string[] => [
  ...new Set(requestsOf(file).map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier)),
]
const event = (identifier: string, more = {}) => ({ identifier, team: 'a', ...more })
const steps = (of: string | null, count: number, more = {}) =>
  Array.from({ length: count }, (_, n) => ({ identifier: `${of}.${n}`, team: 'a', event: of, ...more }))

describe('a sample', () => {
  test('goes through the Event with most Steps, all but the last', () => {
    const file = { events: [event('small'), event('large')], steps: [...steps('small', 1), ...steps('large', 3)] }
    expect(identifiersOf(file)).toEqual(['large', 'large.0', 'large.1'])
  })

  test('leaves out what is archived', () => {
    const events = [event('old', { archived: true }), event('new')]
    const projects = [{ id: PROJECT_A, team: 'a', archived: true }]
    expect(identifiersOf({ events, steps: [...steps('old', 3), ...steps('new', 2)], projects })).toEqual([
      'new',
      'new.0',
      'new.1',
    ])
    expect(identifiersOf({ events: [event('old', { archived: true })] })).toEqual([])
  })

  test('makes do with what there is', () => {
    expect(identifiersOf({ events: [event('bare')] })).toEqual(['bare'])
    expect(identifiersOf({ steps: steps(null, 1) })).toEqual(['null.0'])
    expect(identifiersOf({ projects: [{ id: PROJECT_A, team: 'a' }] })).toEqual([PROJECT_A])
    expect(identifiersOf({})).toEqual([])
  })

  test('has one key, lies in the past half hour, and names its environment', () => {
    const requests = requestsOf({
      events: [event('large')],
      steps: steps('large', 9),
      projects: [{ id: PROJECT_A, team: 'a' }],
    })
    const entries = requests.flatMap(({ body }) => ('logEntries' in body ? (body.logEntries as object[]) : [body]))
    expect(entries.length).toBeGreaterThan(8)
    for (const entry of entries) {
      expect(entry).toMatchObject({ correlationKey: 'sample-1', environment: 'Sample' })
      const { timestamp } = entry as { timestamp: string }
      expect(Date.parse(timestamp)).toBeGreaterThan(NOW_MS - 1_800_000)
      expect(Date.parse(timestamp)).toBeLessThan(NOW_MS)
    }
  })
})

describe('POST /api/team/sample-flow', () => {
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    vi.restoreAllMocks()
    for (const close of closing.splice(0)) await close()
  })

  const startedTeam = async (url: string | null) => {
    const team = await startTeam({ access: { url: () => url, tickets } })
    closing.push(team.close)
    return team
  }

  /** A gateway that trusts the same tickets. */
  const startedGateway = async (trusted = tickets) => {
    const registry = registryOf(`
teams: [{ id: a, apiKeys: [some-key-0123456789-abcdefghijkl] }, { id: b }]
events: [{ identifier: order, team: a }]
steps: [{ identifier: order.validate, team: a, event: order }, { identifier: order.ship, team: a, event: order }]
projects: [{ id: ${PROJECT_A}, team: a }]`)
    const gateway = await startGateway({
      clock: { now: () => NOW_MS },
      registry: { ...registry, keyOpens: (team, key) => trusted.opens(team, key) },
    })
    closing.push(gateway.close)
    return gateway
  }

  const standIn = async (answer: (body: string) => [number, string]): Promise<string> => {
    const { url, close } = await startBare(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      const [status, text] = answer(body)
      response.writeHead(status, status === 302 ? { location: '/' } : {}).end(text)
    })
    closing.push(close)
    return url
  }

  test('sends it through the gateway, with a ticket in place of a key', async () => {
    const gateway = await startedGateway()
    const team = await startedTeam(`http://127.0.0.1:${gateway.port}`)
    const { status, data } = await team.ask('POST', '/sample-flow')
    expect([status, data]).toEqual([200, { correlationKey: expect.stringMatching(/^sample-2026-03-04-/), sent: 8 }])
    const records = gateway.stored()
    expect(records).toHaveLength(8)
    const { correlationKey } = data as { correlationKey: string }
    for (const record of records) expect(record).toMatchObject({ team: 'a', correlationKey })
  })

  test('refuses without a gateway, without anything to send it for, and says what to do', async () => {
    const alone = await startedTeam(null)
    expect((await alone.ask('POST', '/sample-flow')).error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('GATEWAY_URL'),
    })
    const gateway = await startedGateway()
    const empty = await startedTeam(`http://127.0.0.1:${gateway.port}`)
    for (const path of ['/events/order', '/steps/nightly', `/projects/${PROJECT_A}`])
      await empty.ask('PATCH', path, { archived: true })
    expect((await empty.ask('POST', '/sample-flow')).error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Create one first'),
    })
    expect(gateway.records()).toEqual([])
  })

  test.each([
    ['has another secret', 'another secret of the gateway ..', 0],
    ['has a clock that is two minutes ahead', 'a secret of 32 characters or more', 120_000],
    ['has a clock that is two minutes late', 'a secret of 32 characters or more', -120_000],
  ])('names both causes where the gateway %s', async (_what, secret, aheadMs) => {
    const gateway = await startedGateway(createTickets(() => [secret], { now: () => NOW_MS + aheadMs }))
    const team = await startedTeam(`http://127.0.0.1:${gateway.port}`)
    const { status, error } = await team.ask('POST', '/sample-flow')
    expect([status, error.code]).toEqual([409, 'conflict'])
    expect(error.message).toMatch(/same SESSION_SECRET, and clocks that differ by less than a minute\.$/)
  })

  test.each<[string, () => [number, string], number, RegExp]>([
    ['answers something else', () => [200, '<html>'], 503, /did not answer as one/],
    ['redirects', () => [302, ''], 503, /did not answer as one/],
    [
      'cannot store it now',
      () => [503, '{"success":false,"error":{"code":"server_error","message":"No journal.","retryable":true}}'],
      503,
      /could not take the sample: No journal\./,
    ],
    [
      'takes a part',
      () => [200, '{"success":true,"data":{"message":"","count":1,"rejected":1}}'],
      409,
      /refused a part of the batch/,
    ],
    [
      'refuses an entry',
      () => [200, '{"success":false,"error":{"code":"entity_not_found","message":"None.","retryable":false}}'],
      409,
      /refused entity_not_found of the sample\. None\./,
    ],
  ])('passes on that the gateway %s', async (_what, answer, status, message) => {
    const team = await startedTeam(await standIn(answer))
    const { status: found, error } = await team.ask('POST', '/sample-flow')
    expect(found).toBe(status)
    expect(error.message).toMatch(message)
  })

  test('says so where nobody answers', async () => {
    const team = await startedTeam('http://127.0.0.1:1')
    const { status, error } = await team.ask('POST', '/sample-flow')
    expect(status).toBe(503)
    expect(error.message).toMatch(/The gateway at http:\/\/127\.0\.0\.1:1 did not answer as one: .+\./)
  })

  test('says so where nobody answers at any address of a name', async () => {
    const both = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
    const lookUp = (_name: string, _options: object, found: (error: null, all: LookupAddress[]) => void) =>
      found(null, both)
    vi.spyOn(dns, 'lookup').mockImplementation(lookUp as typeof dns.lookup)
    const team = await startedTeam('http://gateway.example:3')
    const { error } = await team.ask('POST', '/sample-flow')
    expect(error.message).toContain(
      'did not answer as one: connect ECONNREFUSED 127.0.0.1:3, connect ECONNREFUSED 127.0.0.2:3.',
    )
  })
})
