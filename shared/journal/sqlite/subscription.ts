import type { Health } from '../../runtime/lifecycle.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createPatience } from '../../sqlite/database-file.ts'
import { type PartitionBatch, PositionLostError, type SubscribeOptions, type Subscription } from '../journal.ts'
import type { Changes } from './changes.ts'
import { isDamage, mayPass } from './failures.ts'
import type { GroupPartition, Groups, Member } from './groups.ts'
import { readPage, untilRead } from './reading.ts'
import type { StoreCalls } from './store.ts'

interface SubscriptionDeps {
  readonly store: StoreCalls
  /** The store's `commit`, watched for failures. */
  readonly commit: (group: string, partitionId: number, position: number) => Promise<void>
  readonly changes: Changes
  readonly groups: Groups
  readonly logger: Pick<Logger, 'error'> | undefined
}

type Handler = (batch: PartitionBatch) => Promise<void>

/** Repeats a read while its failure may pass: a full disk must not halt a projection for good. Resolves to undefined at a stop. */
type Patiently = <T>(read: () => Promise<T>) => Promise<T | undefined>

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
  const { store, changes, groups, logger } = deps
  const partitions = await joinTopics(store, options)
  const working = new Map<number, Work>()
  /** The failures of the partitions that cannot be read at the moment. */
  const unread = new Map<number, string>()
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

  const patiently =
    ({ id, topic }: GroupPartition, signal: AbortSignal): Patiently =>
    async (read) => {
      const mayTryAgain = createPatience(mayPass, isDamage)
      try {
        return await untilRead(read, signal, (error) => {
          if (!mayTryAgain(error)) throw error
          if (!unread.has(id)) logger?.error({ err: error, topic }, 'records cannot be read; retrying')
          unread.set(id, (error as Error).message)
        })
      } finally {
        unread.delete(id)
      }
    }

  const member: Member = {
    partitions,
    take: (partition) => {
      const controller = new AbortController()
      const { signal } = controller
      const stopped = workOn(deps, options, handler, partition, signal, patiently(partition, signal)).catch(fail)
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
    health: () => healthOf(options.group, ended !== undefined, failure, unread),
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

function healthOf(group: string, ended: boolean, failure: unknown, unread: ReadonlyMap<number, string>): Health {
  const name = `journal group ${group}`
  const [reason] = unread.values()
  if (!ended) return reason === undefined ? { name, ready: true } : { name, ready: false, reason }
  return { name, ready: false, reason: failure instanceof Error ? failure.message : 'the subscription is closed' }
}

/** Hands the partition's records to the handler until the signal aborts; throws errors that end the subscription. */
async function workOn(
  { store, changes, ...deps }: SubscriptionDeps,
  { group, recordsMax }: SubscribeOptions,
  handler: Handler,
  partition: GroupPartition,
  signal: AbortSignal,
  patiently: Patiently,
): Promise<void> {
  const { topic, id } = partition
  const commit = async (position: number): Promise<void> => {
    if (!signal.aborted) await deps.commit(group, id, position)
  }
  let position = (await patiently(() => store.call('startPosition', [group, id]))) ?? 0
  while (!signal.aborted) {
    const seen = changes.version(topic)
    const page = await patiently(() => readPage(store, topic, partition, position, recordsMax))
    if (page === undefined || signal.aborted) return
    const { records, next, firstOffset, endPosition } = page
    if (position < firstOffset) throw new PositionLostError(topic, partition.partition, position, firstOffset)
    if (records.length > 0) {
      await handler({ topic, partition: partition.partition, records, endPosition, signal, commit }).catch((error) => {
        // An error after the request to stop is not a failure; the next owner reads the records again.
        if (!signal.aborted) throw error
      })
    }
    position = next
    if (position >= endPosition) await changes.after(topic, seen)
  }
}
