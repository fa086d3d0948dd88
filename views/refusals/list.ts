import { successBody } from '../../shared/http/answer.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Answer } from '../api/call.ts'
import type { EntityRef } from '../flow-layout/types.ts'
import { type Fact, factsOf } from './facts.ts'
import { createNearest } from './nearest.ts'
import { curlToTry } from './retry-curl.ts'
import type { KeptRefusal } from './ring.ts'

/** A refusal as the read API shows it. */
export type RefusalItem = Omit<KeptRefusal['noted'], 'kind' | 'team'> & {
  readonly id: string
  readonly unnoted: number
  /** What is wrong, place by place, and what was sent by whom: for readers. */
  readonly facts: readonly Fact[]
  /** What the identifier, where nothing has it, most likely stands for; a Project by its id. */
  readonly nearest: EntityRef | null
  /** The command that sends it again, with the nearest identifier where there is one; null where not all of it was kept, or it makes no command. */
  readonly curl: string | null
}

/** The Team's last refusals, the last one first. */
export const listRefusals: Answer = async ({ team, values }, { registry, refusals }) => {
  const { code, limit } = values
  const kept = refusals.of(team).filter(({ noted }) => code === null || noted.code === code)
  const entity = createNearest(() => entitiesOf(registry, team), identifierOf)
  const project = createNearest(() => projectsOf(registry, team), identifierOf)
  const nearestOf = ({ noted: { code, identifier } }: KeptRefusal): EntityRef | null => {
    if (identifier === null) return null
    if (code === 'entity_not_found') return entity(identifier) ?? null
    return code === 'project_not_found' || code === 'invalid_project_id' ? (project(identifier) ?? null) : null
  }
  const commandOf = createCommands()
  return successBody({ items: kept.slice(0, limit).map((one) => itemOf(one, nearestOf(one), commandOf)) })
}

/**
 * How much longer than the bodies the commands of one answer may be. That is what they cost by: of bodies that are all quotes and
 * control characters not every one needs a command, and of others every one has it.
 */
const ESCAPES_MAX = 256 * 1024

function createCommands(): typeof curlToTry {
  let left = ESCAPES_MAX
  return (refused) => {
    if (left < 0) return null
    const command = curlToTry(refused)
    left -= (command?.length ?? 0) - (refused.body?.length ?? 0)
    return command
  }
}

const identifierOf = ({ identifier }: EntityRef): string => identifier

const entitiesOf = (registry: Registry, team: string): readonly EntityRef[] =>
  [...registry.eventsOf(team), ...registry.stepsOf(team)]
    .filter(isInUse)
    .map(({ identifier, name }) => ({ identifier, name }))

const projectsOf = (registry: Registry, team: string): readonly EntityRef[] =>
  registry
    .projectsOf(team)
    .filter(isInUse)
    .map(({ id, name }) => ({ identifier: id, name }))

const isInUse = ({ archivedAt }: { readonly archivedAt?: string }): boolean => archivedAt === undefined

function itemOf(
  { id, noted, unnoted }: KeptRefusal,
  nearest: EntityRef | null,
  commandOf: typeof curlToTry,
): RefusalItem {
  const { kind: _kind, team: _team, ...rest } = noted
  return { id, ...rest, facts: factsOf(rest), nearest, unnoted, curl: commandOf({ ...rest, nearest }) }
}
