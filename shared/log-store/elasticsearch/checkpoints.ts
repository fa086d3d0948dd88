import type { EntryKind } from '../../contract/records.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { askVisible } from './hidden-indices.ts'
import type { IndexNames } from './index-names.ts'
import { LENIENT, PRESENT } from './searcher.ts'

/** A shard of a day's index. Its operations are numbered without gaps in the order in which it took them. */
export interface Shard {
  /** Identifies the shard of this very index: an index recreated under the same name has another key. */
  readonly key: string
  readonly kind: EntryKind
  readonly index: string
  readonly shard: number
  /** The shard that its index was rebuilt from; undefined if it was not. */
  readonly origin?: Origin | undefined
}

/** A shard that reports its progress. */
export interface Stream extends Shard {
  /** The number up to which every operation is done on all copies of the shard; -1 if there is none. */
  readonly end: number
  /** The number of the last operation that it has taken, on all copies or not. */
  readonly last: number
}

/** A shard with what is left to read of it: its operations above the number `after`, up to its end. */
export interface Unread {
  readonly stream: Stream
  readonly after: number
}

/** A shard of an index that a rebuild replaced. Its documents were copied in their order, before any others were written. */
export interface Origin {
  readonly key: string
  /** The number of its last operation. */
  readonly end: number
  /** The number of the last copy. */
  readonly copiedEnd: number
}

/** The origins of an index's shards, in order, as `_meta` of its mapping. */
export interface RebuiltMeta {
  readonly origins: readonly Origin[]
}

/** An existing shard that does not report its progress. */
interface SilentShard extends Shard {
  /** Whether its index was closed; if not, the shard will be back, as after a restart of its node. */
  readonly closed: boolean
}

/** All shards of the days that are kept. */
export interface Look {
  readonly streams: readonly Stream[]
  readonly silent: readonly SilentShard[]
}

export interface Checkpoints {
  /** The progress of every shard, read after the call; a later search sees all of it. */
  now(): Promise<Look>
  /** The same, but possibly read shortly before the call. */
  recent(): Promise<Look>
}

/** Readers that follow arrivals share one check of the cluster for this long. */
const SHARED_MS = 500

/**
 * Reports how far arrivals are complete. The writers' clocks say little about when a document becomes visible: bulks overtake each other,
 * and a retried one comes late. A shard's checkpoint has no such gaps: everything at or below it is done. `connection` does not retry, as
 * the caller does.
 */
export function createCheckpoints(connection: Connection, names: IndexNames): Checkpoints {
  let shared: { readonly at: number; readonly look: Promise<Look> } | undefined
  /** Settles when no check is in progress. */
  let idle: Promise<void> = Promise.resolve()
  let next: Promise<Look> | undefined
  /** Checkpoints that a refresh has made visible. */
  let refreshed: ReadonlyMap<string, number> = new Map()
  const withOrigins = createOrigins(connection, names)

  async function refresh(): Promise<Look> {
    // An index that is created in between is read as a stream, and not waited for.
    const shards = await withOrigins(await readShards(connection, names, PRESENT))
    const streams = await withOrigins(await readStreams(connection, names.all(), names))
    const moved = streams.filter(({ key, end }) => end > (refreshed.get(key) ?? -1))
    if (moved.length > 0) {
      // A search sees operations before the last refresh. One is due every second anyway; an explicit one makes it certain.
      const indices = listed([...new Set(moved.map(({ index }) => index))], names)
      await refreshAll(connection, indices, LENIENT)
    }
    refreshed = new Map(streams.map(({ key, end }) => [key, end]))
    return { streams, silent: shards.filter(({ key }) => !refreshed.has(key)) }
  }

  function begin(): Promise<Look> {
    next = undefined
    const look = refresh()
    const end = (): void => undefined
    idle = look.then(end, end)
    return look
  }

  /** One check at a time: all callers during a check share the one after it. */
  function now(): Promise<Look> {
    next ??= idle.then(begin)
    return next
  }

  return {
    now,
    async recent() {
      if (shared === undefined || performance.now() - shared.at > SHARED_MS) {
        shared = { at: performance.now(), look: now() }
        shared.look.catch(() => {
          shared = undefined
        })
      }
      return shared.look
    },
  }
}

interface SettingsAnswer {
  readonly [index: string]: { readonly settings: { readonly index: IndexSettings } }
}
interface IndexSettings {
  readonly uuid: string
  readonly number_of_shards: string
  /** "true" on a closed index. */
  readonly verified_before_close?: string
}

/** The shards that exist according to the cluster, whether a node holds them at the moment or not. */
export async function readShards(
  connection: Connection,
  names: IndexNames,
  query = {},
): Promise<readonly SilentShard[]> {
  const { answer, hidden } = await askVisible<SettingsAnswer>(connection, names.all(), (indices) => ({
    method: 'GET',
    path: `/${indices}/_settings/${SETTINGS}`,
    query: { expand_wildcards: 'open,closed', ...query },
  }))
  const all = hidden.length === 0 ? answer : { ...answer, ...(await readHidden(connection, hidden)) }
  return Object.entries(all).flatMap(([index, { settings }]) => {
    const kind = names.kindOf(index)
    if (kind === undefined) return []
    const { uuid, number_of_shards: count, verified_before_close: closed } = settings.index
    return Array.from({ length: Number(count) }, (_, shard) => {
      return { key: keyOf(uuid, shard), kind, index, shard, closed: closed === 'true' }
    })
  })
}

