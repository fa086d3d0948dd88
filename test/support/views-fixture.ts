import { request as rawRequest } from 'node:http'
import express from 'express'
import type { ApplicationLogRecord, EventLogRecord } from '../../shared/contract/records.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { Entity, Project, Registry } from '../../shared/registry/registry.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../../shared/runtime/metrics.ts'
import { registerViews, type Views, type ViewsDeps } from '../../views/api/register.ts'
import { startBare } from './raw-http.ts'
import { createObservedLogStore, type ObservedLogStore } from './views-store.ts'

export const NOW = Date.parse('2026-02-01T12:00:00Z')
export const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const OTHER_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
/** Keys of Team a and of Team b. */
export const KEY_A = 'key-of-a'
export const KEY_B = 'key-of-b'

export interface Answer<Data> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly success: boolean
  readonly data: Data
  readonly error: { code: string; message: string; details: { path: string; message: string }[]; retryable: boolean }
}

export interface ViewsFixture {
  readonly url: string
  readonly store: ObservedLogStore
  readonly views: Views
  readonly metrics: Metrics
  readonly keys: Map<string, string>
  readonly entities: Map<string, Entity>
  readonly projects: Map<string, Project>
  /** The time of the injected clock, in milliseconds since 1970. */
  time: { now: number }
  ready: { now: boolean }
  get<Data = Record<string, unknown>>(path: string, headers?: Record<string, string>): Promise<Answer<Data>>
  /** Requests exactly this path, without normalisation by a client. */
  getRaw(path: string): Promise<{ status: number; body: { data: never; error: never } & Record<string, never> }>
  close(): Promise<void>
}

/** Some of what the read API is given; of the log store, the calls that replace its own. */
type Changes = Partial<Omit<ViewsDeps, 'store'>> & { readonly store?: Partial<LogStoreReader> }

/** The read API on its own port, over an empty store, with two Teams. */
export async function startViews({ store: calls, ...more }: Changes = {}): Promise<ViewsFixture> {
  const store = createObservedLogStore()
  const metrics = createMetrics()
  const time = { now: NOW }
  const ready = { now: true }
  const held = createHeldRegistry()
  const app = express()
  const views = registerViews(app, {
    clock: { now: () => time.now },
    logger: createLogger('silent', 'test'),
    metrics,
    registry: held.registry,
    registryReady: () => ready.now,
    store: calls ? { ...store, ...calls } : store,
    refusals: { of: () => [] },
    config: { READ_BUFFER_BYTES: 64 * 1024 * 1024, READ_DEADLINE_MS: 10_000 },
    tail: { pollMs: 5, heartbeatMs: 15_000 },
    ...more,
  })
  app.use((_request, response) => {
    response.status(418).end('passed on')
  })
  const { url, close } = await startBare(app)
  return {
    url,
    store,
    views,
    metrics,
    ...held,
    time,
    ready,
    get: async (path, headers = { 'x-api-key': KEY_A }) => {
      const response = await fetch(url + path, { headers })
      const text = await response.text()
      const body = text.startsWith('{') && text.includes('"success"') ? JSON.parse(text.split('\n')[0] ?? '') : {}
      return { status: response.status, headers: response.headers, text, ...body }
    },
    getRaw: (path) => getRaw(url, path),
    close: async () => {
      await close()
      await store.close()
    },
  }
}

function getRaw(url: string, path: string): ReturnType<ViewsFixture['getRaw']> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    const request = rawRequest({ port, hostname, path, headers: { 'x-api-key': KEY_A } }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) })
    })
    request.on('error', reject).end()
  })
}

