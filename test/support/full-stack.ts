import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { type Client, createClient } from './api.ts'
import { openKafka, uniqueName } from './kafka.ts'
import { type Load, type LoadTarget, startLoad } from './load.ts'
import { type SluiceProcess, type StartOptions, startSluice, temporaryFolder } from './sluice-process.ts'

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

/** One role of Sluice, in a process that can be ended and started again. */
export interface Part {
  readonly url: () => string
  /** The process of now. */
  process(): SluiceProcess
  /** Ends the process and waits until it is gone; gives its exit code, null where the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** Starts another process in its place, with more settings if given; `start`: in another way than the first. */
  start(settings?: Record<string, string>, start?: StartOptions): Promise<void>
}

/** Gateway, consumers and views as three processes on real servers, under topic and index names of their own. */
export interface FullStack {
  readonly gateway: Part
  readonly consumers: Part
  readonly views: Part
  readonly topicPrefix: string
  readonly indexPrefix: string
  /** Elasticsearch itself, past whatever stands before it. */
  readonly elasticsearchUrl: string
  /** The topics, past the gateway. */
  readonly journal: KafkaJournal
  /** Reads what the views show. */
  readonly client: () => Client
  /** `url` is that of the gateway, where it is not this one's alone. */
  startLoad(name: string, url?: () => string): Load
  /** One more process of a role, on the same topics and indices. */
  startAnother(role: PartRole, settings?: Record<string, string>, start?: StartOptions): Promise<SluiceProcess>
  /** The same, as a part that can be ended and started again. */
  startPart(role: PartRole): Promise<Part>
  /** Warnings of Node itself in any process so far: a deprecation, a timer in the past, a leak of listeners. */
  warnings(): readonly string[]
  /** The output of the current processes; for the log of a run that failed. */
  printed(): string
  stop(): Promise<void>
}

export interface FullStackOptions {
  readonly brokers: readonly string[]
  readonly elasticsearchUrl: string
  /** The address that the consumers take for Elasticsearch; a proxy, say. */
  readonly consumersSee?: string
  /** The registry file, where it is another than that of most tests. */
  readonly registry?: string
  /** More settings of every part. */
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
  /** A process that is gone already has exited, so this is safe whatever became of them. */
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
    // The first one makes the topics.
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
    warnings: () => started.flatMap((server) => server.printed().match(/^\(node:\d+\) .*$/gm) ?? []),
    printed: () =>
      parts.map(([role, part]) => `--- ${role}\n${part.process().printed().slice(-PRINTED_MAX)}`).join('\n'),
    stop: async () => {
      await journal.close()
      await endAll()
    },
  }
}
