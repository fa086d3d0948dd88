import type { FacetName, Facets } from '../api/types.ts'
import { useFetch } from '../ui/use-fetch.ts'

type Filter = Readonly<Record<string, string | undefined>>
export type FacetLists = Facets['facets']

/** The most values of a facet that the API gives. */
export const VALUES_MAX = 100

const NONE: FacetLists = { level: [], environment: [], event: [], step: [], project: [], category: [] }

/**
 * Counts by value. What is chosen in a facet does not narrow that facet itself: one can see what else there is to choose. So each
 * facet in use costs one more question.
 */
export function useFacets(folder: string, filter: Filter) {
  const path = `/api/${folder}/facets`
  const all = useFetch<Facets>(path, { ...filter, values: VALUES_MAX })
  const lists = all.data?.facets ?? NONE
  const without = (...names: readonly FacetName[]): FacetLists => {
    const used = names.some((name) => filter[name] !== undefined)
    const others = Object.fromEntries(Object.entries(filter).filter(([name]) => !names.includes(name as FacetName)))
    // biome-ignore lint/correctness/useHookAtTopLevel: called below, always in the same order
    const { data } = useFetch<Facets>(used ? path : null, { ...others, values: VALUES_MAX })
    return (used ? data?.facets : undefined) ?? lists
  }
  const { level } = without('level')
  const { environment } = without('environment')
  const { event, step } = without('event', 'step')
  const { project } = without('project')
  const { category } = without('category')
  /** How many entries match in all. */
  const total = all.data === undefined ? undefined : lists.level.reduce((sum, { count }) => sum + count, 0)
  return { level, environment, event, step, project, category, total }
}
