import { join } from 'node:path'
import { PUBLISHER_DEFAULTS } from '../../gateway/publisher/publisher.ts'
import type { BatchingPolicy } from '../../gateway/publisher/schedule.ts'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import type { Journal, NamedTopic } from '../../shared/journal/journal.ts'
import { createSqliteJournal } from '../../shared/journal/sqlite/sqlite-journal.ts'
import type { BaseServices } from '../../shared/role.ts'
import { createCautiousClock } from '../../shared/runtime/clock.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { usesKafka, type Where } from './backends.ts'

/** A journal with the functions that depend on its kind. */
export interface OpenJournal {
  readonly journal: Journal
  readonly batchingPolicy: BatchingPolicy
  /** Creates missing topics; returns one line per topic, with any deviations from its specification. */
  applyTopics(): Promise<readonly string[]>
  /** Rejects if a topic's settings could lose entries that a gateway has confirmed. */
  checkTopics(): Promise<void>
  /** Retention and compaction, if no server does them; long work ends early once `signal` aborts. */
  maintain(signal: AbortSignal): Promise<unknown>
}

/** Opens the configured journal; Kafka's client is loaded only if Kafka is configured (log-stores.ts). */
export const openJournal = (deps: BaseServices, where: Where): Promise<OpenJournal> =>
  usesKafka(deps.config) ? openKafka(deps) : openSqlite(deps, where)

/** One disk has one queue: records that arrive during a sync, and from the senders just answered, are best gathered for the next one. */
const SQLITE_POLICY: BatchingPolicy = { eagerSends: 1, regatherMs: 2 }

async function openSqlite({ config, clock, logger }: BaseServices, where: Where): Promise<OpenJournal> {
  const journal = await createSqliteJournal({ file: join(config.DATA_DIR, 'journal.db'), thread: where, clock, logger })
  const cautious = createCautiousClock(clock)
  // One process writes all topics, so more than one partition would only split its batches.
  const topics = namedTopics(config).map((topic) => ({ ...topic, partitions: 1 }))
  const topicBytesMax = Object.fromEntries(
    topics.flatMap(({ name, retentionBytes }) => (retentionBytes === undefined ? [] : [[name, retentionBytes]])),
  )
  return {
    journal,
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

async function openKafka({ config, clock, logger }: BaseServices): Promise<OpenJournal> {
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
