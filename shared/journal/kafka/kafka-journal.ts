import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import { OvertimeError, within } from '../../runtime/waiting.ts'
import type { Journal, NamedTopic } from '../journal.ts'
import { type Closeable, keptIn } from '../open-readers.ts'
import { type AppenderOptions, createAppender } from './append.ts'
import { createCluster } from './cluster.ts'
import type { KafkaConnection } from './connection.ts'
import { describeFault } from './faults.ts'
import { type SubscriptionContext, subscribeToTopics } from './group.ts'
import { followTopic, scanTopic } from './read.ts'
import { packRecords } from './record-batch.ts'
import { type AppliedTopic, applyTopics, checkDurability, createMissing, findDangers } from './topic-admin.ts'

/** The limits of appends and of reading; each has a default. */
export type KafkaJournalOptions = AppenderOptions &
  Omit<SubscriptionContext, 'connection' | 'cluster' | 'clock' | 'logger' | 'closing'>

const DEFAULTS: KafkaJournalOptions = {
  deliveryTimeoutMs: 9_000,
  requestTimeoutMs: 3_000,
  compression: 'none',
  groupProtocol: 'auto',
  sessionTimeoutMs: 30_000,
  rebalanceTimeoutMs: 60_000,
  heartbeatIntervalMs: 1_000,
  handlerTimeoutMs: 300_000,
  stallTimeoutMs: 20_000,
  maxWaitMs: 500,
  maxPartitionBytes: 1024 * 1024,
}

/** The journal on Kafka, with the operations on topics that only Kafka has. */
export interface KafkaJournal extends Journal {
  /** Creates missing topics; reports how existing ones differ from those that Sluice would create. */
  applyTopics(topics: readonly NamedTopic[]): Promise<readonly AppliedTopic[]>
  /** Rejects with a `DurabilityError` if a topic could lose acknowledged records; from then on `health` tells of changed settings. */
  checkDurability(topics: readonly NamedTopic[]): Promise<void>
}

interface KafkaJournalDeps {
  readonly connection: KafkaConnection
  readonly clock: Clock
  readonly logger: Logger
  readonly options?: Partial<KafkaJournalOptions>
}

/** A journal on a Kafka cluster (3.5 or newer). Connects on first use. */
export function createKafkaJournal({ connection, clock, logger, options: given = {} }: KafkaJournalDeps): KafkaJournal {
  const options = { ...DEFAULTS, ...given }
  const cluster = createCluster(connection, options.requestTimeoutMs)
  const bytesMax = async (topic: string): Promise<number | null> => {
    const config = await cluster.configOf(topic).catch(() => undefined)
    return Number(config?.get('max.message.bytes')) || null
  }
  const appender = createAppender(connection, clock, options, bytesMax)
  const closing = new AbortController()
  const context: SubscriptionContext = { ...options, connection, cluster, clock, logger, closing: closing.signal }
  const open = new Set<Closeable>()
  let checked: { readonly topics: readonly NamedTopic[]; readonly inSync: number } = { topics: [], inSync: 1 }
  /** The dangers that the log has told of. */
  let told = ''

  /** The reason why the brokers did not answer the last request, which may take longer than anybody waits; null if they did. */
  let silence: string | null = null
  const askBrokers = async (): Promise<void> => {
    try {
      await cluster.brokerCount()
      silence = null
    } catch (error) {
      silence = describeFault(error)
      throw error
    }
  }
  const refuseWhenClosed = (): void => {
    if (closing.signal.aborted) throw new Error('the journal is closed')
  }

  return {
    append: appender.append,
    pack: packRecords,
    partitionCount: (topic) => cluster.partitionCount(topic),
    refusalOf: (topic) => cluster.refusalOf(topic),
    bytesMax,
    createTopics: async (topics) => {
      await createMissing(cluster, topics)
    },
    applyTopics: (topics) => applyTopics(cluster, topics),
    checkDurability: async (topics) => {
      checked = { topics, inSync: await checkDurability(cluster, topics) }
    },
    scan: (topic, from) => scanTopic(context, topic, from),
    follow: async (topic, onRecords) => {
      refuseWhenClosed()
      return keptIn(open, await followTopic(context, topic, onRecords))
    },
    subscribe: async (subscription, handler) => {
      refuseWhenClosed()
      for (const topic of subscription.topics) await cluster.partitionsOf(topic)
      // Nothing would end a member that joined now.
      refuseWhenClosed()
      return keptIn(open, subscribeToTopics(context, subscription, handler))
    },
    positions: (topic, group) => cluster.positions(topic, group),
    rewind: (topic, group) => cluster.rewind(topic, group),
    health: async () => {
      if (closing.signal.aborted) return { name: 'journal', ready: false, reason: 'closed' }
      try {
        await within(options.requestTimeoutMs, askBrokers())
      } catch (error) {
        const reason = (error instanceof OvertimeError ? silence : null) ?? describeFault(error)
        return { name: 'journal', ready: false, reason: `no broker answers: ${reason}` }
      }
      const { compacted, dangers } = await findDangers(cluster, checked.topics, checked.inSync)
      const reason = dangers.join('; ')
      if (reason !== told && reason !== '') logger.error({ reason }, 'topics could lose acknowledged records by now')
      told = reason
      if (compacted !== null) return { name: 'journal', ready: false, reason: compacted }
      // Ready nevertheless: an operator may lower `min.insync.replicas` to go on without some brokers.
      return { name: 'journal', ready: true, ...(reason !== '' && { reason }) }
    },
    close: async () => {
      closing.abort()
      await Promise.all([...open].map((reader) => reader.close()))
      open.clear()
      await appender.close()
      await cluster.close()
    },
  }
}
