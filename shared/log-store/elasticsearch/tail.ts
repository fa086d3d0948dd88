import type { EntryKind } from '../../contract/records.ts'
import type { EntryRow } from '../../contract/rows.ts'
import { unlessAborted } from '../../runtime/waiting.ts'
import { type EntryFilter, type LogStoreReader, PAGE_BYTES_MAX, TailCursorError, type TailPage } from '../log-store.ts'
import type { Checkpoints, Look, Shard, Stream, Unread } from './checkpoints.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { KINDS } from './index-names.ts'
import type { ErrorBody } from './outcome.ts'
import { compileFilter } from './query-dsl.ts'
import { ANSWER_BYTES_MAX, askForFewer, retried } from './retrying.ts'
import { asReadError, type Hit, LENIENT, preferenceOf, ROW, rowOfText, type StampedSource, textOf } from './searcher.ts'

interface Deps {
  /** A connection that does not retry. */
  readonly connection: Connection
  readonly checkpoints: Checkpoints
}

/** Shards that are read at once (`byUrgency`): a reader that was away for long catches up day by day. */
const STREAMS_MAX = 8

/** The oldest day first, and of a day the shard with most to read: so none waits for ever for others that go on growing. */
function byUrgency(a: Unread, b: Unread): number {
  const [dayOfA, dayOfB] = [dayOf(a), dayOf(b)]
  if (dayOfA !== dayOfB) return dayOfA < dayOfB ? -1 : 1
  return b.stream.end - b.after - (a.stream.end - a.after)
}

/** The end of the index's name, whatever its kind and generation. */
const dayOf = ({ stream: { index } }: Unread): string => index.slice(-'yyyy.mm.dd'.length)

interface Arrival {
  readonly entry: EntryRow
  readonly bytes: number
  /** Its number in its shard. */
  readonly number: number
  readonly writtenAt: number
}

/**
 * Follows arrivals by the numbers that shards give to their operations, each shard up to its checkpoint. Exact whatever the clocks say and
 * however late a bulk was: nothing is skipped and nothing repeated, even after a break.
 */
export function createTail({ connection, checkpoints }: Deps): LogStoreReader['tail'] {
  return async function tail(filter, after, limit, signal) {
    const kinds = filter.kinds.length === 0 ? KINDS : filter.kinds
    const position = after === null ? NOWHERE : decodePosition(after)
    if (position === undefined) throw new TailCursorError('the cursor of the tail is none of ours')
    const joined = kinds.filter((kind) => !position.kinds.includes(kind))
    const look = await retried(() => lookFrom(checkpoints, position, joined, signal), signal)
    const follows = ({ kind }: Shard): boolean => kinds.includes(kind)
    const streams = look.streams.filter(follows)
    const seen = new Map(
      [
        ...look.silent.filter(follows).map((shard) => seenOfSilent(shard, position)),
        ...streams.map((stream) => [stream.key, startOf(stream, position)] as const),
      ].filter(([, number]) => number > NONE),
    )
    const unread = streams
      .map((stream) => ({ stream, after: seen.get(stream.key) ?? NONE }))
      .filter(({ stream, after: from }) => stream.end > from)
      .sort(byUrgency)
      .slice(0, STREAMS_MAX)
    if (unread.length === 0) return { entries: [], more: false, cursor: encodePosition({ kinds, seen }) }
    // Entries that were stored before rows existed may be too long together.
    return askForFewer(limit, async (most) => {
      // A shard may turn its search away alone, as while a rebuild takes its index away.
      const arrivals = await retried(() => readArrivals(connection, filter, unread, most, signal), signal)
      return merge(kinds, seen, unread, arrivals, most)
    })
  }
}

/** The position of a reader of arrivals: the last number that it has seen in each shard. */
interface TailPosition {
  /** The kinds that the reader follows. Of the other kind it has seen nothing, and missed nothing. */
  readonly kinds: readonly EntryKind[]
  readonly seen: ReadonlyMap<string, number>
}

