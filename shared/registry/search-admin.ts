import { isDeepStrictEqual } from 'node:util'
import { applyPlan } from './apply-plan.ts'
import { type RegistryAdminDeps, readTopic } from './journal-access.ts'
import { impossible, NOTHING, type Plan } from './plan.ts'
import { ownedId, type RegistryState, splitOwnedId } from './records.ts'
import type { SavedSearch } from './registry.ts'
import type { RegistryValues } from './schema.ts'

/** Maximum per Team: every process holds the whole registry in memory. */
export const SEARCHES_MAX = 100

/** A change of a Team's saved searches; `name` alone renames one, null deletes it. */
export interface SearchChange {
  /** A GUID in canonical form. */
  readonly id: string
  readonly to: RegistryValues['search'] | { readonly name: string } | null
}

type SearchResult =
  /** `search` is the present one; for a deletion, the one that was deleted. */
  | { readonly outcome: 'changed'; readonly search: SavedSearch }
  | { readonly outcome: 'refused'; readonly because: SearchRefusal }

type SearchRefusal =
  | 'not_found'
  | 'exists'
  | 'too_many'
  /** Another process changed the same search at the same time. */
  | 'overtaken'

/** Saves, renames or deletes a search of a Team. Rejects as the journal does. */
export async function changeSearch(
  deps: RegistryAdminDeps,
  team: string,
  { id, to }: SearchChange,
): Promise<SearchResult> {
  const recordId = ownedId(team, id)

  function refusalIn({ search }: RegistryState): SearchRefusal | undefined {
    const isThere = search.has(recordId)
    const isNew = to !== null && 'page' in to
    if (!isThere && !isNew) return 'not_found'
    const others = [...search].filter(([one]) => one !== recordId && splitOwnedId(one).team === team)
    if (others.some(([, { name }]) => name === to?.name)) return 'exists'
    return !isThere && others.length >= SEARCHES_MAX ? 'too_many' : undefined
  }

  function planOn(state: RegistryState): Plan {
    const present = state.search.get(recordId) ?? null
    const value = to && ({ ...present, ...to } as RegistryValues['search'])
    if (isDeepStrictEqual(value, present)) return NOTHING
    const because = refusalIn(state)
    if (because !== undefined) return impossible(because)
    return { ...NOTHING, changes: [{ kind: 'search', id: recordId, value }] }
  }

  const present = await readTopic(deps)
  const because = refusalIn(present.state)
  if (because !== undefined) return { outcome: 'refused', because }
  const { left, state } = await applyPlan(deps, present, planOn)
  const [problem] = left.problems
  if (problem !== undefined || left.changes.length > 0)
    return { outcome: 'refused', because: (problem?.message ?? 'overtaken') as SearchRefusal }
  const search = (state.search.get(recordId) ?? present.state.search.get(recordId)) as RegistryValues['search']
  return { outcome: 'changed', search: { id, ...search } }
}
