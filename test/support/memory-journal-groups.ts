import {
  type JournalRecord,
  type PartitionBatch,
  PositionLostError,
  type SubscribeOptions,
  type Subscription,
} from '../../shared/journal/journal.ts'
import type { Health } from '../../shared/runtime/lifecycle.ts'
import type { MemoryPartition, MemoryTopic } from './memory-journal.ts'

/** A group of the in-memory journal: its members, their partitions, and the committed positions. */
export interface MemoryGroup {
  join(options: SubscribeOptions, handler: Handler): Promise<Subscription>
  committed(topic: string, partition: number): number | null
  /** Forgets the positions in a topic. */
  rewind(topic: MemoryTopic): void
}

type Handler = (batch: PartitionBatch) => Promise<void>

interface Member {
  readonly options: SubscribeOptions
  readonly handler: Handler
  readonly fail: (error: unknown) => void
}

/** A member reading one partition. */
interface Reader {
  readonly member: Member
  readonly abort: AbortController
  readonly ended: Promise<void>
}

export function createGroup(name: string, topicOf: (topic: string) => MemoryTopic): MemoryGroup {
  const members: Member[] = []
  const readers = new Map<string, Reader>()
  const committed = new Map<string, number>()
  let settled: Promise<void> = Promise.resolve()

  const readBy = (member: Member): number => [...readers.values()].filter((reader) => reader.member === member).length

  /** Revokes partitions from readers that lose them, waits for their handlers, and only then reassigns them. */
  const rebalance = async (): Promise<void> => {
    const owners = assign(members, topicOf)
    const leaving = [...readers].filter(([place, { member }]) => owners.get(place)?.member !== member)
    for (const [place, reader] of leaving) {
      reader.abort.abort()
      readers.delete(place)
    }
    await Promise.all(leaving.map(([, reader]) => reader.ended))
    for (const member of new Set(leaving.map(([, reader]) => reader.member))) {
      member.options.onAssigned?.(readBy(member), members.includes(member) ? 'group' : 'closed')
    }
    for (const [place, owner] of owners) {
      if (readers.has(place)) continue
      const abort = new AbortController()
      const ended = read({ ...owner, place, committed, signal: abort.signal }).catch((error: unknown) => {
        // A handler that stops on request does not fail the subscription.
        if (!abort.signal.aborted) owner.member.fail(error)
      })
      readers.set(place, { member: owner.member, abort, ended })
      owner.member.options.onAssigned?.(readBy(owner.member), 'assigned')
    }
  }
  const settle = (): Promise<void> => {
    settled = settled.then(rebalance)
    return settled
  }
  const leave = (member: Member): Promise<void> => {
    const index = members.indexOf(member)
    if (index >= 0) members.splice(index, 1)
    return settle()
  }

  return {
    committed: (topic, partition) => committed.get(placeOf(topic, partition)) ?? null,
    rewind: ({ spec, partitions }) => {
      for (const partition of partitions.keys()) committed.delete(placeOf(spec.name, partition))
    },
    join: async (options, handler) => {
      for (const topic of options.topics) topicOf(topic)
      const { promise: done, resolve, reject } = Promise.withResolvers<void>()
      // A test that awaits `done` gets the error; in other tests it must not be an unhandled rejection.
      done.catch(() => undefined)
      let reason = 'not subscribed any more'
      const fail = (error: unknown): void => {
        reason = String(error)
        reject(error)
        void leave(member)
      }
      const member: Member = { options, handler, fail }
      members.push(member)
      await settle()
      return {
        done,
        health: (): Health =>
          members.includes(member)
            ? { name: `group ${name}`, ready: true }
            : { name: `group ${name}`, ready: false, reason },
        close: async () => {
          await leave(member)
          resolve()
        },
      }
    },
  }
}

const placeOf = (topic: string, partition: number): string => `${topic}/${partition}`

interface Owner {
  readonly member: Member
  readonly topic: string
  readonly partition: number
  readonly source: MemoryPartition
}

/** Distributes each topic's partitions round-robin among its subscribers. */
function assign(members: readonly Member[], topicOf: (topic: string) => MemoryTopic): Map<string, Owner> {
  const owners = new Map<string, Owner>()
  for (const topic of new Set(members.flatMap(({ options }) => options.topics))) {
    const takers = members.filter(({ options }) => options.topics.includes(topic))
    for (const [partition, source] of topicOf(topic).partitions.entries()) {
      const member = takers[partition % takers.length]
      if (member !== undefined) owners.set(placeOf(topic, partition), { member, topic, partition, source })
    }
  }
  return owners
}

async function read({
  member,
  topic,
  partition,
  source,
  place,
  committed,
  signal,
}: Owner & { place: string; committed: Map<string, number>; signal: AbortSignal }): Promise<void> {
  let position = committed.get(place) ?? source.removedBefore
  while (!signal.aborted) {
    if (position < source.removedBefore) throw new PositionLostError(topic, partition, position, source.removedBefore)
    const records = source.records.filter(({ offset }) => offset >= position).slice(0, member.options.recordsMax)
    const last: JournalRecord | undefined = records.at(-1)
    if (last === undefined) {
      await nextAppend(source, signal)
      continue
    }
    position = last.offset + 1
    await member.handler({
      topic,
      partition,
      records,
      endPosition: source.endPosition,
      signal,
      commit: async (next) => {
        if (!signal.aborted) committed.set(place, next)
      },
    })
  }
}

/** Resolves after the next append to the partition, or when the signal aborts. */
function nextAppend(source: MemoryPartition, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      source.listeners.delete(go)
      signal.removeEventListener('abort', go)
      setImmediate(resolve)
    }
    source.listeners.add(go)
    signal.addEventListener('abort', go)
  })
}