const KIND_LETTERS = { event: 'e', application: 'a' } as const satisfies Record<EntryKind, string>
const SHAPE = /^([ea]{1,2})~((?:[\w-]{7,12}\.[0-9a-z]{1,11}(?:,|$))*)$/

/** A cursor's text, such as `ea~Xy12_-0.2s,…`: short enough for a header. */
export function encodePosition({ kinds, seen }: TailPosition): string {
  const letters = kinds.map((kind) => KIND_LETTERS[kind]).join('')
  return `${letters}~${[...seen].map(([key, number]) => `${key}.${number.toString(36)}`).join(',')}`
}

/** The position in a cursor's text; undefined if it is not a cursor of this store. */
export function decodePosition(text: string): TailPosition | undefined {
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const [, letters = '', parts = ''] = match
  const kinds = KINDS.filter((kind) => letters.includes(KIND_LETTERS[kind]))
  const seen = parts
    .split(',')
    .filter((part) => part !== '')
    .map((part): [string, number] => {
      const dot = part.indexOf('.')
      return [part.slice(0, dot), Number.parseInt(part.slice(dot + 1), 36)]
    })
  return { kinds, seen: new Map(seen) }
}

/** The position of a reader that has not begun yet. */
const NOWHERE: TailPosition = { kinds: [], seen: new Map() }

/** The shards, no earlier than the reader was at its position; `joined` are the kinds that it begins to follow. */
async function lookFrom(
  checkpoints: Checkpoints,
  position: TailPosition,
  joined: readonly EntryKind[],
  signal: AbortSignal | undefined,
): Promise<Look> {
  let look = await unlessAborted(joined.length > 0 ? checkpoints.now() : checkpoints.recent(), signal)
  // The cursor may be newer than a shared look, so that only the present one tells whether a shard is gone or has lost its end.
  if (lacksSeen(look, position) || isBehind(look, position)) look = await unlessAborted(checkpoints.now(), signal)
  requireEnds(look, joined)
  return look
}

/**
 * A reader that begins to follow a kind counts all existing entries as seen, so each of its shards has to report where it ends: one that is
 * left out would count as new once it is back, and all its entries as arrivals. Closed days are not waited for.
 */
function requireEnds({ silent }: Look, kinds: readonly EntryKind[]): void {
  const missing = silent.filter(({ kind, closed }) => !closed && kinds.includes(kind))
  if (missing.length === 0) return
  const type = 'no_shard_available_action_exception'
  throw new ElasticsearchError(`shards that do not tell yet how far they have come: ${missing.length}`, 503, { type })
}

/** Whether the look has neither a shard that the cursor names nor the one that was rebuilt from it. */
function lacksSeen({ streams, silent }: Look, { seen }: TailPosition): boolean {
  const present = new Set([...streams, ...silent].flatMap(({ key, origin }) => [key, origin?.key]))
  return [...seen.keys()].some((key) => !present.has(key))
}

/** Whether a shard of the look has not taken all operations that the reader has seen. */
const isBehind = ({ streams }: Look, { seen }: TailPosition): boolean =>
  streams.some(({ key, last }) => (seen.get(key) ?? NONE) > last)

/**
 * A shard that the cursor does not name is new, and is read from its beginning. One that has lost its last operations, as by a restored
 * snapshot or a stale copy that became the primary, gives their numbers to others, and is read on from where it ends. Of a rebuilt one, the
 * last copies are those of the entries that the reader has not seen.
 */
function startOf({ key, kind, end, last, origin }: Stream, { kinds, seen }: TailPosition): number {
  const start = seen.get(key)
  if (start !== undefined) return Math.min(start, last)
  if (!kinds.includes(kind)) return end
  if (origin === undefined) return NONE
  const unseen = origin.end - (seen.get(origin.key) ?? NONE)
  return Math.max(NONE, origin.copiedEnd - unseen)
}

/** A shard that is silent is not read, and keeps its place; a rebuilt one that was not read yet keeps that of its origin. */
function seenOfSilent({ key: own, origin }: Shard, { seen }: TailPosition): readonly [key: string, number: number] {
  const key = seen.has(own) ? own : (origin?.key ?? own)
  return [key, seen.get(key) ?? NONE]
}

