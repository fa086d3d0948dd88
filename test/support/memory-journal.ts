import {
  AppendError,
  type Headers,
  type Journal,
  type JournalRecord,
  type NamedTopic,
  TopicMissingError,
  type UnconfirmedOutcome,
  unpacked,
} from '../../shared/journal/journal.ts'
import { type Clock, systemClock } from '../../shared/runtime/clock.ts'
import { createGroup, type MemoryGroup } from './memory-journal-groups.ts'

/** An in-memory journal with the port's semantics, which tests can make fail. */
export interface MemoryJournal extends Journal {
  /** The same journal as seen by another process; closed independently. */
  anotherClient(): Journal
  /** The next `times` appends (to the topic) reject with this outcome; with `unknown` the records are written nevertheless. */
  failAppends(outcome: UnconfirmedOutcome, times?: number, topic?: string, isFinal?: boolean): void
  /** Retention: removes the records of a partition before an offset. */
  removeBefore(topic: string, partition: number, offset: number): void
  /** Compaction: keeps only the last record of each key, and none if that is a tombstone. */
  compact(topic: string): void
  /** Ends the present followers of a topic, as if they may have missed deletions. */
  outdateFollowers(topic: string): void
  /** Every record currently in a topic. */
  recordsOf(topic: string): readonly JournalRecord[]
}

export interface MemoryTopic {
  readonly spec: NamedTopic
  readonly partitions: readonly MemoryPartition[]
  /** Ends each follower. */
  readonly followers: Set<() => void>
}

export interface MemoryPartition {
  records: readonly JournalRecord[]
  /** The offset up to which retention has removed records: a reader before it has lost some. */
  removedBefore: number
  endPosition: number
  /** Called after each append. */
  readonly listeners: Set<() => void>
}

const FOLLOW_BATCH_RECORDS = 500

/** `topics` exist from the start. */
export function createMemoryJournal({
  clock = systemClock,
  topics = [],
}: {
  clock?: Clock
  topics?: readonly NamedTopic[]
} = {}): MemoryJournal {
  const store = createStore(clock)
  store.create(topics)
  return {
    ...createClient(store),
    anotherClient: () => createClient(store),
    failAppends: (outcome, times = 1, topic, isFinal = false) =>
      store.failures.push(...Array.from({ length: times }, () => ({ outcome, topic, isFinal }))),
    removeBefore: (name, partition, offset) => {
      const target = store.topicOf(name).partitions[partition]
      if (target === undefined) throw new Error(`${name} has no partition ${partition}`)
      target.removedBefore = Math.max(target.removedBefore, Math.min(offset, target.endPosition))
      target.records = target.records.filter((record) => record.offset >= target.removedBefore)
    },
    compact: (name) => {
      for (const partition of store.topicOf(name).partitions) partition.records = lastOfEachKey(partition.records)
    },
    outdateFollowers: (name) => {
      for (const end of store.topicOf(name).followers) end()
    },
    recordsOf: (name) => store.topicOf(name).partitions.flatMap(({ records }) => records),
  }
}

/** The state shared by all clients of one journal. */
type Store = ReturnType<typeof createStore>

function createStore(clock: Clock) {
  const topics = new Map<string, MemoryTopic>()
  const groups = new Map<string, MemoryGroup>()
  const topicOf = (name: string): MemoryTopic => {
    const topic = topics.get(name)
    if (topic === undefined) throw new TopicMissingError(name)
    return topic
  }
  return {
    clock,
    failures: [] as {
      readonly outcome: UnconfirmedOutcome
      readonly topic: string | undefined
      readonly isFinal: boolean
    }[],
    groups,
    topicOf,
    find: (name: string) => topics.get(name),
    create: (wanted: readonly NamedTopic[]): void => {
      for (const spec of wanted) if (!topics.has(spec.name)) topics.set(spec.name, emptyTopic(spec))
    },
    groupOf: (name: string): MemoryGroup => {
      const group = groups.get(name) ?? createGroup(name, topicOf)
      groups.set(name, group)
      return group
    },
  }
}

