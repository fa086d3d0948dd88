import { type Connection, Producer } from '@platformatic/kafka'
import type { Clock } from '../../runtime/clock.ts'
import { OvertimeError, within } from '../../runtime/waiting.ts'
import { type AppendBatch, AppendError, type UnconfirmedOutcome } from '../journal.ts'
import { clientOptions, type KafkaConnection, triesPast } from './connection.ts'
import { describeFault, isRefusedForGood, isUnknownTopic, judgeAppend } from './faults.ts'
import { patchClient } from './patched-client.ts'
import { produce } from './produce.ts'
import { type Compression, encodeRecordBatch, recycle } from './record-batch.ts'

export interface AppenderOptions {
  /** Maximum time of one append, including all attempts; keep it below the deadline of the request that waits. */
  readonly deliveryTimeoutMs: number
  /** Maximum time of one attempt, after which a frozen leader is given up. */
  readonly requestTimeoutMs: number
  /** How batches are compressed. */
  readonly compression: Compression
}

export interface Appender {
  append(batch: AppendBatch): Promise<void>
  /** Waits for the appends in progress, whose time is limited. */
  close(): Promise<void>
}

/** The result of one attempt: confirmed, or what is known about a batch that was not. */
type Attempt = { readonly outcome: 'confirmed' } | Failure
interface Failure {
  readonly outcome: UnconfirmedOutcome
  readonly retry: boolean
  readonly reason: string
  readonly cause?: unknown
}

/** The progress of an attempt; one that was given up before it sent must not send any more. */
interface Progress {
  sent: boolean
  abandoned: boolean
}

const RETRY_DELAY_MS = 100
/** A new topic may be unknown to some brokers for a moment; after this many attempts it counts as missing. */
const UNKNOWN_TOPIC_ATTEMPTS = 5

/**
 * Appends with acks=all, one partition per request, as a request for several partitions can be half written. The attempts are made here and
 * not by the library, so that none is made after the answer was given, and so that the result of each is known.
 */
export function createAppender(connection: KafkaConnection, clock: Clock, options: AppenderOptions): Appender {
  const { deliveryTimeoutMs, requestTimeoutMs, compression } = options
  const producer = patchClient(new Producer(clientOptions(connection, { requestTimeoutMs, retries: 0 })), connection)
  const underWay = new Set<Promise<void>>()
  let closed = false

  const attempt = async (
    batch: AppendBatch,
    encoded: Buffer,
    progress: Progress,
    isRetry: boolean,
  ): Promise<Attempt> => {
    let leader: Leader
    try {
      leader = await findLeader(producer, connection, batch, isRetry)
    } catch (error) {
      return { ...notSent(error), cause: error }
    }
    if ('outcome' in leader) return leader
    if (progress.abandoned) return { outcome: 'not_written', retry: false, reason: 'given up before it was sent' }
    progress.sent = true
    try {
      const confirmed = await produce(leader.connection, batch, encoded, requestTimeoutMs)
      return confirmed
        ? { outcome: 'confirmed' }
        : { outcome: 'unknown', retry: false, reason: 'the answer does not name the partition' }
    } catch (error) {
      return { ...judgeAppend(error), reason: describeFault(error), cause: error }
    }
  }

  const deliver = async (batch: AppendBatch): Promise<void> => {
    const end = performance.now() + deliveryTimeoutMs
    const count = batch.records.length
    const encoded = encodeRecordBatch(batch.records, clock.now(), compression)
    let outcome: UnconfirmedOutcome = 'not_written'
    let before: Failure | undefined
    for (let attempts = 1; ; attempts++) {
      const progress: Progress = { sent: false, abandoned: false }
      const ended = attempt(batch, encoded, progress, attempts > 1)
      const result = await within(end - performance.now(), ended).catch((error) => overtime(error, progress))
      if (result.outcome === 'confirmed') {
        // Only now can no attempt still send it.
        recycle(encoded)
        return
      }
      if (result.outcome === 'unknown') outcome = 'unknown'
      const over = performance.now() + RETRY_DELAY_MS >= end
      const missing = attempts >= UNKNOWN_TOPIC_ATTEMPTS && isUnknownTopic(result.cause)
      if (!result.retry || over || missing) {
        const isLate = result.cause instanceof OvertimeError
        // The failure of an earlier attempt says more than the timeout.
        const { reason, cause } = isLate ? (before ?? result) : result
        const { topic, partition } = batch
        throw new AppendError(
          `${topic}/${partition}: ${count} records not confirmed in ${attempts} attempt(s): ${reason}`,
          outcome,
          { cause, isFinal: missing || !(result.retry || isLate) },
        )
      }
      before = result
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS))
    }
  }

  return {
    append: async (batch) => {
      if (closed) throw new AppendError('the journal is closed', 'not_written')
      if (batch.records.length === 0) return
      const delivered = deliver(batch)
      underWay.add(delivered)
      try {
        await delivered
      } finally {
        underWay.delete(delivered)
      }
    },
    close: async () => {
      if (closed) return
      closed = true
      await Promise.allSettled(underWay)
      await producer.close(true)
    },
  }
}

/** The connected broker that leads a partition, or why there is none. */
type Leader = { readonly connection: Connection } | Failure

/**
 * Makes sure that the leader is known and connected, so that a failure up to here means that nothing was sent. Returns a failure if the
 * partition does not exist: the library would take its number modulo the number of partitions.
 */
async function findLeader(
  producer: Producer,
  connection: KafkaConnection,
  { topic, partition }: AppendBatch,
  isRetry: boolean,
): Promise<Leader> {
  if (isRetry || !producer.currentMetadata?.topics.has(topic)) {
    await producer.metadata({ topics: [topic], forceUpdate: true, retries: triesPast(connection) })
  }
  const metadata = producer.currentMetadata
  const leader = metadata?.topics.get(topic)?.partitions[partition]?.leader
  if (leader === undefined) {
    // Partitions may have been added since the metadata was read.
    return { outcome: 'not_written', retry: !isRetry, reason: `${topic} has no partition ${partition}` }
  }
  const broker = metadata?.brokers.get(leader)
  const unled: Failure = { outcome: 'not_written', retry: true, reason: 'the partition has no leader' }
  if (broker === undefined) return unled
  const established = producer.connections.getEstablishedConnection(broker)
  if (established?.isConnected()) return { connection: established }
  const made = (await producer.connectToBrokers([leader])).get(leader)
  return made === undefined ? unled : { connection: made }
}

/** A failure before anything left this process. */
const notSent = (error: unknown): Failure => ({
  outcome: 'not_written',
  retry: !isRefusedForGood(error),
  reason: describeFault(error),
})

/** The failure of an attempt that exceeded the time; if its request has left, it may still be written. */
function overtime(error: unknown, progress: Progress): Failure {
  progress.abandoned = true
  return {
    outcome: progress.sent ? 'unknown' : 'not_written',
    retry: false,
    reason: describeFault(error),
    cause: error,
  }
}