/** A registry that tests can change. */
function createHeldRegistry() {
  const keys = new Map([
    [KEY_A, 'a'],
    [KEY_B, 'b'],
  ])
  const step = (identifier: string, event: string | null, order: number, name: string): Entity => {
    return { kind: 'step', identifier, team: 'a', name, event, order }
  }
  const entities = new Map(
    [
      { kind: 'event', identifier: 'order', team: 'a', name: 'Order placed' } as const,
      step('order.ship', 'order', 3, 'Ship'),
      step('order.validate', 'order', 1, 'Validate'),
      step('order.pay', 'order', 2, 'Pay'),
      step('audit', null, 1, 'Audit'),
      { kind: 'event', identifier: 'secret', team: 'b', name: 'Secret of b' } as const,
    ].map((entity): [string, Entity] => [entity.identifier, entity]),
  )
  const projects = new Map<string, Project>([
    [PROJECT, { id: PROJECT, team: 'a', name: 'Checkout' }],
    [OTHER_PROJECT, { id: OTHER_PROJECT, team: 'b', name: 'Project of b' }],
  ])
  const teamOf = (id: string | undefined) => (id === 'a' || id === 'b' ? { id, name: `Team ${id}` } : undefined)
  const own = (team: string) => [...entities.values()].filter((entity) => entity.team === team)
  const registry: Registry = {
    entity: (identifier) => entities.get(identifier),
    project: (id) => projects.get(id),
    team: teamOf,
    hasKey: () => true,
    keyOpens: (team, key) => keys.get(key) === team,
    teamOfKey: (key) => teamOf(keys.get(key)),
    formerTeamOfKey: () => undefined,
    ownerOfKey: (key) => keys.get(key),
    teams: () => [],
    keysOf: () => [],
    eventsOf: (team) => own(team).filter((entity) => entity.kind === 'event'),
    stepsOf: (team) => own(team).filter((entity) => entity.kind === 'step'),
    projectsOf: (team) => [...projects.values()].filter((project) => project.team === team),
    projectsNamed: () => [],
    searchesOf: () => [],
  }
  return { keys, entities, projects, registry }
}

let minted = 0

/** An id that sorts after all earlier ones. */
export const mintId = (): string => `01981f2e-7c1a-7000-8000-${(minted++).toString(16).padStart(12, '0')}`

/** An event log of Team a; by default an hour before `NOW`. */
export const eventLog = (fields: Partial<EventLogRecord> = {}): EventLogRecord => ({
  id: mintId(),
  kind: 'event',
  receivedAt: '2026-02-01T11:00:00.007Z',
  timestamp: '2026-02-01T11:00:00.000Z',
  level: 'Information',
  environment: 'Development',
  correlationKey: null,
  team: 'a',
  event: 'order',
  step: null,
  payload: 'hello',
  ...fields,
})

/** An application log of Team a; by default an hour before `NOW`. */
export const applicationLog = (fields: Partial<ApplicationLogRecord> = {}): ApplicationLogRecord => ({
  id: mintId(),
  kind: 'application',
  receivedAt: '2026-02-01T11:00:00.007Z',
  timestamp: '2026-02-01T11:00:00.000Z',
  level: 'Information',
  environment: 'Development',
  correlationKey: null,
  team: 'a',
  project: PROJECT,
  categoryName: 'Acme.Billing',
  eventId: 0,
  eventName: '',
  message: 'hello',
  exception: null,
  scopeData: null,
  ...fields,
})

/** The canonical time this many seconds after 11:00 on the day of `NOW`. */
export const at = (seconds: number): string => new Date(NOW - 3_600_000 + seconds * 1_000).toISOString()

export interface SseEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: { id?: string; payload?: string; message?: string; count?: number } | undefined
  readonly comment: string | undefined
}

export interface SseReader {
  readonly status: number
  readonly headers: Headers
  /** Blocks received so far, including those without data. */
  readonly blocks: readonly SseEvent[]
  /** Received blocks of this event type. */
  of(event: string): readonly SseEvent[]
  readonly ended: boolean
  close(): void
}

/** Reads a tail as it arrives, like EventSource. */
export async function openTail(url: string, headers: Record<string, string> = {}): Promise<SseReader> {
  const controller = new AbortController()
  const response = await fetch(url, { headers: { 'x-api-key': KEY_A, ...headers }, signal: controller.signal })
  const blocks: SseEvent[] = []
  const reader = {
    status: response.status,
    headers: response.headers,
    blocks,
    of: (event: string) => blocks.filter((block) => block.event === event),
    ended: false,
    close: () => controller.abort(),
  }
  const read = async (): Promise<void> => {
    let rest = ''
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop() ?? ''
      blocks.push(...parts.map(parse))
    }
  }
  read()
    .catch(() => {})
    .finally(() => {
      reader.ended = true
    })
  return reader
}

function parse(block: string): SseEvent {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim()
  const data = field('data')
  return {
    id: field('id'),
    event: field('event'),
    data: data === undefined ? undefined : JSON.parse(data),
    comment: field(''),
  }
}
