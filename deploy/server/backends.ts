/**
 * Opens what the configuration names. The client of a server, and OpenTelemetry, are loaded only if they are needed: Elasticsearch's and
 * Kafka's take some 50 MiB each, in every thread that loads them.
 */
import { join } from 'node:path'
import { entryDocument } from '../../consumers/projections/entries.ts'
import { flowFact, foldFlows } from '../../consumers/projections/flows.ts'
import { PUBLISHER_DEFAULTS } from '../../gateway/publisher/publisher.ts'
import type { BatchingPolicy } from '../../gateway/publisher/schedule.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import type { Journal, NamedTopic } from '../../shared/journal/journal.ts'
import { createSqliteJournal } from '../../shared/journal/sqlite/sqlite-journal.ts'
import type { ElasticsearchAuth } from '../../shared/log-store/elasticsearch/connection.ts'
import type { ReplaceOptions } from '../../shared/log-store/elasticsearch/replace-index.ts'
import type { LogStore } from '../../shared/log-store/log-store.ts'
import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import type { BaseServices } from '../../shared/role.ts'
import { createCautiousClock } from '../../shared/runtime/clock.ts'
import { type Config, rereadSecret } from '../../shared/runtime/config.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { usesKafka } from './roles.ts'
import type { RunningTracer } from './tracer.ts'

/** The thread of an adapter that works synchronously: one of its own, or the one that opens it. */
type Where = 'own' | 'same'

/** A journal with the functions that depend on its kind. */
interface OpenJournal {
  readonly journal: Journal
  readonly batchingPolicy: BatchingPolicy
  /** Creates missing topics; returns one line per topic, with any deviations from its specification. */
  applyTopics(): Promise<readonly string[]>
  /** Rejects if a topic's settings could lose entries that a gateway has confirmed. */
  checkTopics(): Promise<void>
  /** Retention and compaction, if no server does them; long work ends early once `signal` aborts. */
  maintain(signal: AbortSignal): Promise<unknown>
  /** Rejects when only a restart of the process can bring the journal back; never settles otherwise. */
  readonly lost: Promise<never>
}

/** Opens the configured journal. */
export const openJournal = (deps: BaseServices, where: Where): Promise<OpenJournal> =>
  usesKafka(deps.config) ? openKafkaJournal(deps) : openSqliteJournal(deps, where)

/** One disk has one queue: records that arrive during a sync, and from the senders just answered, are best gathered for the next one. */
const SQLITE_POLICY: BatchingPolicy = { eagerSends: 1, regatherMs: 2 }

async function openSqliteJournal({ config, clock, logger }: BaseServices, where: Where): Promise<OpenJournal> {
  const journal = await createSqliteJournal({ file: join(config.DATA_DIR, 'journal.db'), thread: where, clock, logger })
  const cautious = createCautiousClock(clock)
  // One process writes all topics, so more than one partition would only split its batches.
  const topics = namedTopics(config).map((topic) => ({ ...topic, partitions: 1 }))
  const topicBytesMax = Object.fromEntries(
    topics.flatMap(({ name, retentionBytes }) => (retentionBytes === undefined ? [] : [[name, retentionBytes]])),
  )
  return {
    journal,
    lost: journal.lost,
    batchingPolicy: SQLITE_POLICY,
    applyTopics: async () => {
      await journal.createTopics(topics)
      return topics.map(({ name }) => `${name}: as it should be`)
    },
    checkTopics: async () => {},
    maintain: async (signal) => {
      const retentionBytesMax = config.JOURNAL_RETENTION_BYTES
      const { held } = await journal.maintain({ now: cautious.now(), retentionBytesMax, topicBytesMax, signal })
      if (held.length > 0)
        logger.warn({ held }, 'expired records stay in the journal until these groups have read them')
    },
  }
}

async function openKafkaJournal({ config, clock, logger }: BaseServices): Promise<OpenJournal> {
  const { kafkaConnection } = await import('../../shared/journal/kafka/connection.ts')
  const { createKafkaJournal } = await import('../../shared/journal/kafka/kafka-journal.ts')
  const journal = createKafkaJournal({
    connection: kafkaConnection(config, (err) =>
      logger.warn({ err }, 'a new certificate or password for Kafka is not used; the previous one stays in use'),
    ),
    clock,
    logger,
    // The journal gives up a little before the request does, so that its sender learns the outcome of the entry.
    options: {
      deliveryTimeoutMs: Math.round(config.REQUEST_DEADLINE_MS * 0.9),
      compression: config.KAFKA_COMPRESSION,
      groupProtocol: config.KAFKA_GROUP_PROTOCOL,
    },
  })
  const topics = namedTopics(config)
  return {
    journal,
    lost: new Promise(() => {}),
    batchingPolicy: PUBLISHER_DEFAULTS,
    applyTopics: async () => {
      const reports = await journal.applyTopics(topics)
      return reports.flatMap(({ topic, created, differences }) =>
        differences.length === 0 ? [`${topic}: ${created ? 'created' : 'as it should be'}`] : differences,
      )
    },
    // A gateway neither reads the audit topic nor needs it to answer a sender.
    checkTopics: () =>
      journal.checkDurability(topics.filter(({ isInternal, role }) => !isInternal && role !== 'audit')),
    maintain: async () => {},
  }
}

