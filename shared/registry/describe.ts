import type { Registry, StepEntity, Team } from './registry.ts'

export type TeamDescription = ReturnType<typeof describeTeam>
export type StepDescription = ReturnType<typeof describeStep>

/**
 * A Team with all that it owns, as plain data for people and programs; `steps` are those without an Event. The hashes of keys are left out,
 * as the hash of a weak key would reveal it.
 */
export function describeTeam(registry: Registry, { id, name, defaultProject, limits }: Team) {
  const events = registry.eventsOf(id)
  const steps = registry.stepsOf(id)
  const stepsOf = Map.groupBy(steps, ({ event }) => event)
  const known = new Set(events.map(({ identifier }) => identifier))
  return {
    id,
    name,
    defaultProject: defaultProject ?? null,
    limits: limits ?? null,
    keys: registry.keysOf(id).map(({ prefix, createdAt, revokedAt }) => ({ prefix, createdAt, revokedAt })),
    events: events.map(({ identifier, name, archivedAt = null }) => ({
      identifier,
      name,
      archivedAt,
      steps: (stepsOf.get(identifier) ?? []).map(describeStep),
    })),
    steps: steps.filter(({ event }) => event === null || !known.has(event)).map(describeStep),
    projects: registry.projectsOf(id).map(({ id, name, archivedAt = null }) => ({ id, name, archivedAt })),
  }
}

const describeStep = ({ identifier, name, order, archivedAt }: StepEntity) => ({
  identifier,
  name,
  order,
  archivedAt: archivedAt ?? null,
})
