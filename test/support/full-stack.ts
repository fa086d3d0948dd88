import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'
import type { DeadLetterReason } from '../../consumers/dead-letters.ts'
import { groupName, PROJECTION_NAMES } from '../../consumers/projection.ts'
import type { NewRecord } from '../../shared/journal/journal.ts'
import type { KafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { type Client, createClient } from './api.ts'
import { eventually } from './eventually.ts'
import { openKafka, uniqueName } from './kafka.ts'
import { type Load, type LoadTarget, startLoad } from './load.ts'
import {
  runSluice,
  type SluiceProcess,
  type SluiceResult,
  type StartOptions,
  startSluice,
  temporaryFolder,
} from './sluice-process.ts'

export const API_KEY = 'full-stack-key-0123456789abcdef01234567'
export const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const TEAM = 'orders'
const REGISTRY = `teams: [{ id: ${TEAM}, name: Orders, apiKeys: ["${API_KEY}"] }]
events: [{ identifier: order-placed, team: ${TEAM}, name: Order placed }]
steps: [{ identifier: order-placed.pay, team: ${TEAM}, event: order-placed, name: Pay, order: 1 }]
projects: [{ id: ${PROJECT}, team: ${TEAM}, name: Checkout API }]
`

const PRINTED_MAX = 8_000

type PartRole = 'gateway' | 'consumers' | 'views' | 'watches'

/** One role of Sluice, in a process that can be stopped and restarted. */
export interface Part {
  readonly url: () => string
  /** The current process. */
  process(): SluiceProcess
  /** Sends the signal and waits for the exit; returns the exit code, or null if the signal ended the process. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** Starts a new process in its place, optionally with more settings, or by another way to start. */
  start(settings?: Record<string, string>, start?: StartOptions): Promise<void>
}

/** Gateway, consumers and views as three processes on real servers, with their own topic and index names. */
export interface FullStack {
  readonly gateway: Part
  readonly consumers: Part
  readonly views: Part
  readonly topicPrefix: string
  readonly indexPrefix: string
  /** Elasticsearch itself, bypassing any proxy. */
  readonly elasticsearchUrl: string
  /** The topics, bypassing the gateway. */
  readonly journal: KafkaJournal
  /** A client of the views' read API. */
  readonly client: () => Client
  /** `url` is the gateway's address, if not this stack's own. */
  startLoad(name: string, url?: () => string): Load
  /** One more process of a role, on the same topics and indices. */
  startAnother(role: PartRole, settings?: Record<string, string>, start?: StartOptions): Promise<SluiceProcess>
  /** The same as a part that can be stopped and restarted. */
  startPart(role: PartRole): Promise<Part>
  /** Starts `sluice canary`. */
  startCanary(settings: Record<string, string>): Promise<SluiceProcess>
  /** Runs an operator command on the same topics and indices, as `runSluice` does. */
  command(args: readonly string[], killWhen?: () => Promise<boolean>): Promise<SluiceResult>
  /** Node's warnings in all processes so far, such as a deprecation, a negative timeout, or leaked listeners. */
  warnings(): readonly string[]
  /** The output of the current processes, for the log of a failed run. */
  printed(): string
  stop(): Promise<void>
}

export interface FullStackOptions {
  readonly brokers: readonly string[]
  readonly elasticsearchUrl: string
  /** The address that the consumers use for Elasticsearch, such as a proxy. */
  readonly consumersSee?: string
  /** The registry file, if not the default. */
  readonly registry?: string
  /** Additional settings of every part. */
  readonly settings?: Record<string, string>
  /** How each part is started. */
  readonly start?: StartOptions
}

export async function startFullStack(options: FullStackOptions): Promise<FullStack> {
  const { brokers, elasticsearchUrl, consumersSee = elasticsearchUrl, registry = REGISTRY } = options
  const prefix = uniqueName('stack')
  const folder = temporaryFolder()
  const registryFile = join(folder.path, 'registry.yaml')
  writeFileSync(registryFile, registry)
  const settings = {
    KAFKA_BROKERS: brokers.join(','),
    ELASTICSEARCH_REPLICAS: '0',
    TOPIC_PREFIX: prefix,
    INDEX_PREFIX: prefix,
    DATA_DIR: join(folder.path, 'data'),
    REGISTRY_FILE: registryFile,
    LOG_LEVEL: process.env['LOG_LEVEL_TESTS'] ?? 'warn',
    ...options.settings,
  }
  const started: SluiceProcess[] = []
  const startAnother = async (
    role: PartRole,
    more: Record<string, string> = {},
    start = options.start,
  ): Promise<SluiceProcess> => {
    const seen = role === 'consumers' ? consumersSee : elasticsearchUrl
    const server = await startSluice({ ...settings, ELASTICSEARCH_URL: seen, ...more }, ['--role', role], start)
    started.push(server)
    return server
  }
  /** `exited` of a process that has ended is already resolved, so this is always safe. */
  const endAll = async (): Promise<void> => {
    for (const server of started) server.kill('SIGTERM')
    await Promise.all(started.map(({ exited }) => exited))
    folder.remove()
  }
  const parts: (readonly [PartRole, Part])[] = []
  const startPart = async (role: PartRole): Promise<Part> => {
    let current = await startAnother(role)
    const part: Part = {
      url: () => current.url,
      process: () => current,
      end: (signal) => {
        current.kill(signal)
        return current.exited
      },
      start: async (more, start) => {
        current = await startAnother(role, more, start)
      },
    }
    parts.push([role, part])
    return part
  }

  const startParts = async () => {
    // The gateway comes first, as it creates the topics.
    const gateway = await startPart('gateway')
    const consumers = await startPart('consumers')
    return { gateway, consumers, views: await startPart('views') }
  }
  const { gateway, consumers, views } = await startParts().catch(async (error) => {
    await endAll()
    throw error
  })
  const journal = openKafka(brokers)
  const target: Omit<LoadTarget, 'url'> = {
    apiKey: API_KEY,
    project: PROJECT,
    identifiers: ['order-placed', 'order-placed.pay'],
  }
  return {
    gateway,
    consumers,
    views,
    topicPrefix: prefix,
    indexPrefix: prefix,
    elasticsearchUrl,
    journal,
    client: () => createClient(views.url(), API_KEY),
    startLoad: (name, url = gateway.url) => startLoad({ ...target, url }, name),
    startAnother,
    startPart,
    startCanary: async (more) => {
      const canary = await startSluice({ ...settings, ...more }, [], { command: 'canary' })
      started.push(canary)
      return canary
    },
    command: (args, killWhen) => runSluice(args, { ...settings, ELASTICSEARCH_URL: elasticsearchUrl }, killWhen),
    warnings: () => started.flatMap((server) => server.printed().match(/^\(node:\d+\) .*$/gm) ?? []),
    printed: () =>
      parts.map(([role, part]) => `--- ${role}\n${part.process().printed().slice(-PRINTED_MAX)}`).join('\n'),
    stop: async () => {
      await journal.close()
      await endAll()
    },
  }
}

/** Invalid records that foreign producers may write to an entry topic, by their dead-letter reason. */
export const POISON = {
  empty_value: Buffer.alloc(0),
  not_utf8: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  invalid_json: '{"kind":',
  too_deep: `${'['.repeat(200)}${']'.repeat(200)}`,
  unknown_kind: '{"kind":"metric"}',
  invalid_record: (kind: string) => `{"kind":"${kind}","id":"no guid"}`,
} as const satisfies Partial<Record<DeadLetterReason, unknown>>

/** One record of every kind of poison, and one with a null value. */
export const poisonOf = (kind: 'event' | 'application'): readonly NewRecord[] => [
  record(null),
  ...Object.values(POISON).map((value) => record(typeof value === 'function' ? value(kind) : value)),
]

/** This many records of one kind of poison. */
export const floodOf = (records: number): readonly NewRecord[] =>
  Array.from({ length: records }, () => record(POISON.invalid_json))

const record = (value: string | Uint8Array | null): NewRecord => ({
  key: 'poison',
  value,
  headers: { 'x-from': 'test' },
})

/** Operations on topics and groups for which operators use Kafka's own tools. */
export interface KafkaOperator {
  /** Deletes the topic with all its records. */
  deleteTopic(topic: string): Promise<void>
  /** Adds partitions, on node 1, to the existing ones. */
  addPartitions(topic: string, existing: number, added: number): Promise<void>
  setConfig(topic: string, name: string, value: string): Promise<void>
  /** Deletes the views' positions, so that they read everything again. Their groups must have no members. */
  forgetPositions(topicPrefix: string): Promise<void>
}

export async function withOperator(
  brokers: readonly string[],
  work: (operator: KafkaOperator) => Promise<void>,
): Promise<void> {
  const admin = new Admin({ clientId: 'operator', bootstrapBrokers: [...brokers], retries: 10, requestTimeout: 5_000 })
  try {
    await work({
      deleteTopic: (topic) => admin.deleteTopics({ topics: [topic] }),
      addPartitions: async (name, existing, added) => {
        const assignments = Array.from({ length: added }, () => ({ brokerIds: [1] }))
        await admin.createPartitions({ topics: [{ name, count: existing + added, assignments }] })
      },
      setConfig: async (resourceName, name, value) => {
        const configs = [{ name, value, configOperation: IncrementalAlterConfigOperationTypes.SET }]
        const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName, configs }
        await admin.incrementalAlterConfigs({ resources: [resource] })
      },
      // A killed member stays in its group until its session times out.
      forgetPositions: (topicPrefix) =>
        eventually(
          () => admin.deleteGroups({ groups: PROJECTION_NAMES.map((view) => groupName(topicPrefix, view)) }),
          60_000,
        ),
    })
  } finally {
    await admin.close()
  }
}

/** Blocks writes to the indices, or allows them again (`null`). */
export const blockWrites = ({ elasticsearchUrl, indexPrefix }: FullStack, blocked: true | null): Promise<Response> =>
  fetch(`${elasticsearchUrl}/${indexPrefix}-*/_settings`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ 'index.blocks.write': blocked }),
  })