/** The largest record that Kafka accepts by default. */
const KAFKA_RECORD_BYTES = 1_048_588
/** Key and headers of the largest record, those of a dead letter included, with room to spare. */
const KEY_AND_HEADERS_BYTES_MAX = 32_768

/** The topics with this installation's names, and with a larger record limit than Kafka's default if entries may need it. */
function namedTopics(config: Config): readonly NamedTopic[] {
  const recordBytesMax = config.MAX_ENTRY_BYTES + KEY_AND_HEADERS_BYTES_MAX
  const size = recordBytesMax > KAFKA_RECORD_BYTES ? { recordBytesMax } : {}
  return Object.values(TOPICS).map((spec) => ({ ...spec, ...size, name: topicName(config.TOPIC_PREFIX, spec.role) }))
}

/** A log store with the functions that depend on its kind. */
export interface OpenLogStore {
  readonly store: LogStore
  /** Whether the store is on the disk of this process, and nothing was ever stored in it. */
  isNew(): Promise<boolean>
  /** Creates or corrects templates and indices; returns lines for the operator. */
  applyIndices(): Promise<readonly string[]>
  /** Applies the indices at a start. No start fails because the cluster has no room for another index: it serves those that are there. */
  prepareIndices(): Promise<unknown>
  /** Rebuilds the counts that the store keeps; returns a line that says so. */
  rebuildCounts(): Promise<readonly string[]>
  /** Projects the stored entries of a view anew; null if the store does so by itself. */
  readonly rebuildView:
    | ((kind: EntryKind | 'flows', options: ReplaceOptions & { readonly since: string | null }) => Promise<void>)
    | null
  /** Periodic work other than removing old days; long work ends early once `signal` aborts. */
  maintain(signal: AbortSignal): Promise<unknown>
}

/** Opens the configured log store. */
export const openLogStore = (deps: BaseServices, where: Where): Promise<OpenLogStore> =>
  deps.config.ELASTICSEARCH_URL === null
    ? openSqliteLogStore(deps, where)
    : openElasticsearchLogStore(deps, deps.config.ELASTICSEARCH_URL)

async function openSqliteLogStore({ config, logger }: BaseServices, where: Where): Promise<OpenLogStore> {
  const store = await createSqliteLogStore({ file: join(config.DATA_DIR, 'logs.db'), thread: where, logger })
  return {
    store,
    isNew: store.isNew,
    applyIndices: async () => [],
    prepareIndices: async () => undefined,
    rebuildCounts: async () => [`${await store.rebuildCounts()} entries were counted`],
    rebuildView: null,
    maintain: (signal) => store.maintain({ bytesMax: config.RETENTION_BYTES, documentOf: entryDocument, signal }),
  }
}

async function openElasticsearchLogStore(deps: BaseServices, url: string): Promise<OpenLogStore> {
  const { config, clock, logger, metrics, tracer } = deps
  const { createElasticsearchLogStore, lacksShards } = await import(
    '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
  )
  const store = createElasticsearchLogStore({
    url,
    auth: authOf(config, logger),
    caFile: config.ELASTICSEARCH_CA_FILE,
    indexPrefix: config.INDEX_PREFIX,
    clock,
    logger,
    metrics,
    tracer,
    options: {
      replicas: config.ELASTICSEARCH_REPLICAS,
      shards: config.ELASTICSEARCH_SHARDS,
      flowsShards: config.ELASTICSEARCH_FLOWS_SHARDS,
    },
  })
  return {
    store,
    isNew: async () => false,
    applyIndices: async () => {
      const changes = await store.indices.apply()
      return changes.length === 0 ? ['the indices are as they should be'] : changes
    },
    prepareIndices: () =>
      store.indices.apply().catch((err: unknown) => {
        if (!lacksShards(err)) throw err
        logger.error({ err }, 'the cluster has no shards left for a new index: entries of days without one wait')
      }),
    rebuildCounts: async () => ['Elasticsearch counts when it is asked: there is nothing to make'],
    rebuildView: (kind, options) => store.rebuild({ ...options, kind, documentOf: entryDocument, flowFact, foldFlows }),
    maintain: async () => {
      await store.identify()
      try {
        await store.indices.prepareDays()
      } finally {
        await store.measureShards()
      }
    },
  }
}

function authOf(config: Config, logger: Logger): () => ElasticsearchAuth {
  const newestKey = rereadSecret(config, 'ELASTICSEARCH_API_KEY', logger)
  const newestPassword = rereadSecret(config, 'ELASTICSEARCH_PASSWORD', logger)
  return () => {
    const [apiKey, username, password] = [newestKey(), config.ELASTICSEARCH_USERNAME, newestPassword()]
    if (apiKey !== null) return { type: 'apiKey', apiKey }
    if (username !== null && password !== null) return { type: 'basic', username, password }
    return { type: 'none' }
  }
}

/** The configured tracer, or null. */
export async function openTracer({ config, ...deps }: BaseServices): Promise<RunningTracer | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === null || Number(config.OTEL_TRACES_SAMPLER_ARG) === 0) return null
  const { createTracer } = await import('./tracer.ts')
  const messagingSystem = usesKafka(config) ? 'kafka' : 'sqlite'
  return createTracer({ ...deps, config: { ...config, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, messagingSystem })
}
