import type { TeamSettings } from '../../schemas/team.ts'
import { useFetch } from '../api/use-fetch.ts'

/** Gives the name of the Event, Step or Project that a parameter selects by its identifier or id; any other value as it is. */
export type NameOf = (parameter: string, value: string) => string

/** Reads the names of what the Team has; until they are known, and for what it does not have, the value itself stands. */
export function useNames(): NameOf {
  const { events = [], steps = [], projects = [] } = useFetch<TeamSettings>('/api/team').data ?? {}
  const entities = [...events, ...events.flatMap((event) => event.steps), ...steps]
  const names = new Map([
    ...entities.map(({ identifier, name }) => [identifier, name] as const),
    ...projects.map(({ id, name }) => [id, name] as const),
  ])
  return (parameter, value) => (NAMED.includes(parameter) && names.get(value)) || value
}

const NAMED: readonly string[] = ['event', 'step', 'project']
