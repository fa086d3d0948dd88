import type { EntryKind } from '../../contract/records.ts'
import type { Connection } from './connection.ts'
import type { IndexNames } from './index-names.ts'
import { LENIENT } from './searcher.ts'

/** A shard of a day's index. Its operations are numbered without gaps in the order in which it took them. */
export interface Stream {
  /** Names the shard of this very index: an index made anew under the same name has another. */
  readonly key: string
  readonly kind: EntryKind
  readonly index: string
  readonly shard: number
  /** The last number up to which every operation is done on every copy of the shard; -1 where there is none. */
  readonly end: number
}

export interface Checkpoints {
  /** How far every shard has come, read after the call; a search that follows sees all of it. */
  now(): Promise<readonly Stream[]>
  /** The same, as it was up to a moment ago. */
  recent(): Promise<readonly Stream[]>
}

/** Readers that follow the arrivals share one look at the cluster for so long. */
const SHARED_MS = 500

/**
 * Tells how far arrivals are complete. The clocks of writers say little about when a document can be seen: bulks overtake each
 * other, and a retried one comes late. The checkpoint of a shard has no such gaps: what stands at or below it is done.
 */
export function createCheckpoints(connection: Connection, names: IndexNames): Checkpoints {
  let shared: { readonly at: number; readonly streams: Promise<readonly Stream[]> } | undefined
  /** Settles when no look is under way. */
  let idle: Promise<void> = Promise.resolve()
  let next: Promise<readonly Stream[]> | undefined
  /** Ends that a refresh has made visible. */
  let refreshed: ReadonlyMap<string, number> = new Map()

  async function refresh(): Promise<readonly Stream[]> {
    const streams = await readStreams(connection, names)
    const moved = streams.filter(({ key, end }) => end > (refreshed.get(key) ?? -1))
    if (moved.length > 0) {
      // A search sees what was done before the last refresh. One is due every second anyway; asking makes it certain.
      const indices = [...new Set(moved.map(({ index }) => index))].join(',')
      await connection.send({ method: 'POST', path: `/${indices}/_refresh`, query: LENIENT })
    }
    refreshed = new Map(streams.map(({ key, end }) => [key, end]))
    return streams
  }

  function begin(): Promise<readonly Stream[]> {
    next = undefined
    const streams = refresh()
    const end = (): void => undefined
    idle = streams.then(end, end)
    return streams
  }

  /** One look at a time: those who ask while one is under way share the one after it, however many they are. */
  function now(): Promise<readonly Stream[]> {
    next ??= idle.then(begin)
    return next
  }

  return {
    now,
    async recent() {
      if (shared === undefined || performance.now() - shared.at > SHARED_MS) {
        shared = { at: performance.now(), streams: now() }
      }
      const { streams } = shared
      try {
        return await streams
      } catch (error) {
        shared = undefined
        throw error
      }
    },
  }
}

interface StatsAnswer {
  readonly indices?: Record<string, { readonly uuid: string; readonly shards?: Record<string, readonly ShardCopy[]> }>
}
interface ShardCopy {
  readonly routing: { readonly primary: boolean }
  readonly seq_no?: { readonly global_checkpoint: number }
}

async function readStreams(connection: Connection, names: IndexNames): Promise<readonly Stream[]> {
  const answer = await connection.send<StatsAnswer>({
    method: 'GET',
    path: `/${names.all()}/_stats/docs`,
    query: {
      level: 'shards',
      forbid_closed_indices: false,
      filter_path: 'indices.*.uuid,indices.*.shards.*.routing.primary,indices.*.shards.*.seq_no.global_checkpoint',
    },
  })
  return Object.entries(answer.indices ?? {}).flatMap(([index, { uuid, shards = {} }]) => {
    const kind = names.kindOf(index)
    if (kind === undefined) return []
    return Object.entries(shards).map(([shard, copies]) => {
      const primary = copies.find(({ routing }) => routing.primary)
      const end = primary?.seq_no?.global_checkpoint ?? -1
      return { key: `${uuid.slice(0, UUID_PART)}${shard}`, kind, index, shard: Number(shard), end }
    })
  })
}

/** Indices have random ids of 22 characters; six of them, 36 bits, tell those of an installation apart and keep cursors short. */
const UUID_PART = 6
