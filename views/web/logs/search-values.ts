import type { Entry, FacetValue } from '../api/types.ts'
import type { KnownValue, KnownValues } from './complete.ts'
import { isJson, jsonFields } from './json-text.ts'
import type { TeamRegistry } from './rail.tsx'
import type { FacetLists } from './use-facets.ts'

/** Entries that are looked into for names of leaves, how long a text of theirs may be, and how many names one has at most. */
const LOOKED_INTO = 30
const LENGTH_MAX = 20_000
const NAMES_MAX = 60

/** Names of leaves that the entries have: `payload.order.id`, `scope.RequestId`. */
export function pathsOf(entries: readonly Entry[]): readonly string[] {
  const names = new Set<string>()
  for (const entry of entries.slice(0, LOOKED_INTO)) {
    const family = entry.kind === 'event' ? 'payload' : 'scope'
    const text = entry.kind === 'event' ? entry.payload : JSON.stringify(entry.scopeData ?? {})
    if (text.length > LENGTH_MAX || !isJson(text)) continue
    for (const { path, value } of jsonFields(text, NAMES_MAX)) if (value !== null) names.add(`${family}.${path}`)
  }
  return [...names]
}

/** Values for the completion: what the entries in sight have, then what the Team has besides. */
export function valuesOf(facets: FacetLists, registry: TeamRegistry | undefined): KnownValues {
  const { events = [], steps = [], projects = [] } = registry ?? {}
  const ofTeam = (targets: readonly { readonly identifier: string; readonly name: string }[]): readonly KnownValue[] =>
    targets.map(({ identifier, name }) => ({ value: identifier, name }))
  return {
    ...facets,
    event: joined(facets.event, ofTeam(events)),
    step: joined(facets.step, ofTeam([...events.flatMap((event) => event.steps), ...steps])),
    project: joined(
      facets.project,
      projects.map(({ id, name }) => ({ value: id, name })),
    ),
  }
}

const joined = (counted: readonly FacetValue[], known: readonly KnownValue[]): readonly KnownValue[] => [
  ...counted,
  ...known.filter(({ value }) => !counted.some((one) => one.value === value)),
]
