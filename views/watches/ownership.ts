import type { Journal, Subscription } from '../../shared/journal/journal.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Health, Service } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { byDeadline, pause } from '../../shared/runtime/waiting.ts'

/** Whether this process is the one that evaluates watches. */
export interface Ownership extends Service {
  owns(): boolean
  health(): Health
}

interface OwnershipDeps {
  readonly journal: Pick<Journal, 'subscribe'>
  /** Has one partition: the process that is assigned it is the owner. */
  readonly topic: string
  readonly group: string
  readonly clock: Clock
  readonly logger: Logger
}

const NAME = 'watches'
/** Time to wait before subscribing again. */
const RETRY_MS = 10_000
const RECORDS_MAX = 1_000

/**
 * Elects one of several processes by assigning a topic's only partition within a consumer group. For a moment two may consider themselves
 * owners, such as one that was frozen until it learns otherwise: their work has to tolerate that.
 */
export function createOwnership(deps: OwnershipDeps): Ownership {
  const { journal, topic, group, clock, logger } = deps
  const stopping = new AbortController()
  let owns = false
  let reason: string | undefined = 'joining the group'
  let subscription: Subscription | undefined
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        subscription = await journal.subscribe(
          {
            group,
            topics: [topic],
            recordsMax: RECORDS_MAX,
            onAssigned: (partitions) => {
              owns = partitions > 0
              logger.info(
                { group, owns },
                owns ? 'this process evaluates the watches' : 'watches are not evaluated here',
              )
            },
          },
          // The records are read elsewhere; the group only has to be at their end.
          ({ endPosition, commit }) => commit(endPosition),
        )
        reason = undefined
        // The stop found no subscription to close yet.
        if (stopping.signal.aborted) await subscription.close()
        else await subscription.done
      } catch (err) {
        reason = err instanceof Error ? err.message : String(err)
        logger.warn({ err, group }, 'the group of the watches cannot be joined; trying again')
      }
      owns = false
      await pause(RETRY_MS, stopping.signal)
    }
  }

  return {
    name: NAME,
    owns: () => owns,
    health: () => {
      if (reason !== undefined) return { name: NAME, ready: false, reason }
      return { ...(subscription?.health() ?? { ready: true }), name: NAME }
    },
    start: async () => {
      running = run()
    },
    stop: async (deadline) => {
      stopping.abort()
      owns = false
      const leave = async (): Promise<void> => {
        await subscription?.close()
        await running
      }
      await byDeadline(leave(), deadline, clock)
    },
  }
}
