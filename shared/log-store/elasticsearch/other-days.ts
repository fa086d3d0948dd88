import type { EntryDocument } from '../../contract/documents.ts'
import { DAY_MS } from '../../contract/timestamp.ts'
import { type Connection, foundOf, type Lookup } from './connection.ts'
import type { IndexNames } from './index-names.ts'

const LOOKUPS_PER_REQUEST = 5_000
/** A request that is repeated within 48 hours arrives at most this many days before or after the first. */
const DAYS_APART_MAX = 2

/**
 * Elasticsearch keeps an id unique only within one index. A UUIDv7 was made together with the `receivedAt` that determines its index, so it
 * cannot occur in another one. Any other id, such as one derived from an Idempotency-Key, may arrive again on a later day.
 */
export const mayBeOnOtherDays = (id: string): boolean => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(id)

export interface OtherDays {
  /**
   * Looks each document up in the indices of its kind on nearby days (`areNear`), including documents that are not searchable yet. Returns
   * the copies that were found, for each document.
   */
  find(documents: readonly EntryDocument[], signal: AbortSignal): Promise<readonly (readonly Copy[])[]>
}

/** A stored document; `receivedAt` is the day of its index. */
export type Copy = Pick<EntryDocument, 'id' | 'kind' | 'receivedAt'>

/** `connection` does not retry, as the caller does. */
export function createOtherDays(connection: Connection, names: IndexNames): OtherDays {
  return {
    async find(documents, signal) {
      if (documents.length === 0) return []
      const days = await listDays(connection, names, signal)
      const nearby = documents.map(({ id, kind, receivedAt }) =>
        days.filter((day) => areNear(day, receivedAt)).map((day): Copy => ({ id, kind, receivedAt: day })),
      )
      const lookupOf = ({ id, kind, receivedAt: day }: Copy): Lookup => ({ _index: names.day(kind, day), _id: id })
      const found = new Set<string>()
      for (const lookups of perRequest(nearby.flat().map(lookupOf))) {
        for (const lookup of await foundOf(connection, lookups, signal)) found.add(keyOf(lookup))
      }
      return nearby.map((copies) => copies.filter((copy) => found.has(keyOf(lookupOf(copy)))))
    },
  }
}

/** Whether documents that have the same id and were received at these times, or on these days, are the same entry. */
export const areNear = (at: string, other: string): boolean =>
  Math.abs(Date.parse(at.slice(0, 10)) - Date.parse(other.slice(0, 10))) <= DAYS_APART_MAX * DAY_MS

/**
 * The days that have an index now, earliest first. A closed one may have the document, too, and its lookup fails until it is open. Never
 * cached: another process may just have created one.
 */
async function listDays(connection: Connection, names: IndexNames, signal: AbortSignal): Promise<readonly string[]> {
  const { indices = [], aliases = [] } = await connection.send<
    Record<'indices' | 'aliases', readonly { readonly name: string }[] | undefined>
  >({
    method: 'GET',
    path: `/_resolve/index/${names.all()}`,
    query: { expand_wildcards: 'open,closed', filter_path: 'indices.name,aliases.name' },
    signal,
  })
  const days = [...indices, ...aliases].map(({ name }) => names.dayOf(name)).filter((day) => day !== undefined)
  return [...new Set(days)].sort()
}

const keyOf = ({ _index, _id }: Lookup): string => `${_index} ${_id}`

/** The lookups in the portions of requests, each index and id once: a write may have an id several times, and on several days. */
function* perRequest(lookups: readonly Lookup[]) {
  const all = [...new Map(lookups.map((lookup) => [keyOf(lookup), lookup])).values()]
  for (let at = 0; at < all.length; at += LOOKUPS_PER_REQUEST) yield all.slice(at, at + LOOKUPS_PER_REQUEST)
}
