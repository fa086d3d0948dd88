import type { FacetName, Facets } from '../api/types.ts'
import { useFetch } from '../ui/use-fetch.ts'

type Filter = Readonly<Record<string, string | undefined>>
export type FacetLists = Facets['facets']

/** The most values of a facet that the API gives. */
export const VALUES_MAX = 100

/** Before the first answer. */
export const NOT_COUNTED: FacetLists = { level: [], environment: [], event: [], step: [], project: [], category: [] }

/**
 * Counts by value, and of all that match. What is chosen in a facet does not narrow that facet itself: one can see what else there
 * is to choose. So each facet in use costs one more question.
 */
export function useFacets(
  path: string,
  filter: Filter,
): { readonly facets: FacetLists; readonly total: number | undefined } {
  const { data } = useFetch<Facets>(path, { ...filter, values: VALUES_MAX })
  const lists = data?.facets ?? NOT_COUNTED
  const { event, step } = useWithout(path, filter, ['event', 'step'], lists)
  const facets = {
    level: useWithout(path, filter, ['level'], lists).level,
    environment: useWithout(path, filter, ['environment'], lists).environment,
    event,
    step,
    project: useWithout(path, filter, ['project'], lists).project,
    category: useWithout(path, filter, ['category'], lists).category,
  }
  const total = data && lists.level.reduce((sum, { count }) => sum + count, 0)
  return { facets: lists === NOT_COUNTED ? lists : facets, total }
}

function useWithout(path: string, filter: Filter, names: readonly FacetName[], lists: FacetLists): FacetLists {
  const used = names.some((name) => filter[name] !== undefined)
  const none = Object.fromEntries(names.map((name) => [name, undefined]))
  const { data } = useFetch<Facets>(used ? path : null, { ...filter, ...none, values: VALUES_MAX })
  return (used ? data?.facets : undefined) ?? lists
}