function createClient(store: Store): Journal {
  const { topicOf } = store
  const open = new Set<{ close(): Promise<void> }>()
  let closed = false
  return {
    append: async ({ topic: name, partition, records: given }) => {
      const records = [...given]
      await nextTurn()
      if (closed) throw new AppendError('the journal is closed', 'not_written')
      const target = store.find(name)?.partitions[partition]
      if (target === undefined) throw new AppendError(`there is no ${name}/${partition}`, 'not_written')
      const next = store.failures.findIndex(({ topic = name }) => topic === name)
      const failure = next < 0 ? undefined : store.failures.splice(next, 1)[0]
      if (failure?.outcome === 'not_written') throw new AppendError('made to fail', failure.outcome, failure)
      const appendedAt = store.clock.now()
      const added = records.map(unpacked).map((record, index) => ({
        topic: name,
        partition,
        offset: target.endPosition + index,
        appendedAt,
        key: bytesOf(record.key),
        value: bytesOf(record.value),
        headers: headersOf({ ...record.commonHeaders, ...record.headers }),
      }))
      target.records = [...target.records, ...added]
      target.endPosition += added.length
      for (const listener of [...target.listeners]) listener()
      if (failure?.outcome === 'unknown') throw new AppendError('made to fail', failure.outcome, failure)
    },
    partitionCount: async (topic) => topicOf(topic).partitions.length,
    createTopics: async (wanted) => store.create(wanted),
    scan: (topic, from = 0) =>
      iterate(
        topic,
        store.find(topic)?.partitions.flatMap(({ records }) => records.filter(({ offset }) => offset >= from)),
      ),
    follow: async (topic, onRecords) => {
      const follower = followTopic(topicOf(topic), onRecords)
      open.add(follower)
      await nextTurn()
      return follower
    },
    subscribe: async (options, handler) => {
      if (closed) throw new Error('the journal is closed')
      const subscription = await store.groupOf(options.group).join(options, handler)
      open.add(subscription)
      return subscription
    },
    positions: async (topic, group) =>
      topicOf(topic).partitions.map((each, partition) => ({
        partition,
        firstOffset: each.records[0]?.offset ?? each.endPosition,
        endPosition: each.endPosition,
        committed: store.groups.get(group)?.committed(topic, partition) ?? null,
      })),
    rewind: async (topic, group) => store.groupOf(group).rewind(topicOf(topic)),
    health: async () =>
      closed ? { name: 'journal', ready: false, reason: 'closed' } : { name: 'journal', ready: true },
    close: async () => {
      closed = true
      await Promise.all([...open].map((each) => each.close()))
    },
  }
}

const emptyTopic = (spec: NamedTopic): MemoryTopic => ({
  spec,
  partitions: Array.from({ length: spec.partitions }, () => ({
    records: [],
    removedBefore: 0,
    endPosition: 0,
    listeners: new Set(),
  })),
  followers: new Set(),
})

/** Lets other work run first, as real I/O would. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const bytesOf = (value: string | Uint8Array | null): Buffer | null => (value === null ? null : Buffer.from(value))

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function headersOf(headers: Headers): Headers {
  const read = (value: string | Uint8Array): string | Uint8Array => {
    if (typeof value === 'string') return value
    try {
      return utf8.decode(value)
    } catch {
      return Buffer.from(value)
    }
  }
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, read(value)]))
}

async function* iterate(topic: string, records: readonly JournalRecord[] | undefined): AsyncGenerator<JournalRecord> {
  await nextTurn()
  if (records === undefined) throw new TopicMissingError(topic)
  yield* records
}

function followTopic(topic: MemoryTopic, onRecords: (records: readonly JournalRecord[]) => void) {
  let open = true
  const { promise: outdated, resolve: tellOutdated } = Promise.withResolvers<void>()
  const stops = topic.partitions.map((partition) => {
    let position = 0
    const deliver = (): void => {
      const waiting = partition.records.filter(({ offset }) => offset >= position)
      for (let from = 0; open && from < waiting.length; from += FOLLOW_BATCH_RECORDS) {
        const batch = waiting.slice(from, from + FOLLOW_BATCH_RECORDS)
        position = (batch.at(-1)?.offset ?? 0) + 1
        onRecords(batch)
      }
    }
    deliver()
    const listener = (): void => void setImmediate(deliver)
    partition.listeners.add(listener)
    return () => partition.listeners.delete(listener)
  })
  const end = (): void => {
    open = false
    topic.followers.delete(outdate)
    for (const stop of stops) stop()
  }
  const outdate = (): void => {
    end()
    tellOutdated()
  }
  topic.followers.add(outdate)
  return { outdated, close: async () => end() }
}

function lastOfEachKey(records: readonly JournalRecord[]): readonly JournalRecord[] {
  const last = new Map(records.map((record) => [record.key?.toString('latin1'), record]))
  return records.filter((record) => record.value !== null && last.get(record.key?.toString('latin1')) === record)
}
