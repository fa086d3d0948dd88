import { SHARD_WAIT } from './bulk.ts'
import type { Origin, RebuiltMeta, Stream, Unread } from './checkpoints.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { countOf, RebuildError, shardsOf } from './index-copy.ts'
import type { IndexNames } from './index-names.ts'
import { deleteIndex, type FoundIndex, indexBehind } from './indices.ts'
import { findLostAliases, lostAliasText } from './lost-aliases.ts'

export interface ReplaceOptions {
  /** Removes what a rebuild that was killed left behind; otherwise such a rest ends the call. Never set it while another rebuild runs. */
  readonly takeOver: boolean
  /** Called for each index that was replaced. */
  readonly onReplaced: (replaced: Replaced) => void
  readonly signal: AbortSignal
}

interface Replaced {
  /** The name by which the index is written and searched. */
  readonly name: string
  readonly index: string
  readonly documents: number
  /** How long writes to the index waited, in milliseconds. */
  readonly pausedMs: number
}

/** How documents come from one index into another. */
interface Copying {
  /**
   * Whether the copy has the shards and exactly the documents of the index, each shard the copy of one, so that a tail can go on in it;
   * otherwise it has the shards of its template, and at least as many documents.
   */
  readonly keepsShards: boolean
  /** Copies the parts into the index `made`, in their order; rejects with a `RebuildError` if it then lacks one of them. Rounds count from 1. */
  copy(parts: readonly Unread[], made: string, round: number): Promise<void>
}

/** Writes are blocked once no more documents than this are left to copy, so that they wait for a moment only. */
const LEFT_MAX = 2_000
const ROUNDS_MAX = 20

/**
 * Replaces the index behind a name by a copy that is made in another way, beside running consumers and views; does nothing if there is none.
 *
 * 1. All documents are copied, and their ids are looked up in the copy; then those that were written meanwhile, until few are left.
 * 2. Once the copy has its replicas, writes to the index are blocked; consumers wait and try again. The last documents are copied.
 * 3. If the number of documents is right, one request removes the index and gives its name to the copy as an alias.
 *
 * A failure before that request unblocks the index and removes the copy. A process that is killed leaves both; `takeOver` clears them.
 */
export async function replaceIndex(
  connection: Connection,
  names: IndexNames,
  name: string,
  { keepsShards, copy }: Copying,
  { takeOver, signal, onReplaced }: ReplaceOptions,
): Promise<void> {
  const old = await indexBehind(connection, name)
  if (old === undefined) return
  const made = names.nextGeneration(name, old.index)
  const rest = await indexBehind(connection, made)
  const orphan = (await findLostAliases(connection, names)).find(({ name: lost }) => lost === name)
  if (orphan !== undefined) throw new RebuildError(lostAliasText(orphan))
  const replacement = await begin(connection, made, old, rest, { keepsShards, takeOver })
  const copied = new Map<number, number>()
  const unread = async (): Promise<readonly Unread[]> =>
    (await shardsOf(connection, old, names)).map((stream) => ({ stream, after: copied.get(stream.shard) ?? -1 }))
  const copyRound = async (parts: readonly Unread[], round: number): Promise<void> => {
    await copy(parts, made, round)
    for (const { stream } of parts) copied.set(stream.shard, stream.end)
  }
  try {
    let parts = await unread()
    for (let round = 1; round === 1 || numberIn(parts) > LEFT_MAX; round++) {
      if (round > ROUNDS_MAX) throw new RebuildError(`${old.index} is written faster than it can be copied`)
      await copyRound(parts, round)
      parts = await unread()
    }
    await waitForReplicas(connection, made, old.index, signal)
    const blockedAt = performance.now()
    await blockWrites(connection, old.index)
    const last = await unread()
    await copyRound(last, ROUNDS_MAX + 1)
    const copies = await shardsOf(connection, replacement, names)
    const [before, documents] = [await countOf(connection, old.index), await countOf(connection, made)]
    if (keepsShards ? documents !== before : documents < before) {
      throw new RebuildError(`${made} has ${documents} documents, ${old.index} has ${before}`)
    }
    if (keepsShards) await storeOrigins(connection, made, last, copies)
    signal.throwIfAborted()
    const actions = [{ remove_index: { index: old.index } }, { add: { index: made, alias: name } }]
    await connection.send({ method: 'POST', path: '/_aliases', body: { actions } }).catch(async (error: unknown) => {
      // If only the answer was lost, the repeated request found no index to remove.
      if ((await indexBehind(connection, name))?.index !== made) throw error
    })
    onReplaced({ name, index: made, documents, pausedMs: performance.now() - blockedAt })
  } catch (error) {
    await rollBack(connection, name, old.index, made).catch((failure: Error) => {
      throw new RebuildError(
        `${(error as Error).message}; and ${made} could not be removed (${failure.message}): run it again with --take-over`,
        { cause: error },
      )
    })
    throw error
  }
}

