import type { Registry, StepEntity } from '../../shared/registry/registry.ts'
import { columns, printable } from './text.ts'

/** A Team as `registry list --json` prints it. */
export interface TeamDescription {
  readonly id: string
  readonly name: string
  readonly keys: readonly { readonly prefix: string; readonly createdAt: string; readonly revokedAt: string | null }[]
  readonly events: readonly { readonly identifier: string; readonly name: string; readonly steps: readonly Step[] }[]
  /** Those that stand without an Event. */
  readonly steps: readonly Step[]
  readonly projects: readonly { readonly id: string; readonly name: string }[]
}

interface Step {
  readonly identifier: string
  readonly name: string
  readonly order: number
}

/** The registry as plain data. A key's hash is left out: that of a weak key would give it away. */
export function describeRegistry(registry: Registry): readonly TeamDescription[] {
  return registry.teams().map(({ id, name }) => {
    const events = registry.eventsOf(id)
    const stepsOf = Map.groupBy(registry.stepsOf(id), ({ event }) => event)
    const known = new Set(events.map(({ identifier }) => identifier))
    return {
      id,
      name,
      keys: registry.keysOf(id).map(({ prefix, createdAt, revokedAt }) => ({ prefix, createdAt, revokedAt })),
      events: events.map(({ identifier, name }) => ({
        identifier,
        name,
        steps: (stepsOf.get(identifier) ?? []).map(stepOf),
      })),
      steps: registry
        .stepsOf(id)
        .filter(({ event }) => event === null || !known.has(event))
        .map(stepOf),
      projects: registry.projectsOf(id).map(({ id, name }) => ({ id, name })),
    }
  })
}

const stepOf = ({ identifier, name, order }: StepEntity): Step => ({ identifier, name, order })

/** The same to be read: a paragraph for each Team. */
export function registryText(teams: readonly TeamDescription[]): string {
  if (teams.length === 0) return 'The registry is empty; `sluice registry apply FILE` fills it.\n'
  return `${teams.map((team) => teamLines(team).map(printable).join('\n')).join('\n\n')}\n`
}

function teamLines({ id, name, keys, events, steps, projects }: TeamDescription): string[] {
  const stepRow = ({ identifier, name, order }: Step): string[] => [`    ${order}. ${identifier}`, name]
  return [
    `${id}  ${name}`,
    keys.length === 0 ? '  no key' : '  keys',
    ...columns(
      keys.map(({ prefix, createdAt, revokedAt }) => [
        `    ${prefix}…`,
        `since ${createdAt}`,
        revokedAt === null ? 'live' : `revoked ${revokedAt}`,
      ]),
    ),
    ...events.flatMap((event) => [`  event ${event.identifier}  ${event.name}`, ...columns(event.steps.map(stepRow))]),
    ...columns(steps.map((step) => [`  step ${step.identifier}`, step.name])),
    ...columns(projects.map((project) => [`  project ${project.id}`, project.name])),
  ]
}
