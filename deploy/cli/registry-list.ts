import type { TeamDescription } from '../../shared/registry/describe.ts'
import type { TeamLimits } from '../../shared/registry/registry.ts'
import { columns, printable } from './text.ts'

/** Teams with all that they own, as text for people: a paragraph for each. */
export function registryText(teams: readonly TeamDescription[]): string {
  if (teams.length === 0) return 'The registry is empty; `sluice registry apply FILE` fills it.\n'
  return `${teams.map((team) => teamLines(team).map(printable).join('\n')).join('\n\n')}\n`
}

function teamLines({ id, name, defaultProject, limits, keys, events, steps, projects }: TeamDescription): string[] {
  return [
    `${id}  ${name}`,
    ...(limits === null ? [] : [`  limits  ${limitsText(limits)}`]),
    keys.length === 0 ? '  no key' : '  keys',
    ...columns(
      keys.map(({ prefix, createdAt, revokedAt }) => [
        `    ${prefix}…`,
        `since ${createdAt}`,
        revokedAt === null ? 'live' : `revoked ${revokedAt}`,
      ]),
    ),
    ...events.flatMap((event) => [
      `  event ${event.identifier}  ${named(event)}`,
      ...columns(event.steps.map((step) => [`    ${step.order}. ${step.identifier}`, named(step)])),
    ]),
    ...columns(steps.map((step) => [`  step ${step.identifier}`, named(step)])),
    ...columns(
      projects.map((project) => [
        `  project ${project.id}`,
        `${named(project)}${project.id === defaultProject ? '  (for unknown services)' : ''}`,
      ]),
    ),
  ]
}

const limitsText = (limits: TeamLimits): string =>
  Object.entries(limits)
    .map(([field, value]) => `${field} ${value}`)
    .join(', ')

const named = ({ name, archivedAt }: { readonly name: string; readonly archivedAt: string | null }): string =>
  archivedAt === null ? name : `${name}  (archived ${archivedAt})`
