import type { EntryDocument } from '../../contract/documents.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import type { IndexNames } from './index-names.ts'

const LOOKUPS_PER_REQUEST = 5_000
const DAY_MS = 86_400_000
/** A request that is repeated within 48 hours arrives at most this many days before or after the first. */
const DAYS_APART_MAX = 2

/**
 * Elasticsearch keeps an id unique only within one index. A UUIDv7 was made together with the `receivedAt` that determines its index, so it
 * cannot occur in another one. Any other id, such as one derived from an Idempotency-Key, may arrive again on a later day.
 */
export const mayBeOnOtherDays = (id: string): boolean => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id)

/** The names of the days' indices that hold a document with this id, earliest day first. */
export type IndicesById = ReadonlyMap<string, readonly string[]>

export interface OtherDays {
  /** Looks the documents up in the indices of their kind on nearby days (`DAYS_APART_MAX`), including those not searchable yet. */
  find(documents: readonly EntryDocument[], signal: AbortSignal): Promise<IndicesById>
}

/** `connection` does not retry, as the caller does. */
export function createOtherDays(connection: Connection, names: IndexNames): OtherDays {
  return {
    async find(documents, signal) {
      if (documents.length === 0) return new Map()
      const found = new Map<string, string[]>()
      for (const lookups of lookupsOf(documents, await listDays(connection, names, signal), names)) {
        for (const { _id: id, _index: index } of await foundOf(connection, lookups, signal)) {
          found.set(id, [...(found.get(id) ?? []), index])
        }
      }
      return new Map([...found].map(([id, indices]) => [id, indices.toSorted()]))
    },
  }
}

/** The days that have an index now, earliest first. Never cached: another process may just have created one. */
async function listDays(connection: Connection, names: IndexNames, signal: AbortSignal): Promise<readonly string[]> {
  const { indices = [], aliases = [] } = await connection.send<
    Record<'indices' | 'aliases', readonly Named[] | undefined>
  >({
    method: 'GET',
    path: `/_resolve/index/${names.all()}`,
    query: { expand_wildcards: 'open', filter_path: 'indices.name,aliases.name' },
    signal,
  })
  const days = [...indices, ...aliases].map(({ name }) => names.dayOf(name)).filter((day) => day !== undefined)
  return [...new Set(days)].sort()
}

interface Named {
  readonly name: string
}

interface Lookup {
  readonly _index: string
  readonly _id: string
}

/** Each index and id once: a chunk may contain an id several times, and on several days. */
function* lookupsOf(documents: readonly EntryDocument[], days: readonly string[], names: IndexNames) {
  const lookups = new Map<string, Lookup>()
  for (const { id, kind, receivedAt } of documents) {
    for (const day of days) {
      if (Math.abs(Date.parse(day) - Date.parse(receivedAt.slice(0, 10))) > DAYS_APART_MAX * DAY_MS) continue
      const index = names.day(kind, day)
      lookups.set(`${index} ${id}`, { _index: index, _id: id })
    }
  }
  const all = [...lookups.values()]
  for (let at = 0; at < all.length; at += LOOKUPS_PER_REQUEST) yield all.slice(at, at + LOOKUPS_PER_REQUEST)
}

interface MultiGetAnswer {
  readonly docs: readonly { readonly found?: boolean; readonly error?: { readonly type: string } }[]
}

/** The lookups that find a document; the answer names indices, where a lookup may name the alias of one. */
async function foundOf(connection: Connection, lookups: readonly Lookup[], signal: AbortSignal): Promise<Lookup[]> {
  const { docs } = await connection.send<MultiGetAnswer>({
    method: 'POST',
    path: '/_mget',
    query: { _source: false, filter_path: 'docs.found,docs.error.type' },
    body: { docs: lookups },
    signal,
  })
  const failed = docs.find(({ error }) => error !== undefined && error.type !== 'index_not_found_exception')
  if (failed?.error !== undefined) {
    const status = failed.error.type === 'security_exception' ? 403 : null
    throw new ElasticsearchError('a lookup by id failed', status, failed.error)
  }
  return lookups.filter((_lookup, index) => docs[index]?.found === true)
}
