import type { Registry } from '../../shared/registry/registry.ts'
import type { programName } from '../../shared/runtime/config.ts'
import type { Role } from './roles.ts'

interface BannerFacts {
  readonly role: Role
  /** The URL of the server, with the base path and without a trailing slash. */
  readonly url: string
  readonly metricsUrl: string
  /** The address for OTLP over gRPC. */
  readonly grpcUrl: string | undefined
  readonly registry: Registry
  /** The key made at the first start; null at later ones. */
  readonly newKey: string | null
  readonly program: ReturnType<typeof programName>
}

/** The text that a server prints when it is ready: its address and, at the first start, commands that work when pasted. */
export function banner({ role, url, metricsUrl, grpcUrl, registry, newKey, program }: BannerFacts): string {
  // Other roles are run by a supervisor, whose log needs no more, and have no new key to show (first-start.ts).
  if (role !== 'all') {
    const more = grpcUrl === undefined ? '' : ` and takes OTLP over gRPC at ${grpcUrl}`
    return `Sluice ${role} is ready at ${url}${more}`
  }
  const places = [`  page     ${url}/`, `  API      ${url}/docs`, `  metrics  ${metricsUrl}`]
  if (grpcUrl !== undefined) places.push(`  gRPC     ${grpcUrl} (OTLP)`)
  const next = newKey === null ? knownTeams(registry, program) : firstSteps(url, registry, newKey)
  return ['', `Sluice is ready at ${url}`, '', ...places, '', ...next, ''].join('\n')
}

const TEAMS_SHOWN_MAX = 10

function knownTeams(registry: Registry, program: string): string[] {
  const teams = registry.teams()
  const lines = teams.slice(0, TEAMS_SHOWN_MAX).map(({ id }) => {
    const live = registry.keysOf(id).filter(({ revokedAt }) => revokedAt === null)
    const keys = live.length === 0 ? 'no key' : `keys ${live.map(({ prefix }) => `${prefix}…`).join(', ')}`
    return `  Team ${id}: ${keys}. A new one: ${program} registry rotate-key ${id}`
  })
  const hidden = teams.length - lines.length
  return hidden > 0 ? [...lines, `  and ${hidden} more: ${program} registry list`] : lines
}

function firstSteps(url: string, registry: Registry, key: string): string[] {
  const [team] = registry.teams()
  const [event] = team === undefined ? [] : registry.eventsOf(team.id)
  const [project] = team === undefined ? [] : registry.projectsOf(team.id)
  const entry = {
    uniqueIdentifier: event?.identifier,
    payload: 'Order 4711 placed',
    level: 'Information',
    correlationKey: 'order-4711',
  }
  return [
    `  The Team made for you: ${team?.id}, with the Project ${project?.id}.`,
    '',
    'Open the page and sign in with its key, shown above, or send a log from here:',
    '',
    `  curl -s ${url}/api/ExternalLogs -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify(entry)}'`,
    '',
    'Read it back:',
    '',
    `  curl -s '${url}/api/event-logs?q=4711' -H 'X-API-Key: ${key}'`,
  ]
}
