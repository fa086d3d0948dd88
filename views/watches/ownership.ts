import type { Journal, Subscription } from '../../shared/journal/journal.ts'
import type { BaseServices } from '../../shared/role.ts'
import type { Health, Service } from '../../shared/runtime/lifecycle.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'
import { unlessAborted } from '../../shared/runtime/waiting.ts'

/** Whether this process is the one that evaluates watches. */
export interface Ownership extends Service {
  owns(): boolean
  /** A topic that takes no records is told of, and takes no process out of service: a server of all roles stores entries all the same. */
  health(): Promise<Health>
}

interface OwnershipDeps extends Pick<BaseServices, 'clock' | 'logger'> {
  readonly journal: Pick<Journal, 'subscribe' | 'refusalOf'>
  /** Has one partition: the process that is assigned it is the owner. */
  readonly topic: string
  readonly group: string
}

const NAME = 'watches'
/** Time to wait before subscribing again. */
const RETRY_MS = 10_000
const RECORDS_MAX = 1_000

/**
 * Elects one of several processes by assigning a topic's only partition within a consumer group. For a moment two may consider themselves
 * owners, such as one that was frozen until it learns otherwise: their work has to tolerate that.
 */
export function createOwnership({ journal, topic, group, clock, logger }: OwnershipDeps): Ownership {
  let owns = false
  let reason: string | undefined = 'joining the group'
  let subscription: Subscription | undefined

  const onAssigned = (partitions: number): void => {
    owns = partitions > 0
    logger.info({ group, owns }, owns ? 'this process evaluates the watches' : 'watches are not evaluated here')
  }

  async function takePart(signal: AbortSignal): Promise<void> {
    try {
      subscription = await journal.subscribe(
        { group, topics: [topic], recordsMax: RECORDS_MAX, onAssigned },
        // The records are read elsewhere; the group only has to be at their end.
        ({ endPosition, commit }) => commit(endPosition),
      )
      reason = undefined
      await unlessAborted(subscription.done, signal)
    } finally {
      owns = false
      // Also one that has ended by itself: the journal remembers it as open until it is closed.
      await subscription?.close()
    }
  }

  const { start, stop } = createRepeater({
    name: NAME,
    intervalMs: RETRY_MS,
    run: takePart,
    onError: (err) => {
      reason = err instanceof Error ? err.message : String(err)
      logger.warn({ err, group }, 'the group of the watches cannot be joined; trying again')
    },
    clock,
  })
  return {
    name: NAME,
    owns: () => owns,
    health: async () => {
      if (reason !== undefined) return { name: NAME, ready: false, reason }
      const found = { ...(subscription?.health() ?? { ready: true }), name: NAME }
      if (!found.ready) return found
      // A group simply has no partition of a topic that is gone, and reads one that may not be written.
      const refusal = (await journal.refusalOf?.(topic)) ?? null
      return { ...(refusal !== null && { reason: refusal }), ...found }
    },
    start,
    stop,
  }
}
