import {
  type Connection,
  createAPI,
  FetchIsolationLevels,
  fetchV15,
  type Reader,
  ResponseError,
} from '@platformatic/kafka'
import { isMostOfItsMemory } from '../../runtime/byte-budget.ts'
import type { LogPlace } from './offsets.ts'

/** A broker's answer for one partition. */
export interface FetchedPartition {
  readonly topicId: string
  readonly partition: number
  /** The position after the last record that every replica has. */
  readonly highWatermark: number
  /** Batches of records as they are in the log, the last one perhaps cut off; null if there are none. */
  readonly records: Buffer | null
  /** The last place that the log has in common with the records fetched before; null if it has all of them (KIP-595). */
  readonly commonEnd: LogPlace | null
  /** The broker's error for this partition, with its code; the others of the answer are as good as ever. */
  readonly error: Error | null
}

/** A broker's answer. */
interface Fetched {
  readonly partitions: readonly FetchedPartition[]
  /** Milliseconds for which the broker reads nothing more from the connection, as a quota is used up (KIP-219); mostly 0. */
  readonly mutedMs: number
}

/**
 * Fetch, in the version that every broker since 3.5 supports (kafka.apache.org/protocol). The library's own version turns each record and
 * each header into objects while it reads the answer, and all of them wait in memory for their turn; this one keeps the records as bytes.
 */
const fetchApi = createAPI<Parameters<typeof fetchV15.createRequest>, Fetched>(
  fetchV15.api.key,
  fetchV15.api.version,
  fetchV15.createRequest,
  parseResponse,
)

interface FetchOptions {
  /** Maximum time that the broker waits for records before it answers with none. */
  readonly maxWaitMs: number
  /** Maximum bytes of one answer; the first batch is sent whatever its size. */
  readonly maxBytes: number
  readonly topics: readonly fetchV15.FetchRequestTopic[]
}

/** A request without a session: the broker remembers nothing between two requests. */
const NO_SESSION = -1

/**
 * Fetches records from these positions, including those of uncommitted transactions. Rejects with the library's error, which carries the
 * broker's code, if there is one for the whole request.
 */
export const fetch = (connection: Connection, { maxWaitMs, maxBytes, topics }: FetchOptions): Promise<Fetched> =>
  fetchApi.async(
    connection,
    maxWaitMs,
    1,
    maxBytes,
    FetchIsolationLevels.READ_UNCOMMITTED,
    0,
    NO_SESSION,
    [...topics],
    [],
    '',
  )

function parseResponse(_correlationId: number, apiKey: number, apiVersion: number, reader: Reader): Fetched {
  const found: FetchedPartition[] = []
  const errorOf = (code: number): Error | null =>
    code === 0 ? null : new ResponseError(apiKey, apiVersion, { '': [code, null] }, {})
  const mutedMs = reader.readInt32()
  const error = errorOf(reader.readInt16())
  if (error !== null) throw error
  reader.readInt32() // The session; there is none.
  reader.readArray((topics) => {
    const topicId = topics.readUUID()
    topics.readArray(
      (partitions) => {
        found.push({ topicId, ...readPartition(partitions, errorOf) })
      },
      true,
      false,
    )
  })
  return { partitions: found, mutedMs }
}

function readPartition(reader: Reader, errorOf: (code: number) => Error | null): Omit<FetchedPartition, 'topicId'> {
  const partition = reader.readInt32()
  const error = errorOf(reader.readInt16())
  const highWatermark = Number(reader.readInt64())
  reader.readInt64() // The last stable offset, for readers of committed transactions only.
  reader.readInt64() // The log's first offset.
  reader.readNullableArray((aborted) => {
    aborted.readInt64()
    aborted.readInt64()
  })
  reader.readInt32() // The preferred read replica.
  const records = onTheirOwn(reader.readNullableBytes() as Buffer | null)
  return { partition, highWatermark, records, commonEnd: readCommonEnd(reader), error }
}

/** The tag of a partition's diverging epoch. */
const DIVERGING_EPOCH = 0

/** Reads the tagged fields of a partition, of which only one is needed. */
function readCommonEnd(reader: Reader): LogPlace | null {
  let found: LogPlace | null = null
  for (let left = reader.readUnsignedVarInt(); left > 0; left--) {
    const tag = reader.readUnsignedVarInt()
    const end = reader.readUnsignedVarInt() + reader.position
    if (tag === DIVERGING_EPOCH) {
      const leaderEpoch = reader.readInt32()
      found = { leaderEpoch, position: Number(reader.readInt64()) }
    }
    reader.skip(end - reader.position)
  }
  return found
}

/**
 * The records, copied if they are the smaller part of the memory that they are in: up to 64 KiB that arrived at once. Records may wait for
 * long, and would keep what belongs to other partitions, many times as much as is counted for their own.
 */
function onTheirOwn(records: Buffer | null): Buffer | null {
  if (records === null || isMostOfItsMemory(records)) return records
  const copy = Buffer.allocUnsafeSlow(records.length)
  records.copy(copy)
  return copy
}
