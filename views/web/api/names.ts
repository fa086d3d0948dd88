import type { TeamSettings } from '../../schemas/team.ts'
import { useFetch } from './use-fetch.ts'

/** Gives the name of the Event, Step or Project that a parameter selects by its identifier or id; any other value as it is. */
export type NameOf = (parameter: string, value: string) => string

/** Reads the names of what the Team has: undefined while they are read. For what the Team does not have, the value itself stands. */
export function useNames(): NameOf | undefined {
  const { data, problem } = useFetch<TeamSettings>('/api/team')
  if (data === undefined && problem === undefined) return undefined
  const { events = [], steps = [], projects = [] } = data ?? {}
  const entities = [...events, ...events.flatMap((event) => event.steps), ...steps]
  return (parameter, value) => {
    if (parameter === 'project') return projects.find(({ id }) => id === value)?.name ?? value
    if (parameter !== 'event' && parameter !== 'step') return value
    return entities.find(({ identifier }) => identifier === value)?.name ?? value
  }
}
