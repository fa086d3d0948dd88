import { mayPass } from './failures.ts'
import type { RetentionRequest } from './retention.ts'
import type { StoreCalls } from './store.ts'

export interface MaintenanceOptions {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Maximum bytes of a topic that is cleaned by deletion, shared evenly by its partitions. */
  readonly retentionBytesMax: number
  /** Lower limits for some topics, by name. */
  readonly topicBytesMax?: Readonly<Record<string, number>>
  /** Ends the work after its present step; the next run goes on. */
  readonly signal?: AbortSignal
}

export interface MaintenanceReport {
  /** Records removed by age or by bytes. */
  readonly expired: number
  /** Records removed because a later one has the same key, or deleted it. */
  readonly compacted: number
  /** Groups that prevent records from being removed because they have not read them. */
  readonly held: readonly { readonly topic: string; readonly partition: number; readonly groups: readonly string[] }[]
}

/**
 * Cleans up every topic in steps, so that appends can run in between; ends early once `stopped` returns true. Partitions that cannot be
 * cleaned up, as with a damaged page, keep no other from it; rejects with the first failure then.
 */
export async function maintain(
  store: StoreCalls,
  { now, retentionBytesMax, topicBytesMax = {} }: MaintenanceOptions,
  stopped: () => boolean,
): Promise<MaintenanceReport> {
  const held: MaintenanceReport['held'][number][] = []
  const failures: unknown[] = []
  let expired = 0
  let compacted = 0
  for (const { topic, cleanup } of await store.call('topics', [])) {
    const partitions = await store.call('partitions', [topic])
    const bytesMax = Math.min(retentionBytesMax, topicBytesMax[topic] ?? retentionBytesMax) / partitions.length
    for (const state of partitions) {
      if (stopped()) return { expired, compacted, held }
      try {
        if (cleanup === 'compact') {
          compacted += await store.call('compact', [state, now])
          continue
        }
        const request = { topic, partition: state.partition, now, bytesMax }
        const { removed, heldBy } = await retainAll(store, request, stopped)
        expired += removed
        if (heldBy.length > 0) held.push({ topic, partition: state.partition, groups: heldBy })
      } catch (error) {
        // A full disk or a locked file concerns all of them.
        if (mayPass(error)) throw error
        failures.push(error)
      }
    }
  }
  if (failures.length > 0) throw failures[0]
  return { expired, compacted, held }
}

async function retainAll(
  store: StoreCalls,
  request: RetentionRequest,
  stopped: () => boolean,
): Promise<{ removed: number; heldBy: readonly string[] }> {
  let removed = 0
  for (;;) {
    const step = await store.call('retain', [request])
    removed += step.removed
    if (!step.more || stopped()) return { removed, heldBy: step.heldBy }
  }
}
