import {
  type Broker,
  type Connection,
  ProduceAcks,
  Producer,
  ProtocolError,
  produceV9,
  Writer,
} from '@platformatic/kafka'
import type { Clock } from '../../runtime/clock.ts'
import { OvertimeError, pause, within } from '../../runtime/waiting.ts'
import { type AppendBatch, AppendError, type UnconfirmedOutcome, type WaitingRecord } from '../journal.ts'
import { clientOptions, type KafkaConnection, triesPast } from './connection.ts'
import { describeFault, isOfTopic, isRefusedForGood, isTooLarge, isUnknownTopic, judgeAppend } from './faults.ts'
import { patchClient } from './patched-client.ts'
import { COUNT_AT, type Compression, encodeRecordBatch, recycle } from './record-batch.ts'

export interface AppenderOptions {
  /** Maximum time of one append, including all attempts; keep it below the deadline of the request that waits. */
  readonly deliveryTimeoutMs: number
  /** Maximum time of one attempt, after which a frozen leader is given up. */
  readonly requestTimeoutMs: number
  /** How batches are compressed. */
  readonly compression: Compression
}

/** Resolves to the most bytes that a topic takes at once; null if the brokers do not tell. */
type BytesMaxOf = (topic: string) => Promise<number | null>

type Batch = AppendBatch<WaitingRecord>

interface Appender {
  append(batch: Batch): Promise<void>
  /** Waits for the appends in progress, whose time is limited. */
  close(): Promise<void>
}