const SETTINGS = 'index.uuid,index.number_of_shards,index.verified_before_close'

/** The state of the cluster has the settings of hidden indices as well. */
async function readHidden(connection: Connection, indices: readonly string[]): Promise<SettingsAnswer> {
  const fields = SETTINGS.split(',').map((field) => `metadata.indices.*.settings.${field}`)
  const { metadata } = await connection.send<{ readonly metadata?: { readonly indices: SettingsAnswer } }>({
    method: 'GET',
    path: `/_cluster/state/metadata/${indices.join(',')}`,
    query: { expand_wildcards: 'open,closed', filter_path: fields.join(',') },
  })
  return metadata?.indices ?? {}
}

interface StatsAnswer {
  readonly indices?: Record<string, { readonly uuid: string; readonly shards?: Record<string, readonly ShardCopy[]> }>
}
interface ShardCopy {
  readonly routing: { readonly primary: boolean; readonly state: string }
  readonly seq_no?: { readonly global_checkpoint: number; readonly max_seq_no: number }
}

/** The shards of the indices whose primary is active. One in recovery may report an old checkpoint, or none. */
export async function readStreams(
  connection: Connection,
  indices: string,
  names: Pick<IndexNames, 'kindOf'>,
): Promise<readonly Stream[]> {
  const { answer } = await askVisible<StatsAnswer>(connection, indices, (visible) => ({
    method: 'GET',
    path: `/${visible}/_stats/docs`,
    query: { level: 'shards', forbid_closed_indices: false, filter_path: WANTED },
  }))
  return Object.entries(answer.indices ?? {}).flatMap(([index, { uuid, shards = {} }]) => {
    const kind = names.kindOf(index)
    if (kind === undefined) return []
    return Object.entries(shards).flatMap(([number, copies]) => {
      const primary = copies.find(({ routing }) => routing.primary && routing.state !== 'INITIALIZING')
      if (primary?.seq_no === undefined) return []
      const { global_checkpoint: end, max_seq_no: last } = primary.seq_no
      if (end < NOTHING_DONE) return []
      const shard = Number(number)
      return [{ key: keyOf(uuid, shard), kind, index, shard, end, last }]
    })
  })
}

const WANTED = ['uuid', ...['routing.primary', 'routing.state', 'seq_no.*'].map((field) => `shards.*.${field}`)]
  .map((field) => `indices.*.${field}`)
  .join(',')

/**
 * Makes what was written to the indices searchable. Rejects if it is not on every copy that is there: a replica that did not hear of the
 * refresh goes on to answer searches, and what it lacks would count as read.
 */
export async function refreshAll(connection: Connection, indices: string, query = {}): Promise<void> {
  const { _shards: shards } = await connection.send<{ readonly _shards: { readonly failed: number } }>({
    method: 'POST',
    path: `/${indices}/_refresh`,
    query: { ...query, filter_path: '_shards.failed' },
  })
  if (shards.failed > 0) throw new ElasticsearchError(`copies that were not refreshed: ${shards.failed}`, 503, {})
}

/** Elasticsearch limits the line of a request to 4 KiB, which is well above this number of the longest names. */
const LISTED_MAX = 20

/** The indices as a part of a path; all days if there are too many of them. */
const listed = (indices: readonly string[], names: IndexNames): string =>
  indices.length > LISTED_MAX ? names.all() : indices.join(',')

/** Adds the origins of rebuilt indices. They never change, so each is read once. */
function createOrigins(connection: Connection, names: IndexNames) {
  let known: ReadonlyMap<string, RebuiltMeta> = new Map()
  return async <S extends Shard>(shards: readonly S[]): Promise<readonly S[]> => {
    const rebuilt = [...new Set(shards.map(({ index }) => index).filter((index) => names.isRebuilt(index)))]
    const unknown = rebuilt.filter((index) => !known.has(index))
    if (unknown.length > 0) {
      const answer = await connection.send<MappingAnswer>({
        method: 'GET',
        path: `/${listed(unknown, names)}/_mapping`,
        query: { ...LENIENT, expand_wildcards: 'open,closed', filter_path: '*.mappings._meta.origins' },
      })
      const read = Object.entries(answer).map(([index, { mappings }]) => [index, mappings._meta] as const)
      known = new Map([...[...known].filter(([index]) => rebuilt.includes(index)), ...read])
    }
    return shards.map((shard) => ({ ...shard, origin: known.get(shard.index)?.origins[shard.shard] }))
  }
}

interface MappingAnswer {
  readonly [index: string]: { readonly mappings: { readonly _meta: RebuiltMeta } }
}

/** The checkpoint of an empty shard; -2 means unknown. */
const NOTHING_DONE = -1

/** Indices have random ids of 22 characters; six of them, 36 bits, distinguish those of an installation and keep cursors short. */
const UUID_PART = 6
const keyOf = (uuid: string, shard: number): string => `${uuid.slice(0, UUID_PART)}${shard}`

/** Whether the key is that of a shard of the index with this id. */
export const isShardOf = (uuid: string, key: string): boolean => key.startsWith(uuid.slice(0, UUID_PART))
