import express from 'express'
import { TOPICS } from '../../shared/contract/topics.ts'
import { createProxies } from '../../shared/http/proxies.ts'
import { createAudit } from '../../shared/journal/audit.ts'
import { createRegistryFollower } from '../../shared/registry/follower.ts'
import { loadConfig } from '../../shared/runtime/config.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import { createReadGate } from '../../views/api/read-gate.ts'
import { createSessions } from '../../views/session/sessions.ts'
import { createTickets } from '../../views/session/tickets.ts'
import { registerTeam, type TeamDeps } from '../../views/team/register.ts'
import { createWatchBook } from '../../views/watches/book.ts'
import { createPoster } from '../../views/watches/poster.ts'
import { startBare } from './raw-http.ts'
import { AUDIT_TOPIC, registryOnMemory } from './registry-topic.ts'
import { createObservedLogStore } from './views-store.ts'

export const KEY_A = 'key-a-0123456789-abcdefghijklmno'
export const KEY_B = 'kez-b-0123456789-abcdefghijklmno'
/** The topic of the watches of the Teams of `startTeam`. */
export const WATCHES_TOPIC = 'sluice.watches.v1'
export const PROJECT_A = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const PROJECT_B = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
const SECRET = 'a secret of 32 characters or more'

const REGISTRY = `
teams: [{ id: a, name: Team A, apiKeys: ["${KEY_A}"] }, { id: b, name: Team B, apiKeys: ["${KEY_B}"] }]
events: [{ identifier: order, team: a, name: Order placed }, { identifier: secret, team: b, name: Secret of b }]
steps:
  - { identifier: order.validate, team: a, event: order, name: Validate }
  - { identifier: order.ship, team: a, event: order, name: Ship }
  - { identifier: nightly, team: a }
  - { identifier: secret.step, team: b }
projects: [{ id: ${PROJECT_A}, team: a, name: Checkout }, { id: ${PROJECT_B}, team: b, name: Project of b }]
`

export interface TeamAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly data: unknown
  readonly error: { readonly code: string; readonly message: string; readonly details: unknown }
}

/** The settings API of two Teams on its own port, with a registry in an in-memory journal. */
export async function startTeam(more: Partial<TeamDeps> = {}) {
  const setup = registryOnMemory()
  await setup.admin.applyFile(REGISTRY, { prune: false })
  const logger = createLogger('silent', 'test')
  const follower = createRegistryFollower({ ...setup, logger, metrics: createMetrics() })
  await follower.start()
  const { registry } = follower
  const clock = setup.clock
  const sessions = createSessions({ clock, registry, registryReady: () => true, secrets: () => [SECRET] })
  const store = createObservedLogStore()
  const tickets = createTickets(() => [SECRET], clock)
  await setup.journal.createTopics([{ ...TOPICS.watches, name: WATCHES_TOPIC }])
  const book = createWatchBook({ journal: setup.journal, topic: WATCHES_TOPIC, writer: 'test', clock, logger })
  await book.start()
  const poster = createPoster({ allowed: ['127.0.0.0/8'], now: clock.now })
  const app = express()
  registerTeam(app, {
    clock,
    logger,
    registry,
    registryReady: () => true,
    teamOfSession: sessions.teamOf,
    journal: setup.journal,
    registryTopic: setup.topic,
    knownRegistry: follower.known,
    audit: createAudit({ journal: setup.journal, topic: AUDIT_TOPIC, clock, onFailure: () => undefined }),
    keyOfSession: (headers) => sessions.read(headers)?.key.prefix,
    store,
    gateway: { url: 'https://logs.example.com', here: false },
    access: { url: () => null, tickets },
    watches: { book, poster },
    proxies: createProxies([]),
    refusals: { of: () => [] },
    quotas: loadConfig({}),
    gate: createReadGate(64 * 1024 * 1024),
    deadlineMs: 10_000,
    ...more,
  })
  app.use((_request, response) => void response.status(418).end('passed on'))
  const { url, close } = await startBare(app)

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = { 'x-api-key': KEY_A },
  ): Promise<TeamAnswer> {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const response = await fetch(`${url}/api/team${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...sent,
    })
    const text = await response.text()
    const { data, error } = JSON.parse(text)
    return { status: response.status, headers: response.headers, text, data, error }
  }

  /** The cookie of a session begun with a key. */
  const cookie = (key: string): string => {
    const session = sessions.begin(key)
    if (session === undefined) throw new Error('no session')
    return `sluice_session=${sessions.cookieOf(session).value}`
  }

  return {
    ...setup,
    registry,
    known: follower.known,
    store,
    tickets,
    book,
    poster,
    url,
    ask,
    cookie,
    records: () => setup.journal.recordsOf(setup.topic),
    close: async () => {
      await close()
      await store.close()
      await book.stop(clock.now() + 1_000)
      await follower.stop(clock.now() + 1_000)
    },
  }
}

export type TeamFixture = Awaited<ReturnType<typeof startTeam>>
