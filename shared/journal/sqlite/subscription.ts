import type { Health } from '../../runtime/lifecycle.ts'
import { type PartitionBatch, PositionLostError, type SubscribeOptions, type Subscription } from '../journal.ts'
import type { Changes } from './changes.ts'
import type { GroupPartition, Groups, Member } from './groups.ts'
import { readPage } from './reading.ts'
import type { StoreCalls } from './store.ts'

export interface SubscriptionDeps {
  readonly store: StoreCalls
  /** The store's `commit`, watched for failures. */
  readonly commit: (group: string, partitionId: number, position: number) => Promise<void>
  readonly changes: Changes
  readonly groups: Groups
}

type Handler = (batch: PartitionBatch) => Promise<void>

interface Work {
  readonly controller: AbortController
  readonly stopped: Promise<void>
}

/** See `Journal.subscribe`. */
export async function subscribe(
  deps: SubscriptionDeps,
  options: SubscribeOptions,
  handler: Handler,
): Promise<Subscription> {
  const { store, changes, groups } = deps
  const partitions = await joinTopics(store, options)
  const working = new Map<number, Work>()
  const { onAssigned = () => undefined } = options
  const done = Promise.withResolvers<void>()
  let failure: unknown
  let ended: Promise<void> | undefined

  const end = (): Promise<void> => {
    ended ??= groups.leave(options.group, member).then(() => {
      if (failure === undefined) done.resolve()
      else done.reject(failure)
    })
    return ended
  }

  const fail = (error: unknown): void => {
    failure ??= error
    void end()
  }

  const member: Member = {
    partitions,
    take: (partition) => {
      const controller = new AbortController()
      const stopped = workOn(deps, options, handler, partition, controller.signal).catch(fail)
      working.set(partition.id, { controller, stopped })
      onAssigned(working.size, 'assigned')
    },
    release: async ({ id, topic }) => {
      const work = working.get(id)
      work?.controller.abort()
      changes.notify(topic)
      await work?.stopped
      if (working.delete(id)) onAssigned(working.size, ended === undefined ? 'group' : 'closed')
    },
  }
  groups.join(options.group, member)

  return {
    done: done.promise,
    health: () => healthOf(options.group, ended !== undefined, failure),
    close: end,
  }
}

async function joinTopics(store: StoreCalls, { group, topics }: SubscribeOptions): Promise<readonly GroupPartition[]> {
  const partitions: GroupPartition[] = []
  for (const topic of topics) {
    await store.call('join', [group, topic])
    for (const { id, partition } of await store.call('partitions', [topic])) partitions.push({ id, partition, topic })
  }
  return partitions
}

function healthOf(group: string, ended: boolean, failure: unknown): Health {
  const name = `journal group ${group}`
  if (!ended) return { name, ready: true }
  return { name, ready: false, reason: failure instanceof Error ? failure.message : 'the subscription is closed' }
}

/** Hands the partition's records to the handler until the signal aborts; throws errors that end the subscription. */
async function workOn(
  { store, changes, ...deps }: SubscriptionDeps,
  { group, recordsMax }: SubscribeOptions,
  handler: Handler,
  partition: GroupPartition,
  signal: AbortSignal,
): Promise<void> {
  const { topic, id } = partition
  const commit = async (position: number): Promise<void> => {
    if (!signal.aborted) await deps.commit(group, id, position)
  }
  let position = await store.call('startPosition', [group, id])
  while (!signal.aborted) {
    const seen = changes.version(topic)
    const { records, next, firstOffset, endPosition } = await readPage(store, topic, partition, position, recordsMax)
    if (signal.aborted) return
    if (position < firstOffset) throw new PositionLostError(topic, partition.partition, position, firstOffset)
    if (records.length > 0) {
      await handler({ topic, partition: partition.partition, records, endPosition, signal, commit }).catch((error) => {
        // An error after the request to stop is not a failure; the next owner reads the records again.
        if (!signal.aborted) throw error
      })
    }
    position = next
    if (position >= endPosition && !signal.aborted) await changes.after(topic, seen)
  }
}
