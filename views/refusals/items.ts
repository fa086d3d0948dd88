import { createNearest } from '../../shared/nearest.ts'
import { isInUse, type Registry } from '../../shared/registry/registry.ts'
import { curlTo } from '../details/curl.ts'
import type { EntityRef, Refusal, RefusedCount } from '../schemas/answers.ts'
import type { KeptRefusal, RefusalsReader } from './ring.ts'

/** The Team's refusals with the nearest known identifiers, and with commands that retry. */
export function refusalItems(kept: readonly KeptRefusal[], registry: Registry, team: string): readonly Refusal[] {
  const nearestOf = createNearestOf(registry, team)
  const commandOf = createCommands()
  return kept.map(({ id, noted, unnoted }) => {
    const { kind: _kind, team: _team, ...rest } = noted
    const nearest = nearestOf(noted)
    return { id, ...rest, nearest, unnoted, curl: commandOf({ ...rest, nearest }) }
  })
}

/** Maximum number of groups, each of one client, key, endpoint and code; the rarest are omitted. */
const COUNTED_MAX = 20

/** The Team's refusals counted by client, key, endpoint and code, most frequent first; null until they are read. */
export function refusedCounts(refusals: RefusalsReader, team: string): readonly RefusedCount[] | null {
  const kept = refusals.of(team)
  if (kept === undefined) return null
  const groups = Map.groupBy(kept, ({ noted: { userAgent, keyPrefix, endpoint, code } }) =>
    JSON.stringify([userAgent, keyPrefix, endpoint, code]),
  )
  return [...groups.values()]
    .flatMap((group) => (group[0] === undefined ? [] : [countOf(group[0], group)]))
    .sort((one, other) => other.count - one.count)
    .slice(0, COUNTED_MAX)
}

function countOf({ noted: { userAgent, keyPrefix, endpoint, code, at } }: KeptRefusal, group: readonly KeptRefusal[]) {
  const count = group.reduce((sum, { unnoted }) => sum + 1 + unnoted, 0)
  return { userAgent, keyPrefix, endpoint, code, count, lastAt: at }
}

function createNearestOf(registry: Registry, team: string): (noted: KeptRefusal['noted']) => EntityRef | null {
  const entity = createNearest(
    () => [...registry.eventsOf(team), ...registry.stepsOf(team)].filter(isInUse).map(refOf),
    identifierOf,
  )
  const project = createNearest(
    () =>
      registry
        .projectsOf(team)
        .filter(isInUse)
        .map(({ id, name }) => ({ identifier: id, name })),
    identifierOf,
  )
  return ({ code, identifier }) => {
    if (identifier === null) return null
    if (code === 'entity_not_found') return entity(identifier) ?? null
    return code === 'project_not_found' || code === 'invalid_project_id' ? (project(identifier) ?? null) : null
  }
}

const refOf = ({ identifier, name }: EntityRef): EntityRef => ({ identifier, name })

const identifierOf = ({ identifier }: EntityRef): string => identifier

/**
 * How much longer than their bodies the commands of one answer may be in total, since escaping determines their size. Bodies full of quotes
 * and control characters may go without a command; ordinary ones always have one.
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

const BATCH = '/api/ApplicationLogs/batch'

/** The parts of a refusal that its command is built from. */
type Refused = Pick<Refusal, 'endpoint' | 'body' | 'bodyCut' | 'index' | 'identifier' | 'nearest'>

/**
 * The refused entry as a request of its own, with the nearest known identifier if there is one; null if the entry is incomplete: it was
 * cut, or belongs to a batch in another format than Sluice's.
 */
export function bodyToTry({ endpoint, body, bodyCut, index, identifier, nearest }: Refused): string | null {
  if (body === null || bodyCut || (index !== null && endpoint !== BATCH)) return null
  if (index !== null) return `{"uniqueIdentifier":${JSON.stringify(identifier)},"logEntries":[${body}]}`
  if (nearest === null || identifier === null) return body
  return withIdentifier(body, nearest.identifier)
}

/** A JSON string, with the following colon if it is a member name, or a bracket; nothing else has structure. */
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g

/** Replaces the `uniqueIdentifier` of a JSON object and leaves everything else as written. */
function withIdentifier(body: string, identifier: string): string {
  let result = ''
  let copied = 0
  let depth = 0
  let name = ''
  for (const { 0: token, 1: text, 2: colon, index } of body.matchAll(TOKENS)) {
    if (text === undefined) depth += token === '{' || token === '[' ? 1 : -1
    else if (depth === 1 && colon !== undefined) name = JSON.parse(text)
    else if (depth === 1 && name === 'uniqueIdentifier') {
      result += body.slice(copied, index) + JSON.stringify(identifier)
      copied = index + text.length
    }
  }
  return result + body.slice(copied)
}

/** The command that retries; null if there is nothing to send, or it does not fit into a command. */
export function curlToTry(refused: Refused): string | null {
  const body = bodyToTry(refused)
  return body === null ? null : curlTo(refused.endpoint, body)
}
