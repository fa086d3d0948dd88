import type { IncomingHttpHeaders } from 'node:http'
import type { Problem } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { presentedKey } from '../../shared/http/api-key.ts'
import type { Content } from '../../shared/http/body.ts'
import { shownPrefix } from '../../shared/registry/keys.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { type Excerpt, excerptOfJson, excerptOfText, NO_EXCERPT } from './excerpt.ts'
import type { RefusalOutbox } from './outbox.ts'
import { createShares } from './shares.ts'

/** A request of which something was refused; `json` and `content` are undefined where it was not read so far. */
export interface RefusedRequest {
  readonly headers: IncomingHttpHeaders
  readonly json?: unknown
  readonly content?: Content | undefined
}

/** A refusal of the whole request, or of the entry at a place of its batch. */
export interface Refusal {
  readonly problem: Problem
  readonly place?: {
    readonly index: number
    /** The entry as it was sent; asked for only where it is noted. */
    readonly entry: () => unknown
  }
}

/** Notes refusals of one request; never throws, and nobody waits for it. */
export type RecordRefusals = (request: RefusedRequest, refusals: readonly Refusal[]) => void

/** The same for the endpoint at a path. */
export type RefusalRecorder = (endpoint: string) => RecordRefusals

export interface RefusalRecorderDeps {
  readonly registry: Pick<Registry, 'teamOfKey' | 'team' | 'entity' | 'project'>
  readonly clock: Clock
  readonly outbox: Pick<RefusalOutbox, 'push' | 'miss'>
  /** The part of what all gateways note that is this one's; left out: all of it. */
  readonly share?: () => number
}

const IDENTIFIER_CHARACTERS_MAX = 256
const USER_AGENT_CHARACTERS_MAX = 256
/** Details beyond are left out; those of our own refusals are far shorter. */
const DETAILS_CHARACTERS_MAX = 4_096

/**
 * Notes what a Team's senders did wrong, for the Team to see. A Team's are the requests with one of its keys and, of those whose key
 * opens nothing, the ones that address what it owns. What the journal did not confirm is nothing that a sender could mend.
 */
export function createRefusalRecorder({ registry, clock, outbox, share }: RefusalRecorderDeps): RefusalRecorder {
  const mayNote = createShares(clock.now, share)

  function ownerOf({ headers, json }: RefusedRequest): string | undefined {
    const key = presentedKey(headers)
    const sender = key === undefined ? undefined : registry.teamOfKey(key)
    return (sender ?? registry.team(addressedTeam(identifierOf(json), registry) ?? ''))?.id
  }

  return (endpoint) => (request, refusals) => {
    const team = ownerOf(request)
    if (team === undefined) return
    for (const { problem, place } of refusals) {
      const { code, message, details } = problem
      if (code === 'server_error') continue
      const noted =
        mayNote(team, code) &&
        outbox.push({
          kind: 'refusal',
          team,
          at: timestampOf(clock.now()),
          endpoint,
          code,
          message,
          details: detailsOf(details),
          index: place?.index ?? null,
          identifier: identifierOf(request.json)?.slice(0, IDENTIFIER_CHARACTERS_MAX) ?? null,
          keyPrefix: keyPrefixOf(request.headers),
          userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null,
          ...excerptOf(request, place),
        })
      if (!noted) outbox.miss(team, code)
    }
  }
}

function identifierOf(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const identifier = (json as Readonly<Record<string, unknown>>)['uniqueIdentifier']
  return typeof identifier === 'string' && identifier !== '' ? identifier : undefined
}

function addressedTeam(identifier: string | undefined, registry: RefusalRecorderDeps['registry']): string | undefined {
  if (identifier === undefined) return undefined
  return (registry.entity(identifier) ?? registry.project(parseGuid(identifier) ?? ''))?.team
}

function keyPrefixOf(headers: IncomingHttpHeaders): string | null {
  const key = presentedKey(headers)
  return key === undefined ? null : shownPrefix(key)
}

const detailsOf = (details: unknown): unknown =>
  JSON.stringify(details ?? null).length > DETAILS_CHARACTERS_MAX ? null : (details ?? null)

/** Of a body in a binary format only what was read can be shown, as JSON. */
function excerptOf({ content, json }: RefusedRequest, place: Refusal['place']): Excerpt {
  if (place !== undefined) return excerptOfJson(place.entry())
  if (typeof content === 'string') return excerptOfText(content)
  return json === undefined ? NO_EXCERPT : excerptOfJson(json)
}
