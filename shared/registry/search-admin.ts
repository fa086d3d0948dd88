import { appendChanges, type RegistryAdminDeps, readState } from './journal-access.ts'
import { ownedId, type RegistryValues, splitOwnedId } from './records.ts'
import type { SavedSearch } from './registry.ts'

/** Maximum per Team: every process holds the whole registry in memory. */
export const SEARCHES_MAX = 100

/** A change of a Team's saved searches; `name` alone renames one, null deletes it. */
export interface SearchChange {
  /** A GUID in canonical form. */
  readonly id: string
  readonly to: RegistryValues['search'] | { readonly name: string } | null
}

export type SearchResult =
  /** `search` is the present one; for a deletion, the one that was deleted. */
  | { readonly outcome: 'changed'; readonly search: SavedSearch }
  | { readonly outcome: 'refused'; readonly because: 'not_found' | 'exists' | 'too_many' }

/**
 * Saves, renames or deletes a search of a Team. Two processes at the same time may leave two searches with one name, or a few more than the
 * maximum; of two changes of one search, the last one wins. Rejects as the journal does.
 */
export async function changeSearch(
  deps: RegistryAdminDeps,
  team: string,
  { id, to }: SearchChange,
): Promise<SearchResult> {
  const state = await readState(deps)
  const all = state.search
  const recordId = ownedId(team, id)
  const own = [...all].filter(([one]) => splitOwnedId(one).team === team)
  const present = all.get(recordId)
  const isNew = to !== null && 'page' in to
  const value = isNew ? to : present
  if (value === undefined) return { outcome: 'refused', because: 'not_found' }
  if (own.some(([one, { name }]) => one !== recordId && name === to?.name))
    return { outcome: 'refused', because: 'exists' }
  if (isNew && own.length >= SEARCHES_MAX) return { outcome: 'refused', because: 'too_many' }
  const next = { ...value, ...to }
  await appendChanges(deps, [{ kind: 'search', id: recordId, value: to === null ? null : next }], state)
  return { outcome: 'changed', search: { id, ...next } }
}
