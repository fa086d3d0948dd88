import type { NameList } from '../schemas/answers.ts'
import type { Answer } from './call.ts'

/** The Team's Events and Projects whose name or identifier contains a text, by name. */
export const listNames: Answer = async ({ team, values }, { registry }) => {
  const sought = (values.q ?? '').toLowerCase()
  const isSought = (...texts: readonly string[]): boolean => texts.some((text) => text.toLowerCase().includes(sought))
  const first = <T extends { readonly name: string }>(found: readonly T[]): readonly T[] =>
    found.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, values.limit)
  const events = registry.eventsOf(team).filter(({ identifier, name }) => isSought(identifier, name))
  const projects = registry.projectsOf(team).filter(({ id, name }) => isSought(id, name))
  return {
    events: first(events).map(({ identifier, name }) => ({ identifier, name })),
    projects: first(projects).map(({ id, name }) => ({ id, name })),
  } satisfies NameList
}
