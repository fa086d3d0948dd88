import type { Logger } from '../../runtime/logger.ts'
import { pause } from '../../runtime/waiting.ts'
import type { Follower, JournalRecord } from '../journal.ts'
import type { Changes } from './changes.ts'
import type { PartitionState } from './partitions.ts'
import { decodeBatch } from './record-codec.ts'
import type { StoreCalls } from './store.ts'

const PAGE_RECORDS = 500
/** Time from a read that failed to the next attempt. */
const RETRY_MS = 1_000

interface ReadingDeps {
  readonly store: StoreCalls
  readonly changes: Changes
  readonly logger: Pick<Logger, 'error'> | undefined
}

interface PartitionPage {
  readonly records: readonly JournalRecord[]
  readonly next: number
  readonly firstOffset: number
  readonly endPosition: number
}

/** Repeats a read until it succeeds, unless `onFailure` throws. Resolves to undefined if the signal aborts before that. */
export async function untilRead<T>(
  read: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await read()
    } catch (error) {
      onFailure(error)
    }
    await pause(RETRY_MS, signal)
  }
  return undefined
}

/** The records of a partition from a position on. */
export async function readPage(
  store: StoreCalls,
  topic: string,
  { id, partition }: Pick<PartitionState, 'id' | 'partition'>,
  position: number,
  recordsMax: number,
): Promise<PartitionPage> {
  const { batches, ...page } = await store.call('read', [{ partitionId: id, position, recordsMax }])
  const records: JournalRecord[] = []
  for (const batch of batches) {
    for (const record of decodeBatch(topic, partition, batch, position)) {
      if (records.push(record) === recordsMax) return { ...page, records, next: record.offset + 1 }
    }
  }
  return { ...page, records }
}

/** Every record that is in the topic at the call; keeps nothing open between two pages. */
export function scan(store: StoreCalls, topic: string, from = 0): AsyncIterable<JournalRecord> {
  const states = store.call('partitions', [topic])
  // The iteration meets the failure; until then it must not count as unhandled.
  states.catch(() => {})
  return scanPartitions(store, topic, states, from)
}

async function* scanPartitions(
  store: StoreCalls,
  topic: string,
  states: Promise<readonly PartitionState[]>,
  from: number,
): AsyncGenerator<JournalRecord> {
  for (const state of await states) {
    let position = Math.max(state.firstOffset, from)
    while (position < state.endPosition) {
      const page = await readPage(store, topic, state, position, PAGE_RECORDS)
      for (const record of page.records) {
        if (record.offset >= state.endPosition) break
        yield record
      }
      position = page.next
    }
  }
}

/** See `Journal.follow`. Once it has caught up, a read failure is logged, and retried until the follower is closed. */
export async function follow(
  { store, changes, logger }: ReadingDeps,
  topic: string,
  onRecords: (records: readonly JournalRecord[]) => void,
): Promise<Follower> {
  const states = await store.call('partitions', [topic])
  const positions = new Map(states.map(({ id, firstOffset }) => [id, firstOffset]))
  const closing = new AbortController()

  const readOn = async (state: PartitionState): Promise<void> => {
    for (;;) {
      const page = await readPage(store, topic, state, positions.get(state.id) ?? 0, PAGE_RECORDS)
      if (closing.signal.aborted) return
      if (page.records.length > 0) onRecords(page.records)
      positions.set(state.id, page.next)
      if (page.next >= page.endPosition) return
    }
  }

  const readAll = async (): Promise<void> => {
    for (const state of states) await readOn(state)
  }

  const goOn = async (caughtUp: number): Promise<void> => {
    let seen = caughtUp
    while (!closing.signal.aborted) {
      await changes.after(topic, seen)
      seen = changes.version(topic)
      await untilRead(readAll, closing.signal, (err) =>
        logger?.error({ err, topic }, 'following a topic failed, trying again'),
      )
    }
  }

  const seen = changes.version(topic)
  await readAll()
  const ended = goOn(seen)
  return {
    // The file is this process's alone to compact, and a deletion mark is removed a minute after what it deletes: that is time to read it.
    outdated: new Promise(() => undefined),
    close: () => {
      closing.abort()
      changes.notify(topic)
      return ended
    },
  }
}
