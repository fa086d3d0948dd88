import { readStreams, refreshAll, type Stream, type Unread } from './checkpoints.ts'
import { type Connection, foundOf } from './connection.ts'
import type { IndexNames } from './index-names.ts'
import type { FoundIndex } from './indices.ts'
import { ANSWER_BYTES_MAX, askForFewer, retried } from './retrying.ts'
import type { Hit } from './searcher.ts'

const DOCUMENTS_PER_READ = 1_000

/** An index could not be read completely, or not be replaced by its copy; it answers as before. */
export class RebuildError extends Error {
  override readonly name = 'RebuildError'
}

/** The index's shards, whose operations up to their ends are all searchable; rejects if a shard is missing. */
export async function shardsOf(
  connection: Connection,
  { index, shards }: FoundIndex,
  names: IndexNames,
): Promise<readonly Stream[]> {
  const streams = await readStreams(connection, index, { kindOf: (name) => names.kindOf(name) ?? 'event' })
  if (streams.length < shards) throw new RebuildError(`${index} lacks a shard: not all of its documents can be read`)
  await retried(() => refreshAll(connection, index))
  return streams
}

interface Wanted {
  /** The fields of the hits' `_source`; true for all. */
  readonly fields: readonly string[] | boolean
  readonly filter?: object
  readonly signal: AbortSignal
}

/** A document with its version. */
export interface VersionedHit<Source> extends Hit<Source> {
  readonly _seq_no: number
  readonly _primary_term: number
}

/** The documents that are left to read of a shard, in the order of their numbers; a page at a time. */
export async function* pagesOf<Source>(
  connection: Connection,
  { stream: { index, shard, end }, after }: Unread,
  { fields, filter = { match_all: {} }, signal }: Wanted,
): AsyncGenerator<readonly VersionedHit<Source>[]> {
  for (let from = after; from < end; ) {
    const range = { range: { _seq_no: { gt: from, lte: end } } }
    const { hits } = await askForFewer(DOCUMENTS_PER_READ, (size) =>
      connection.send<{ hits: { hits: readonly VersionedHit<Source>[] } }>({
        method: 'POST',
        path: `/${index}/_search`,
        query: { preference: `_shards:${shard}`, allow_partial_search_results: false },
        body: {
          query: { bool: { filter: [range, filter] } },
          sort: [{ _seq_no: 'asc' }],
          size,
          _source: fields,
          seq_no_primary_term: true,
          track_total_hits: false,
        },
        signal,
        ...(size > 1 && { answerBytesMax: ANSWER_BYTES_MAX }),
      }),
    )
    const last = hits.hits.at(-1)
    if (last === undefined) return
    yield hits.hits
    from = Number(last.sort?.[0])
  }
}

/** The ids that the index does not hold. */
export async function missingIds(
  connection: Connection,
  index: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lookups = ids.map((_id) => ({ _index: index, _id }))
  const found = await retried(() => foundOf(connection, lookups, signal), signal)
  const held = new Set(found.map(({ _id }) => _id))
  return ids.filter((id) => !held.has(id))
}

/** Rejects unless the index holds all the documents. */
export async function requireDocuments(
  connection: Connection,
  index: string,
  hits: readonly Hit<unknown>[],
  signal: AbortSignal,
): Promise<void> {
  const ids = hits.map(({ _id }) => _id)
  const missing = await missingIds(connection, index, ids, signal)
  if (missing.length > 0) throw new RebuildError(`${index} lacks ${missing.length} documents, such as ${missing[0]}`)
}

/** The number of the index's documents; rejects if a shard is missing. */
export async function countOf(connection: Connection, index: string): Promise<number> {
  const { hits } = await connection.send<{ hits: { total: { value: number } } }>({
    method: 'GET',
    path: `/${index}/_search`,
    query: { size: 0, track_total_hits: true, allow_partial_search_results: false },
  })
  return hits.total.value
}
