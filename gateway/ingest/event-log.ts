import { ERRORS, problemSaying, refuse, refuseFields } from '../../shared/contract/errors.ts'
import { presentedKey } from '../../shared/http/api-key.ts'
import { isLong } from '../../shared/http/body.ts'
import { type Entity, isInUse, type Registry } from '../../shared/registry/registry.ts'
import type { ExternalLog } from '../schemas/requests.ts'
import { type Check, type CheckDeps, refuseArchived, refuseKey, refuseUntilReady } from './checks.ts'
import {
  DEFAULT_ENVIRONMENT,
  exceeds,
  isMissing,
  isObject,
  levelOf,
  refuseLevel,
  refuseMissing,
  refuseNoObject,
  refuseTimestamp,
  refuseTooLarge,
  textOr,
  timestampOr,
  withPlainNumbers,
} from './fields.ts'

/** Specification 7.1 answers any wrong key with invalid_api_key. Here the remedy of that code, a live key, does not exist. */
const KEYLESS = `The Team of this Event or Step has no key configured. ${ERRORS.invalid_team_config.remedy}`

/** Checks an event log: the rows of specification 7.1 from top to bottom, then our own. */
export function createEventLogCheck(deps: CheckDeps): Check {
  const { registry, registryReady, validators, contextOf, admit, entryBytesMax } = deps
  return (received) => {
    const { headers, json } = received
    const apiKey = presentedKey(headers)
    if (apiKey === undefined) return refuse('missing_api_key')
    if (!isObject(json)) return refuseNoObject(json, ', not a list: send each event log in a request')
    const fields = withPlainNumbers(json)
    const identifier = fields['uniqueIdentifier']
    if (isMissing(identifier)) return refuseMissing('missing_identifier', fields, 'uniqueIdentifier')
    if (isMissing(fields['payload'])) return refuseMissing('missing_payload', fields, 'payload')
    const level = levelOf(fields['level'])
    if (level === undefined) return refuseLevel(fields)
    if (!registryReady()) return refuseUntilReady()
    if (typeof identifier !== 'string') return refuseFields(validators.externalLog(fields) ?? [])
    const entity = registry.entity(identifier)
    if (entity === undefined) return refuse('entity_not_found')
    if (!isInUse(entity))
      return refuseArchived('entity_not_found', archivedOf(entity, registry), registry.keyOpens(entity.team, apiKey))
    const team = registry.team(entity.team)
    if (team === undefined) return refuse('team_not_found')
    if (!registry.keyOpens(team.id, apiKey))
      return registry.hasKey(team.id)
        ? refuseKey(registry, apiKey)
        : { problem: problemSaying('invalid_api_key', KEYLESS) }
    const offenders = validators.externalLog(fields)
    if (offenders !== undefined) return refuseFields(offenders)
    const log = fields as unknown as ExternalLog
    const context = contextOf(received, { team: team.id, endpoint: 'ExternalLogs' })
    const { receivedAt } = context
    const timestamp = timestampOr(log.timestamp, receivedAt)
    if (timestamp === undefined) return refuseTimestamp(log.timestamp)
    if (isLong(received.content) && exceeds(log.payload, entryBytesMax))
      return refuseTooLarge({ payload: log.payload }, entryBytesMax)
    const record = {
      kind: 'event' as const,
      id: context.idOf(0),
      receivedAt,
      timestamp,
      level,
      environment: textOr(log.environment, DEFAULT_ENVIRONMENT),
      correlationKey: textOr(log.correlationKey, null),
      team: team.id,
      event: eventOf(entity),
      step: entity.kind === 'step' ? entity.identifier : null,
      payload: log.payload,
    }
    return admit(record, identifier, context)
  }
}

/** The archived item to restore, in words: a Step is archived with its Event, and not restored without it. */
function archivedOf(entity: Entity, registry: Registry): string {
  if (entity.kind === 'event') return 'This Event'
  const event = entity.event === null ? undefined : registry.entity(entity.event)
  return event?.archivedAt === undefined ? 'This Step' : 'The Event of this Step'
}

/** The addressed Event, or the Event of the addressed Step. */
const eventOf = (entity: Entity): string | null => (entity.kind === 'event' ? entity.identifier : entity.event)
