import { parseGuid } from '../../shared/contract/guid.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { EntryRow } from '../../shared/contract/rows.ts'
import type { FacetName, PageRequest } from '../../shared/log-store/log-store.ts'
import { detailsOf } from '../details/details.ts'
import type { Histogram } from '../schemas/answers.ts'
import type { EntryAnswer, EntryCall, Tools } from './call.ts'
import { decodeCursor } from './cursor.ts'
import { entryFilter, filterOf } from './filter.ts'
import { itemOf } from './items.ts'
import { isNamed } from './names.ts'
import { pageText } from './page.ts'
import { notFound } from './problems.ts'
import { withValues } from './row-values.ts'

/** A page of the entries of one kind, newest first by default. */
export const listEntries: EntryAnswer = async (call, { store }) => {
  const { values, names, signal } = call
  const { filter, reading } = entryFilter(call, [call.kind])
  const order = values.order ?? 'desc'
  const after = decodeCursor(order, values.cursor)
  const found = await store.search(filter, { limit: values.limit, order, after, form: 'row' }, signal)
  const entries = await withValues(found.entries, values.fields, { store, team: call.team, signal })
  const next = entries.length < found.entries.length ? (entries.at(-1) ?? null) : found.next
  return pageText({ entries, next }, order, names, { query: reading })
}

export const oneEntry: EntryAnswer = async (call, tools) => itemOf(await entryOf(call, tools), call.names)

export const detailsOfEntry: EntryAnswer = async (call, tools) =>
  detailsOf(itemOf(await entryOf(call, tools), call.names))

/**
 * An entry with its neighbours in time among the selected entries. Both sides are oldest first, so that before, entry and after read in
 * sequence; the entry itself is included even if the parameters do not select it.
 */
export const contextOfEntry: EntryAnswer = async (call, tools) => {
  const { values, names, signal } = call
  const entry = await entryOf(call, tools)
  const filter = filterOf(call)
  const place = { timestamp: entry.timestamp, id: entry.id }
  const neighbours = (order: PageRequest['order'], limit: number): Promise<readonly EntryRow[]> =>
    limit === 0
      ? Promise.resolve([])
      : tools.store.search(filter, { limit, order, after: place, form: 'row' }, signal).then((page) => page.entries)
  const [before, after] = await Promise.all([neighbours('desc', values.before), neighbours('asc', values.after)])
  return {
    before: before.toReversed().map((one) => itemOf(one, names)),
    entry: itemOf(entry, names),
    after: after.map((one) => itemOf(one, names)),
  }
}

export const histogramOfEntries: EntryAnswer = async (call, { store }) => {
  const { intervalMs, buckets, total } = await store.histogram(filterOf(call), call.values.buckets, call.signal)
  return { interval: intervalMs, buckets, total } satisfies Histogram
}

export const facetsOfEntries: EntryAnswer = async (call, { store }) => {
  const facets = await store.facets(filterOf(call), call.values.values, call.signal)
  const shown = (Object.keys(facets) as FacetName[]).map((facet) => [
    facet,
    facets[facet].map(({ value, count }) => ({
      value,
      ...(isNamed(facet) && { name: call.names[facet](value).name }),
      count,
    })),
  ])
  return { facets: Object.fromEntries(shown) }
}

/** The entry that the path names. Throws `not_found` if the Team has none with this id. */
export async function entryOf({ team, kind, subject, signal }: EntryCall, { store }: Tools): Promise<EntryRecord> {
  const entry = await store.get(team, kind, parseGuid(subject) ?? subject, signal)
  if (entry === undefined)
    throw notFound('There is no such entry.', 'Check the id; lists have the ids of all entries of the Team.')
  return entry
}