/** The number before the first one. */
const NONE = -1

interface MultiSearchAnswer {
  readonly responses: readonly {
    readonly hits?: { readonly hits: readonly Hit<StampedSource>[] }
    readonly _shards?: { readonly total: number }
    readonly error?: ErrorBody
    readonly status: number
  }[]
}

/** The arrivals of each shard; undefined if its index was removed since it was listed: its replacement, if any, is listed from now on. */
async function readArrivals(
  connection: Connection,
  filter: EntryFilter,
  unread: readonly Unread[],
  limit: number,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Arrival[] | undefined)[]> {
  const lines = unread.flatMap(({ stream, after }) => [
    {
      index: stream.index,
      preference: `_shards:${stream.shard}|${preferenceOf(filter.team)}`,
      // Hits that a search had no time to find would count as seen.
      allow_partial_search_results: false,
      ...LENIENT,
    },
    {
      query: compileFilter(filter, { range: { _seq_no: { gt: after, lte: stream.end } } }),
      sort: [{ _seq_no: 'asc' }],
      size: limit,
      _source: [...ROW, 'writtenAt'],
      track_total_hits: false,
    },
  ])
  const { responses } = await connection.send<MultiSearchAnswer>({
    method: 'POST',
    path: '/_msearch',
    query: { filter_path: WANTED },
    lines: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    signal,
    ...(limit > 1 && { answerBytesMax: ANSWER_BYTES_MAX }),
  })
  return responses.map(({ hits, error, status, _shards: shards }) => {
    if (error !== undefined) throw asReadError(new ElasticsearchError('arrivals could not be read', status, error))
    return shards?.total === 0 ? undefined : (hits?.hits ?? []).map(arrivalOf)
  })
}

const WANTED = ['hits.hits._source', 'hits.hits.sort', '_shards.total', 'error', 'status']
  .map((field) => `responses.${field}`)
  .join(',')

function arrivalOf(hit: Hit<StampedSource>): Arrival {
  const text = textOf(hit)
  return {
    entry: rowOfText(text),
    bytes: text.length,
    number: Number(hit.sort?.[0]),
    writtenAt: hit._source.writtenAt,
  }
}

/** Merges the shards' arrivals: each shard's own order is kept, and between shards the arrival written earlier comes first. */
function merge(
  kinds: readonly EntryKind[],
  seen: Map<string, number>,
  unread: readonly Unread[],
  arrivals: readonly (readonly Arrival[] | undefined)[],
  limit: number,
): TailPage {
  const queues = unread.flatMap(({ stream }, index) => {
    const found = arrivals[index]
    // With fewer than requested, nothing else up to the end of this shard matches.
    return found === undefined ? [] : [{ stream, waiting: [...found], isAll: found.length < limit }]
  })
  const entries: { entry: EntryRow; cursor: string }[] = []
  let bytes = 0
  while (entries.length < limit) {
    const [first] = queues.filter(({ waiting }) => waiting.length > 0).sort((a, b) => nextAt(a) - nextAt(b))
    const arrival = first?.waiting[0]
    if (first === undefined || arrival === undefined) break
    bytes += arrival.bytes
    if (entries.length > 0 && bytes > PAGE_BYTES_MAX) break
    first.waiting.shift()
    seen.set(first.stream.key, arrival.number)
    entries.push({ entry: arrival.entry, cursor: encodePosition({ kinds, seen }) })
  }
  const read = queues.filter(({ waiting, isAll }) => isAll && waiting.length === 0)
  for (const { stream } of read) seen.set(stream.key, stream.end)
  const more = unread.length === STREAMS_MAX || read.length < unread.length
  return { entries, more, cursor: encodePosition({ kinds, seen }) }
}

const nextAt = ({ waiting: [next] }: { readonly waiting: readonly Arrival[] }): number => next?.writtenAt ?? 0
