import { DAY_MS } from '../../contract/timestamp.ts'
import { createWaker } from '../../runtime/waiting.ts'
import type { Follower, JournalRecord } from '../journal.ts'
import type { Cluster } from './cluster.ts'
import type { FetchedRecords, Room } from './fetched-records.ts'
import { type FetcherOptions, startFetcher } from './fetcher.ts'
import type { Bounds } from './offsets.ts'
import { type Source, sourceAt } from './source.ts'

/** The dependencies that all readers share. */
export interface ReadContext
  extends Pick<
    FetcherOptions,
    'connection' | 'clock' | 'logger' | 'requestTimeoutMs' | 'maxWaitMs' | 'maxPartitionBytes'
  > {
  readonly cluster: Cluster
  /** Aborted when the journal closes. */
  readonly closing: AbortSignal
}

/** Maximum bytes read ahead of the records taken. */
const AHEAD_BYTES = 4 * 1024 * 1024
/** Room for as many records as become objects at once. */
const someRecords = (): Room => ({ records: 1_000, bytes: AHEAD_BYTES })

/** See `Journal.scan`. A reader that stops early leaves nothing open. */
export async function* scanTopic(context: ReadContext, topic: string, from = 0): AsyncGenerator<JournalRecord> {
  for (const [partition, { first, end }] of (await context.cluster.bounds(topic)).entries()) {
    const position = Math.max(first, from)
    if (position < end) yield* scanPartition(context, sourceAt({ topic, partition, position }), end)
  }
}

async function* scanPartition(context: ReadContext, source: Source, endAtCall: number): AsyncGenerator<JournalRecord> {
  let end = endAtCall
  const abort = new AbortController()
  const signal = AbortSignal.any([abort.signal, context.closing])
  const waker = createWaker(signal)
  let ready: FetchedRecords[] = []
  let ahead = 0
  const fetcher = startFetcher({
    ...context,
    topics: [source.topic],
    sources: [source],
    signal,
    wants: () => ahead < AHEAD_BYTES && source.position < end,
    onRecords: (_, records) => {
      ready.push(records)
      ahead += records.bytes
      waker.wake()
    },
    // Retention has removed records since the bounds were read; those that are kept are still wanted.
    onOutOfRange: async () => {
      const bounds = await boundsNow(context.cluster, source)
      if (bounds) source.position = Math.max(source.position, bounds.first)
    },
    onReplaced: ({ topic }) => fail(new Error(`${topic} was made anew while it was read`)),
  })
  let failure: { readonly error: unknown } | undefined
  const fail = (error: unknown): void => {
    failure = { error }
    waker.wake()
  }
  const done = fetcher.done.catch(fail)
  try {
    for (;;) {
      const taken = ready
      ready = []
      for (const records of taken) {
        ahead -= records.bytes
        while (!records.isEmpty()) {
          for (const record of records.take(someRecords())) if (record.offset < end) yield record
        }
      }
      if (failure) throw failure.error
      if (context.closing.aborted) throw new Error('the journal is closed')
      if (ready.length > 0) continue
      if (source.position >= end) return
      fetcher.wake()
      const { obstacle } = source
      await waker.wait(context.maxWaitMs)
      if (ready.length > 0) continue
      // Records that were damaged on their way have been fetched again by now.
      if (obstacle !== null) refuseUnreadable(source)
      end = endAfterLoss(end, await boundsNow(context.cluster, source))
    }
  } finally {
    abort.abort()
    await done
  }
}

/** The bounds of one partition, whatever the state of the others; undefined if its leader does not answer. */
export async function boundsNow(
  cluster: Cluster,
  { topic, partition }: { readonly topic: string; readonly partition: number },
): Promise<Bounds | undefined> {
  const bounds = (await cluster.boundsOf(topic, [partition]).catch(() => undefined))?.get(partition)
  return bounds instanceof Error ? undefined : bounds
}