async function begin(
  connection: Connection,
  made: string,
  old: FoundIndex,
  rest: FoundIndex | undefined,
  { keepsShards, takeOver }: { readonly keepsShards: boolean; readonly takeOver: boolean },
): Promise<FoundIndex> {
  if (rest !== undefined && (!takeOver || rest.aliases.length > 0)) {
    throw new RebuildError(
      `${made} is left from a rebuild that has not ended; if none is running any more, --take-over removes it`,
    )
  }
  if (rest !== undefined) await deleteIndex(connection, made)
  if (takeOver) await unblockWrites(connection, old.index)
  const body = { settings: keepsShards ? { 'index.number_of_shards': old.shards } : {} }
  const path = `/${made}`
  const query = { timeout: SHARD_WAIT }
  const answer = await connection.send<{ readonly shards_acknowledged: boolean }>({ method: 'PUT', path, query, body })
  if (!answer.shards_acknowledged) {
    await deleteIndex(connection, made)
    throw new RebuildError(
      `no node takes the shards of ${made}: make room (GET /_cat/allocation?v tells how full the disks are), and run it again`,
    )
  }
  const replacement = await indexBehind(connection, made)
  if (replacement === undefined) throw new RebuildError(`${made} was removed by someone else`)
  return replacement
}

/** Rejects if a shard does not confirm that the writes under way have ended: Elasticsearch tells that with a status of 200. */
async function blockWrites(connection: Connection, index: string): Promise<void> {
  const path = `/${index}/_block/write`
  const answer = await connection.send<{ readonly shards_acknowledged: boolean }>({ method: 'PUT', path })
  if (!answer.shards_acknowledged) throw new RebuildError(`${index} is not blocked on all of its shards`)
}

async function unblockWrites(connection: Connection, index: string): Promise<void> {
  await connection.send({ method: 'PUT', path: `/${index}/_settings`, body: { 'index.blocks.write': null } })
}

/** The time that a large shard takes to be copied to another node. */
const REPLICAS_WAIT_MS = 1_800_000

/** Waits until the copy is as safe as the index: without replicas, a lost node would be a lost day. */
async function waitForReplicas(connection: Connection, made: string, old: string, signal: AbortSignal): Promise<void> {
  const { status: wanted } = await connection.send<Status>({ method: 'GET', path: `/_cluster/health/${old}` })
  const until = performance.now() + REPLICAS_WAIT_MS
  while (performance.now() < until) {
    const query = { wait_for_status: wanted, timeout: '1s' }
    const path = `/_cluster/health/${made}`
    const reached = await connection.send<Status>({ method: 'GET', path, query, signal }).catch((error: unknown) => {
      // The time was over: Elasticsearch answers 408.
      if (error instanceof ElasticsearchError && error.status === 408) return undefined
      throw error
    })
    if (reached !== undefined) return
  }
  throw new RebuildError(`the replicas of ${made} are not there after ${REPLICAS_WAIT_MS / 60_000} minutes`)
}

interface Status {
  readonly status: string
}

/** Makes all as it was, unless the index has been replaced: the answer to that request may have been lost. */
async function rollBack(connection: Connection, name: string, old: string, made: string): Promise<void> {
  const now = await indexBehind(connection, name)
  if (now?.index === made) return
  if (now !== undefined) await unblockWrites(connection, old)
  await deleteIndex(connection, made)
}

/** Stores which copies a tail has seen as originals. */
async function storeOrigins(
  connection: Connection,
  made: string,
  last: readonly Unread[],
  copies: readonly Stream[],
): Promise<void> {
  const origins = last.map(({ stream: { shard, key, end } }): Origin => {
    return { key, end, copiedEnd: copies.find((copy) => copy.shard === shard)?.end ?? -1 }
  })
  const meta: RebuiltMeta = { origins }
  await connection.send({ method: 'PUT', path: `/${made}/_mapping`, body: { _meta: meta } })
}

const numberIn = (parts: readonly Unread[]): number =>
  parts.reduce((sum, { stream, after }) => sum + stream.end - after, 0)
