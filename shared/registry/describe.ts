import type { KeyInfo, Project, Registry, StepEntity, Team, TeamLimits } from './registry.ts'

/** A Team with all that it owns, as plain data for people and programs. */
export interface TeamDescription {
  readonly id: string
  readonly name: string
  /** The id of its Project for logs of unknown services. */
  readonly defaultProject: string | null
  /** Its own quota. */
  readonly limits: TeamLimits | null
  readonly keys: readonly KeyDescription[]
  readonly events: readonly EventDescription[]
  /** Steps without an Event. */
  readonly steps: readonly StepDescription[]
  readonly projects: readonly ProjectDescription[]
}

/** A key's hash is left out, as the hash of a weak key would reveal it. */
type KeyDescription = Omit<KeyInfo, 'hash'>

export interface EventDescription {
  readonly identifier: string
  readonly name: string
  readonly archivedAt: string | null
  readonly steps: readonly StepDescription[]
}

export interface StepDescription {
  readonly identifier: string
  readonly name: string
  readonly order: number
  readonly archivedAt: string | null
}

export interface ProjectDescription {
  readonly id: string
  readonly name: string
  readonly archivedAt: string | null
}

export function describeTeam(registry: Registry, { id, name, defaultProject, limits }: Team): TeamDescription {
  const events = registry.eventsOf(id)
  const stepsOf = Map.groupBy(registry.stepsOf(id), ({ event }) => event)
  const known = new Set(events.map(({ identifier }) => identifier))
  return {
    id,
    name,
    defaultProject: defaultProject ?? null,
    limits: limits ?? null,
    keys: registry.keysOf(id).map(({ prefix, createdAt, revokedAt }) => ({ prefix, createdAt, revokedAt })),
    events: events.map((event) => ({
      identifier: event.identifier,
      name: event.name,
      archivedAt: event.archivedAt ?? null,
      steps: (stepsOf.get(event.identifier) ?? []).map(describeStep),
    })),
    steps: registry
      .stepsOf(id)
      .filter(({ event }) => event === null || !known.has(event))
      .map(describeStep),
    projects: registry.projectsOf(id).map(describeProject),
  }
}

const describeStep = ({ identifier, name, order, archivedAt }: StepEntity): StepDescription => ({
  identifier,
  name,
  order,
  archivedAt: archivedAt ?? null,
})

const describeProject = ({ id, name, archivedAt }: Project): ProjectDescription => ({
  id,
  name,
  archivedAt: archivedAt ?? null,
})