/** The knowledge about a batch that an attempt did not confirm. */
interface Failure {
  readonly outcome: UnconfirmedOutcome
  /** Whether a repeat may succeed. */
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
export function createAppender(
  connection: KafkaConnection,
  clock: Clock,
  options: AppenderOptions,
  bytesMaxOf: BytesMaxOf,
): Appender {
  const { deliveryTimeoutMs, requestTimeoutMs, compression } = options
  const producer = patchClient(new Producer(clientOptions(connection, { requestTimeoutMs, retries: 0 })), connection)
  const underWay = new Set<Promise<void>>()
  const turnAt = createTurns()
  let closed = false

  const deliver = async (batch: Batch): Promise<void> => {
    const end = performance.now() + deliveryTimeoutMs
    // The caller empties the batch as soon as this function waits.
    const encoded = encodeRecordBatch(batch.records, clock.now(), compression)
    const what = `${batch.topic}/${batch.partition}: ${encoded.readInt32BE(COUNT_AT)} records`
    const failures: Failure[] = []
    for (;;) {
      const failure = await attempt(batch, encoded, failures.length > 0, end - performance.now())
      if (failure === null) {
        // Not after a failure: an attempt that was given up may still send the batch.
        recycle(encoded)
        return
      }
      failures.push(failure)
      const isFinal = !mayRetry(failure, failures.length)
      if (isFinal || performance.now() + RETRY_DELAY_MS >= end)
        throw unconfirmed(what, failures, isFinal, isTooLarge(failure.cause) ? await bytesMaxOf(batch.topic) : null)
      await pause(RETRY_DELAY_MS)
    }
  }

  /** Gives up after `ms` milliseconds. Resolves to null if the batch is confirmed; does not reject. */
  const attempt = async (batch: Batch, encoded: Buffer, isRetry: boolean, ms: number): Promise<Failure | null> => {
    const progress: Progress = { sent: false, abandoned: false }
    try {
      return await within(ms, send(batch, encoded, isRetry, progress))
    } catch (error) {
      progress.abandoned = true
      const outcome = progress.sent ? 'unknown' : 'not_written'
      return { outcome, retry: true, reason: describeFault(error), cause: error }
    }
  }

  /** Like `attempt`, however long it takes. */
  const send = async (batch: Batch, encoded: Buffer, isRetry: boolean, progress: Progress): Promise<Failure | null> => {
    const leader = await findLeader(producer, connection, batch, isRetry).catch(notSent)
    if ('outcome' in leader) return leader
    const endTurn = await turnAt(leader.node)
    let mutedMs = 0
    try {
      const made = await connectTo(producer, leader)
      if (progress.abandoned) return { outcome: 'not_written', retry: false, reason: 'given up before it was sent' }
      progress.sent = true
      const produced = await produce(made, batch, encoded, requestTimeoutMs)
      mutedMs = produced.mutedMs
      if (produced.isConfirmed) return null
      return { outcome: 'unknown', retry: false, reason: 'the answer does not name the partition' }
    } catch (error) {
      mutedMs = mutedMsOf(error)
      return progress.sent ? { ...judgeAppend(error), reason: describeFault(error), cause: error } : notSent(error)
    } finally {
      endTurn(mutedMs)
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

/** A batch that was given up stays in memory until its turn comes, so a broker's pauses need a limit. */
const MUTED_MS_MAX = 60_000

/**
 * The turns of the appends to a broker that limits them by a quota. It answers at once, and then reads nothing from the connection for a
 * while: what is sent meanwhile times out here, is written there all the same, and is sent again. So each append to such a broker waits until
 * the one before it was answered and the pause after it is over; appends to other brokers do not wait for each other.
 *
 * The function that is returned waits for the turn of an append, and resolves to a function that ends the turn; it is given the pause in
 * milliseconds that the answer named.
 */
function createTurns(): (node: number) => Promise<(mutedMs: number) => void> {
  /** The end of the last turn at each such broker, by node. */
  const ends = new Map<number, Promise<unknown>>()
  return async (node) => {
    const before = ends.get(node)
    const { promise: end, resolve } = Promise.withResolvers<void>()
    if (before !== undefined) ends.set(node, end)
    await before
    return (mutedMs) => {
      if (mutedMs > 0) {
        // An append that had no turn to wait for did not announce its end either: the next ones wait for it from now on.
        if (before === undefined) ends.set(node, Promise.all([ends.get(node), end]))
        setTimeout(resolve, Math.min(mutedMs, MUTED_MS_MAX)).unref()
        return
      }
      if (ends.get(node) === end) ends.delete(node)
      resolve()
    }
  }
}

/** The broker that leads a partition. */
interface Leader {
  readonly node: number
  readonly broker: Broker
}

/**
 * Makes sure that the leader is known, so that a failure up to here means that nothing was sent. Rejects if there is none, or if the
 * partition does not exist: the library would take its number modulo the number of partitions.
 */
async function findLeader(
  producer: Producer,
  connection: KafkaConnection,
  { topic, partition }: Batch,
  isRetry: boolean,
): Promise<Leader> {
  if (isRetry || !producer.currentMetadata?.topics.has(topic)) {
    await producer.metadata({ topics: [topic], forceUpdate: true, retries: triesPast(connection) })
  }
  const metadata = producer.currentMetadata
  const node = metadata?.topics.get(topic)?.partitions[partition]?.leader
  if (node === undefined) {
    throw new ProtocolError('UNKNOWN_TOPIC_OR_PARTITION', `${topic} has no partition ${partition}.`)
  }
  const broker = metadata?.brokers.get(node)
  if (broker === undefined) throw new Error(UNLED)
  return { node, broker }
}

const UNLED = 'the partition has no leader'

async function connectTo(producer: Producer, { node, broker }: Leader): Promise<Connection> {
  const established = producer.connections.getEstablishedConnection(broker)
  if (established?.isConnected()) return established
  const made = (await producer.connectToBrokers([node])).get(node)
  if (made === undefined) throw new Error(UNLED)
  return made
}

/** A failure before anything left this process. */
const notSent = (error: unknown): Failure => ({
  outcome: 'not_written',
  retry: !isRefusedForGood(error),
  reason: describeFault(error),
  cause: error,
})

/** Whether another attempt may succeed. */
const mayRetry = ({ retry, cause }: Failure, attempts: number): boolean =>
  retry && !(attempts >= UNKNOWN_TOPIC_ATTEMPTS && isUnknownTopic(cause))

/** The error of an append whose attempts all failed: if any may have written the batch, nobody knows whether it is written. */
function unconfirmed(
  what: string,
  failures: readonly Failure[],
  isFinal: boolean,
  bytesMax: number | null,
): AppendError {
  // The failure of an earlier attempt says more than the timeout of the last one.
  const telling = failures.findLast(({ cause }) => !(cause instanceof OvertimeError)) ?? failures.at(-1)
  const outcome = failures.some((each) => each.outcome === 'unknown') ? 'unknown' : 'not_written'
  const message = `${what} not confirmed in ${failures.length} attempt(s): ${telling?.reason}`
  return new AppendError(message, outcome, {
    cause: telling?.cause,
    isFinal,
    isOfTopic: isFinal && isOfTopic(telling?.cause),
    bytesMax,
  })
}

/** Kafka's key of the Produce request, and the version that every broker since 2.4 supports. */
const PRODUCE = 0
const VERSION = 9

/** The answer of a broker to a batch. */
interface Produced {
  /** A batch is stored as a whole, so its first offset stands for every record. */
  readonly isConfirmed: boolean
  /** Milliseconds for which the broker reads nothing more from the connection, as a quota is used up (KIP-219); mostly 0. */
  readonly mutedMs: number
}

/**
 * Sends one record batch to the leader of its partition with acks=all. Rejects with the library's errors, which carry the broker's codes.
 */
export function produce(
  connection: Connection,
  { topic, partition }: { readonly topic: string; readonly partition: number },
  batch: Buffer,
  timeoutMs: number,
): Promise<Produced> {
  const request = () =>
    Writer.create()
      .appendString(null) // no transaction
      .appendInt16(ProduceAcks.ALL)
      .appendInt32(timeoutMs)
      .appendArray([topic], (ofTopic, name) =>
        ofTopic.appendString(name).appendArray([batch], (ofPartition, records) =>
          ofPartition
            .appendInt32(partition)
            .appendUnsignedVarInt(records.length + 1)
            .append(records),
        ),
      )
      .appendTaggedFields()
  return new Promise((resolve, reject) => {
    connection.send<produceV9.ProduceResponse>(
      PRODUCE,
      VERSION,
      request,
      produceV9.parseResponse,
      true,
      true,
      (error, answer) => {
        if (error) reject(error)
        else
          resolve({
            isConfirmed: answer !== undefined && confirms(answer, topic, partition),
            mutedMs: answer?.throttleTimeMs ?? 0,
          })
      },
    )
  })
}

/** The `mutedMs` of an answer that the library made an error of. */
const mutedMsOf = (error: unknown): number =>
  (error as { readonly response?: Partial<produceV9.ProduceResponse> }).response?.throttleTimeMs ?? 0

function confirms({ responses }: produceV9.ProduceResponse, topic: string, partition: number): boolean {
  const answered = responses.flatMap(({ name, partitionResponses }) =>
    partitionResponses.map(({ index, errorCode, baseOffset }) => ({ name, index, errorCode, baseOffset })),
  )
  return (
    answered.length === 1 &&
    answered.every(
      (one) => one.name === topic && one.index === partition && one.errorCode === 0 && one.baseOffset >= 0n,
    )
  )
}