/**
 * The end that a reader can still reach. An unclean election loses the last records, as does a topic that is made anew; waiting for them
 * would take until others have their offsets. Only then does a leader name an earlier end than one before it (KIP-207).
 */
const endAfterLoss = (end: number, now: Bounds | undefined): number => Math.min(end, now?.end ?? end)

/** Throws if the records at the position cannot be read: neither a scan nor a process that starts may wait for them in silence. */
function refuseUnreadable({ topic, partition, obstacle }: Source): void {
  if (obstacle !== null) throw new Error(`${topic}/${partition} cannot be read: ${obstacle}`)
}

/**
 * How long a follower may read nothing: half the time for which compaction keeps deletion marks (`delete.retention.ms`, a day). Goes by the
 * time of day, as other clocks may stand still while the machine sleeps.
 */
const UNREAD_MS_MAX = DAY_MS / 2

/** Follows a topic from its first record; resolves when all records in it at the call have been handed over. */
export async function followTopic(
  context: ReadContext,
  topic: string,
  onRecords: (records: readonly JournalRecord[]) => void,
): Promise<Follower> {
  const { cluster, clock, logger } = context
  const startedAt = clock.now()
  const bounds = await cluster.bounds(topic)
  let ends = bounds.map(({ end }) => end)
  const abort = new AbortController()
  const sources = bounds.map(({ first }, partition) => sourceAt({ topic, partition, position: first }))
  const { promise: caughtUp, resolve, reject } = Promise.withResolvers<void>()
  const { promise: outdated, resolve: tellOutdated } = Promise.withResolvers<void>()
  const endOutdated = ({ partition, position }: Source): void => {
    const reason = 'deletions may have been missed, as it was not read for long'
    logger.warn({ topic, partition, position, reason }, 'a topic is read again')
    abort.abort()
    reject(new Error(`${topic}/${partition}: ${reason}`))
    tellOutdated()
  }
  const check = (): void => {
    if (sources.every(({ position }, partition) => position >= (ends[partition] ?? 0))) resolve()
  }
  const fetcher = startFetcher({
    ...context,
    topics: [topic],
    sources,
    signal: AbortSignal.any([abort.signal, context.closing]),
    wants: () => true,
    onRecords: (source, fetched) => {
      if (clock.now() - Math.max(source.readAt, startedAt) > UNREAD_MS_MAX) endOutdated(source)
      while (!fetched.isEmpty() && !abort.signal.aborted) {
        const records = fetched.take(someRecords())
        if (records.length > 0) onRecords(records)
      }
      check()
    },
    // A follower folds the records that are kept; it does not miss those that retention removed before it came.
    onOutOfRange: async (source) => {
      const found = await boundsNow(cluster, source)
      if (found === undefined || (source.position >= found.first && source.position <= found.end)) return
      const { first } = found
      logger.warn({ topic, partition: source.partition, position: source.position, first }, 'a follower starts over')
      source.position = first
      check()
    },
    // The records handed over stay good: a registry that was lost with its topic is in memory alone (docs/runbooks/lost-registry.md).
    onReplaced: ({ partition, readAt }) => {
      logger.warn({ topic, partition }, 'the topic was made anew, and its follower starts over')
      const anew = { ...sourceAt({ topic, partition, position: 0 }), readAt }
      sources[partition] = anew
      fetcher.add(anew)
    },
  })
  fetcher.done.then(() => reject(new Error('the journal is closed')), reject)
  check()
  const close = async (): Promise<void> => {
    abort.abort()
    await fetcher.done
  }
  const look = async (): Promise<void> => {
    for (const source of sources) refuseUnreadable(source)
    const now = await cluster.bounds(topic).catch(() => [])
    ends = ends.map((end, partition) => endAfterLoss(end, now[partition]))
    check()
  }
  const looking = setInterval(() => look().catch(reject), context.requestTimeoutMs)
  try {
    await caughtUp
    return { outdated, close }
  } catch (error) {
    abort.abort()
    throw error
  } finally {
    clearInterval(looking)
  }
}
