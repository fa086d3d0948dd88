import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import { describeTeam, type TeamDescription } from '../../shared/registry/describe.ts'
import type { Registry, Team } from '../../shared/registry/registry.ts'
import type { LastSeen, TargetKind } from './last-seen.ts'

/** Where logs are sent, for snippets. */
export interface GatewayAddress {
  /** Null where the operator has given none. */
  readonly url: string | null
  /** Whether the address of the page takes logs as well. */
  readonly here: boolean
}

/** The most revoked keys that are told, those that were revoked last. */
const REVOKED_MAX = 50

/** Everything that `GET /api/team` tells. */
export function settingsOf(registry: Registry, team: Team, lastSeen: LastSeen, gateway: GatewayAddress) {
  const { id, name, keys, ...own } = describeTeam(registry, team)
  const seen = (kind: TargetKind, target: string) => {
    const found = lastSeen.seen[kind].get(target)
    return { lastSeenAt: found?.at ?? null, lastDay: found?.count ?? (lastSeen.complete ? 0 : null) }
  }
  const stepOf = (step: TeamDescription['steps'][number]) => ({ ...step, ...seen('step', step.identifier) })
  return {
    team: { id, name },
    keys: shownKeys(keys),
    events: own.events.map(({ steps, ...event }) => ({
      ...event,
      ...seen('event', event.identifier),
      steps: steps.map(stepOf),
    })),
    steps: own.steps.map(stepOf),
    projects: own.projects.map((project) => ({ ...project, ...seen('project', project.id) })),
    gateway,
  }
}

/** The live keys and the last revoked ones, in the order in which they were made. */
function shownKeys(keys: TeamDescription['keys']): TeamDescription['keys'] {
  const revoked = keys
    .flatMap((key) => (key.revokedAt === null ? [] : [{ key, at: key.revokedAt }]))
    .sort((a, b) => compareTimestamps(a.at, b.at))
  const left = new Set(revoked.slice(0, -REVOKED_MAX).map(({ key }) => key))
  return keys.filter((key) => !left.has(key))
}
