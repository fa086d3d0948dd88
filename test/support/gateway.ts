import express from 'express'
import { answerClientError } from '../../deploy/http/client-error.ts'
import { answerExpectContinue } from '../../deploy/http/request-head.ts'
import { createEndpoints } from '../../gateway/endpoints.ts'
import { createPublisher, PUBLISHER_DEFAULTS, type PublisherOptions } from '../../gateway/publisher/publisher.ts'
import type { RefusalRecorder } from '../../gateway/refusals/recorder.ts'
import type { Methods } from '../../shared/grpc/call.ts'
import { createListener } from '../../shared/http/listener.ts'
import {
  type AppendBatch,
  AppendError,
  type Journal,
  type NewRecord,
  type UnconfirmedOutcome,
  unpacked,
} from '../../shared/journal/journal.ts'
import type { Entity, Registry, Team } from '../../shared/registry/registry.ts'
import { type Clock, systemClock } from '../../shared/runtime/clock.ts'
import { type Config, loadConfig } from '../../shared/runtime/config.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../../shared/runtime/metrics.ts'
import type { Envelope } from './api.ts'
import { startBare } from './raw-http.ts'

export const TOPICS = ['sluice.event-logs.v1', 'sluice.application-logs.v1']

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Envelope
}

export interface RunningGateway {
  readonly port: number
  readonly journal: GatewayJournal
  readonly metrics: Metrics
  readonly methods: Methods
  readonly publisher: ReturnType<typeof createPublisher>
  /** The durable records. */
  records(): readonly NewRecord[]
  /** Their values as JSON, from this one on; a negative number counts from the end. */
  stored(from?: number): readonly Readonly<Record<string, unknown>>[]
  /** Posts a body (JSON, unless it is a string or bytes) with the key of the Team that owns the fixtures. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

export interface GatewayOptions {
  readonly config?: Partial<Config>
  readonly publisher?: Partial<PublisherOptions>
  readonly journal?: GatewayJournal
  readonly registry?: Registry
  readonly registryReady?: () => boolean
  readonly refusalRecorder?: RefusalRecorder
  readonly clock?: Clock
}

/** The gateway on its own server, with an in-memory journal and registry. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const { clock = systemClock, journal = createGatewayJournal(), registry = createGatewayRegistry() } = options
  const config = { ...loadConfig({}), ...options.config }
  const logger = createLogger('silent', 'test')
  const metrics = createMetrics()
  const publisher = createPublisher({
    journal,
    clock,
    metrics,
    logger,
    options: {
      ...PUBLISHER_DEFAULTS,
      topics: TOPICS,
      bufferBytesMax: config.PUBLISH_BUFFER_BYTES,
      sendTimeoutMs: config.REQUEST_DEADLINE_MS,
      ...options.publisher,
    },
  })
  await publisher.start()
  const registryReady = options.registryReady ?? (() => true)
  const refusalRecorder = options.refusalRecorder ?? (() => () => undefined)
  const { endpoints, methods } = createEndpoints({
    config,
    clock,
    logger,
    metrics,
    registry,
    registryReady,
    publisher,
    refusalRecorder,
  })
  const { port, close } = await startBare(
    createListener(express(), logger, endpoints),
    (server) => {
      server.on('clientError', answerClientError)
      answerExpectContinue(server, config.MAX_BODY_BYTES)
    },
    // A connection that rests while a test computes is not closed just when the test uses it again.
    { keepAliveTimeout: 0 },
  )
  const records = () => journal.records
  return {
    port,
    journal,
    metrics,
    methods,
    publisher,
    records,
    stored: (from) =>
      records()
        .slice(from)
        .map(({ value }) => JSON.parse(String(value))),
    post: (path, body, headers = {}) => post(`http://127.0.0.1:${port}${path}`, body, headers),
    close: async () => {
      journal.release()
      await close()
      await publisher.stop(clock.now() + 1_000)
    },
  }
}

async function post(url: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const given = { 'content-type': 'application/json', 'x-api-key': KEY, ...headers }
  // An empty value suppresses the header.
  const kept = Object.entries(given).filter(([, value]) => value !== '')
  const response = await fetch(url, { method: 'POST', headers: Object.fromEntries(kept), body: sent as string })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Envelope }
}

/** A publisher's journal under test control: it can fail, and hold appends until they are released. */
export interface GatewayJournal extends Pick<Journal, 'append' | 'partitionCount'> {
  refusalOf?: NonNullable<Journal['refusalOf']>
  bytesMax?: NonNullable<Journal['bytesMax']>
  /** Every batch that became durable, in that order. */
  readonly batches: AppendBatch[]
  /** The records of these batches. */
  readonly records: readonly NewRecord[]
  /** Every attempted batch, whatever its outcome. */
  readonly attempts: AppendBatch[]
  /** Fails appends with this outcome until called with null; `partition` limits it to one. */
  fail(outcome: UnconfirmedOutcome | null, partition?: number): void
  /** Appends do not settle until `release`. */
  hold(): void
  release(): void
  /** Sets the topics' number of partitions, or the error on reading it. */
  repartition(partitions: number | Error): void
}

export function createGatewayJournal(atFirst = 12): GatewayJournal {
  const batches: AppendBatch[] = []
  const records: NewRecord[] = []
  const attempts: AppendBatch[] = []
  let partitions: number | Error = atFirst
  let failing: { readonly outcome: UnconfirmedOutcome; readonly partition: number | undefined } | null = null
  let gate: PromiseWithResolvers<void> | null = null
  return {
    batches,
    records,
    attempts,
    partitionCount: async () => {
      if (partitions instanceof Error) throw partitions
      return partitions
    },
    repartition: (given) => {
      partitions = given
    },
    append: async (given) => {
      const batch = { ...given, records: given.records.map(unpacked).map(withAllHeaders) }
      attempts.push(batch)
      await (gate?.promise ?? new Promise<void>((resolve) => setImmediate(resolve)))
      if (failing !== null && (failing.partition ?? batch.partition) === batch.partition)
        throw new AppendError('made to fail', failing.outcome)
      batches.push(batch)
      for (const record of batch.records) records.push(record)
    },
    fail: (outcome, partition) => {
      failing = outcome === null ? null : { outcome, partition }
    },
    hold: () => {
      gate = Promise.withResolvers()
    },
    release: () => {
      gate?.resolve()
      gate = null
    },
  }
}

const withAllHeaders = ({ commonHeaders, headers, ...record }: NewRecord): NewRecord => ({
  ...record,
  headers: { ...commonHeaders, ...headers },
})

export const KEY = 'key-of-payments-0123456789abcdef'
export const OTHER_KEY = 'key-of-billing-0123456789abcdef0'
export const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
/** A Project whose Team has no key. */
export const KEYLESS_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'

const KEYS: Readonly<Record<string, readonly string[]>> = { payments: [KEY], billing: [OTHER_KEY], keyless: [] }

const ENTITIES: readonly Entity[] = [
  { kind: 'event', identifier: 'order-placed', team: 'payments', name: 'Order placed' },
  { kind: 'step', identifier: 'order-placed.pay', team: 'payments', name: 'Pay', event: 'order-placed', order: 1 },
  { kind: 'step', identifier: 'lone-step', team: 'payments', name: 'Alone', event: null, order: 1 },
  { kind: 'event', identifier: 'orphan', team: 'gone', name: 'Its Team is gone' },
  { kind: 'event', identifier: 'keyless', team: 'keyless', name: 'Its Team has no key' },
]

const PROJECTS: Readonly<Record<string, string>> = { [PROJECT]: 'payments', [KEYLESS_PROJECT]: 'keyless' }

const ownerOf = (key: string): string | undefined => Object.keys(KEYS).find((team) => KEYS[team]?.includes(key))

const teamOf = (id = ''): Team | undefined => (KEYS[id] === undefined ? undefined : { id, name: id })

/** A registry of a few Teams; implements only what the gateway uses of the port. */
export function createGatewayRegistry(): Registry {
  const asked: Pick<
    Registry,
    'entity' | 'project' | 'team' | 'hasKey' | 'keyOpens' | 'teamOfKey' | 'formerTeamOfKey' | 'ownerOfKey'
  > = {
    entity: (identifier) => ENTITIES.find((entity) => entity.identifier === identifier),
    project: (id) => {
      const team = PROJECTS[id]
      return team === undefined ? undefined : { id, team, name: 'A Project' }
    },
    team: teamOf,
    hasKey: (team) => (KEYS[team]?.length ?? 0) > 0,
    keyOpens: (team, key) => KEYS[team]?.includes(key) === true,
    teamOfKey: (key) => teamOf(ownerOf(key)),
    formerTeamOfKey: () => undefined,
    ownerOfKey: ownerOf,
  }
  return asked as Registry
}
