import { hasLostDigits } from '../shared/contract/exact-json.ts'
import { type Checked, refuse } from '../shared/errors.ts'
import type { Project } from '../shared/registry/registry.ts'
import type { Admit, Admitted } from './admit.ts'
import {
  DEFAULT_ENVIRONMENT,
  exceeds,
  type Fields,
  isMissing,
  levelOf,
  refuseLevel,
  textOr,
  timestampOr,
} from './fields.ts'
import type { RequestContext } from './request-context.ts'
import type { Validate } from './schemas/validate.ts'

/** An entry that its schema accepts. */
interface LogEntry {
  readonly categoryName: string
  readonly eventId?: number | null
  readonly eventName?: string | null
  readonly message: string
  readonly exception?: string | null
  readonly scopeData?: Scope
  readonly correlationKey?: string | null
  readonly environment?: string | null
  readonly timestamp?: string | null
}

type Scope = Readonly<Record<string, unknown>> | null

export interface EntryCheckOptions {
  /** Most bytes of an entry as its record. */
  readonly entryBytesMax: number
  /** Whether a level that names none is replaced by Information, and kept beside it, instead of being refused. */
  readonly replaceInvalidLevel: boolean
}

export interface EntryCheckDeps extends EntryCheckOptions {
  readonly admit: Admit
  readonly validate: Validate
  /** The entry at this place of a request's body; left out where the fields that are judged have exact numbers already. */
  readonly entryAt?: (body: unknown, index: number) => Fields
}

/** Judges one entry of application logs; one that stands alone has the index 0. */
export type EntryCheck = (fields: Fields, index: number, project: Project, context: RequestContext) => Checked<Admitted>

/** The rows of specification 7.2 that concern one entry, with our own. */
export function createEntryCheck(deps: EntryCheckDeps): EntryCheck {
  const { admit, validate, entryAt, replaceInvalidLevel, entryBytesMax } = deps

  /** Scope data is kept as it was sent; where JavaScript would round a 64-bit number, the body is read again. */
  function exactScope(scope: Scope, index: number, { exactBody }: RequestContext): Scope {
    if (entryAt === undefined || !hasLostDigits(scope)) return scope
    return entryAt(exactBody(), index)['scopeData'] as Scope
  }

  return (fields, index, project, context) => {
    if (isMissing(fields['categoryName'])) return refuse('missing_category_name')
    if (isMissing(fields['message'])) return refuse('missing_message')
    const written = fields['level']
    const level = levelOf(written)
    const replaced = level === undefined && replaceInvalidLevel && typeof written === 'string' && written !== ''
    if (level === undefined && !replaced) return refuseLevel(written)
    const { message, exception, scopeData } = fields
    if (context.isLong && exceeds([message, exception, scopeData], entryBytesMax))
      return refuse('entry_too_large', { limit: entryBytesMax })
    const offenders = validate(fields)
    if (offenders !== undefined) return refuse('invalid_request', offenders)
    const entry = fields as unknown as LogEntry
    const { receivedAt } = context
    const timestamp = timestampOr(entry.timestamp, receivedAt)
    if (timestamp === undefined) return refuse('invalid_timestamp')
    const record = {
      kind: 'application' as const,
      id: context.idOf(index),
      receivedAt,
      timestamp,
      level: level ?? ('Information' as const),
      environment: textOr(entry.environment, DEFAULT_ENVIRONMENT),
      correlationKey: textOr(entry.correlationKey, null),
      team: project.team,
      project: project.id,
      categoryName: entry.categoryName,
      eventId: entry.eventId ?? 0,
      eventName: entry.eventName ?? '',
      message: entry.message,
      exception: entry.exception ?? null,
      scopeData: exactScope(entry.scopeData ?? null, index, context),
    }
    return admit(replaced ? { ...record, originalLevel: written } : record, project.id, context)
  }
}
