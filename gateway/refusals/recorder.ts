import type { IncomingHttpHeaders } from 'node:http'
import type { Problem } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { PROJECT_HEADER, presentedKey } from '../../shared/http/api-key.ts'
import type { Content } from '../../shared/http/body.ts'
import { shownPrefix } from '../../shared/registry/keys.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { type Excerpt, excerptOfJson, excerptOfText, NO_EXCERPT } from './excerpt.ts'
import type { RefusalOutbox } from './outbox.ts'
import { createShares } from './shares.ts'

/** A request that was refused, wholly or in part; `json` and `content` are undefined if reading did not get that far. */
export interface RefusedRequest {
  readonly headers: IncomingHttpHeaders
  readonly json?: unknown
  readonly content?: Content | undefined
  /** The identifier that it addresses, where its `json` is no longer kept. */
  readonly identifier?: string | undefined
}

/** The request as far as it can be kept while the journal writes: with its body, those that wait would fill the memory. */
export const withoutBody = ({ headers, json }: RefusedRequest): RefusedRequest => ({
  headers,
  identifier: identifierOf(json),
})

/** A refusal of the whole request, or of the entry at a place of its batch. */
export interface Refusal {
  readonly problem: Problem
  readonly place?: {
    readonly index: number
    /** Returns the entry as it was sent, undefined if it is no longer known; called only if the refusal is noted. */
    readonly entry: () => unknown
  }
}

/** Notes refusals of one request; never throws, and nobody waits for it. */
export type RecordRefusals = (request: RefusedRequest, refusals: readonly Refusal[]) => void

/** The same for the endpoint at a path. */
export type RefusalRecorder = (endpoint: string) => RecordRefusals

interface RefusalRecorderDeps {
  readonly registry: Pick<Registry, 'teamOfKey' | 'formerTeamOfKey' | 'team' | 'entity' | 'project'>
  readonly clock: Clock
  readonly outbox: Pick<RefusalOutbox, 'push' | 'miss'>
  /** This gateway's share of the notes of all gateways, from 0 to 1; default 1. */
  readonly share?: () => number
}

const IDENTIFIER_CHARACTERS_MAX = 256
const USER_AGENT_CHARACTERS_MAX = 256
/** Longer details are left out; those of our own refusals are far shorter. */
const DETAILS_CHARACTERS_MAX = 4_096

/**
 * Notes the mistakes of a Team's senders, for the Team to see. A request belongs to the Team of its key, revoked or not, or if that key is
 * unknown, to the owner of what it addresses. Failures of the journal are not noted, as senders cannot fix them.
 */
export function createRefusalRecorder({ registry, clock, outbox, share }: RefusalRecorderDeps): RefusalRecorder {
  const mayNote = createShares(clock.now, share)

  function ownerOf(headers: IncomingHttpHeaders, identifier: string | undefined): string | undefined {
    const key = presentedKey(headers)
    const sender = key === undefined ? undefined : (registry.teamOfKey(key) ?? registry.formerTeamOfKey(key))
    const addressed = identifier ?? headers[PROJECT_HEADER]?.toString()
    return (sender ?? registry.team(addressedTeam(addressed, registry) ?? ''))?.id
  }

  return (endpoint) => (request, refusals) => {
    const identifier = request.identifier ?? identifierOf(request.json)
    const team = ownerOf(request.headers, identifier)
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
          identifier: identifier?.slice(0, IDENTIFIER_CHARACTERS_MAX) ?? null,
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

/** A body in a binary format can only be shown as the JSON that was read from it. */
function excerptOf({ content, json }: RefusedRequest, place: Refusal['place']): Excerpt {
  if (place !== undefined) {
    const entry = place.entry()
    return entry === undefined ? NO_EXCERPT : excerptOfJson(entry)
  }
  if (typeof content === 'string') return excerptOfText(content)
  return json === undefined ? NO_EXCERPT : excerptOfJson(json)
}
