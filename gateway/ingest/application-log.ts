import { type Checked, problemSaying, refuse, refuseFields } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import type { ApplicationLogRecord } from '../../shared/contract/records.ts'
import { presentedKey } from '../../shared/http/api-key.ts'
import { isInUse, type Project } from '../../shared/registry/registry.ts'
import type { BatchEntry } from '../schemas/requests.ts'
import type { Validate } from '../schemas/validate.ts'
import {
  type Admitted,
  type BatchCheck,
  type Check,
  type CheckDeps,
  refuseArchived,
  refuseKey,
  refuseTooMany,
  refuseUntilReady,
} from './checks.ts'
import {
  DEFAULT_ENVIRONMENT,
  exceeds,
  type Fields,
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
import type { Received, RequestContext, SentEntries } from './request.ts'

/** Checks an application log: the rows of specification 7.2, then our own. */
export function createApplicationLogCheck(deps: CheckDeps): Check {
  const checkEntry = createEntryCheck(deps, deps.validators.logEntry)
  return (received) => {
    const target = checkTarget(received, deps)
    if (target.problem !== undefined) return target
    const { project, fields } = target.value
    const context = deps.contextOf(received, { team: project.team, endpoint: 'ApplicationLogs' })
    const checked = checkEntry(fields, 0, project, context)
    return checked.problem?.code === 'missing_category_name' && Array.isArray(fields['logEntries'])
      ? refuseBatch()
      : checked
  }
}

const refuseBatch = () => ({ problem: problemSaying('missing_category_name', BATCH_ELSEWHERE) })
const BATCH_ELSEWHERE =
  'categoryName is missing or empty: this path takes one entry. Send logEntries to /api/ApplicationLogs/batch.'
const NO_LIST =
  ', not a list: send one with uniqueIdentifier, and the entries as logEntries, to /api/ApplicationLogs/batch'

/** Checks a batch: the rows of 7.2 that concern the whole request, its size, then each entry by itself. */
export function createBatchCheck(deps: CheckDeps): BatchCheck {
  const { batchEntriesMax } = deps
  const checkEntry = createEntryCheck(deps, deps.validators.batchEntry)
  return (received) => {
    const target = checkTarget(received, deps)
    if (target.problem !== undefined) return target
    const { project, fields } = target.value
    const entries = fields['logEntries']
    if (isMissing(entries)) return refuseMissing('missing_log_entries', fields, 'logEntries')
    if (!Array.isArray(entries)) return refuseFields([{ path: '/logEntries', message: 'must be a JSON array' }])
    if (entries.length === 0) return refuse('missing_log_entries')
    if (entries.length > batchEntriesMax) return refuseTooMany(batchEntriesMax, entries.length)
    const context = deps.contextOf(received, { team: project.team, endpoint: 'ApplicationLogs/batch' })
    const check = (index: number): Checked<Admitted> => {
      const entry: unknown = entries[index]
      return isObject(entry) ? checkEntry(withPlainNumbers(entry), index, project, context) : refuseNoObject()
    }
    return { value: { team: project.team, count: entries.length, check } }
  }
}

/** The entries of a checked batch, as they were sent. */
export const sentBatchEntries: SentEntries =
  ({ json }) =>
  (index) =>
    (json as { readonly logEntries: readonly unknown[] }).logEntries[index]

/** Returns the addressed Project if its sender may write to it: the rows of 7.2 up to invalid_api_key. */
function checkTarget(
  received: Received,
  { registry, registryReady }: CheckDeps,
): Checked<{ readonly project: Project; readonly fields: Fields }> {
  const { headers, json } = received
  if (!isObject(json)) return refuseNoObject(json, NO_LIST)
  const fields = withPlainNumbers(json)
  const identifier = fields['uniqueIdentifier']
  if (isMissing(identifier)) return refuseMissing('missing_project_id', fields, 'uniqueIdentifier')
  const id = typeof identifier === 'string' ? parseGuid(identifier) : undefined
  if (id === undefined) return refuse('invalid_project_id')
  const apiKey = presentedKey(headers)
  if (apiKey === undefined) return refuse('missing_api_key')
  if (!registryReady()) return refuseUntilReady()
  const project = registry.project(id)
  if (project === undefined) return refuse('project_not_found')
  if (!isInUse(project))
    return refuseArchived('project_not_found', 'This Project', registry.keyOpens(project.team, apiKey))
  if (!registry.hasKey(project.team)) return refuse('invalid_team_config')
  if (!registry.keyOpens(project.team, apiKey)) return refuseKey(registry, apiKey)
  return { value: { project, fields } }
}

/** Checks one entry of application logs; `index` is 0 for a single one. */
type EntryCheck<Result> = (fields: Fields, index: number, project: Project, context: RequestContext) => Checked<Result>

/** Checks an entry by the rows of specification 7.2 that concern one, and by our own. */
export function createEntryCheck(deps: CheckDeps, validate: Validate): EntryCheck<Admitted> {
  const { admit } = deps
  const check = createRecordCheck(deps, validate)
  return (fields, index, project, context) => {
    const record = check(fields, index, project, context)
    return record.problem === undefined ? admit(record.value, project.id, context) : record
  }
}

/** The rows of `createEntryCheck` but the last, which is the size of the record. */
export function createRecordCheck(
  { replaceInvalidLevel, entryBytesMax }: Pick<CheckDeps, 'replaceInvalidLevel' | 'entryBytesMax'>,
  validate: Validate,
): EntryCheck<ApplicationLogRecord> {
  return (fields, index, project, context) => {
    if (isMissing(fields['categoryName'])) return refuseMissing('missing_category_name', fields, 'categoryName')
    if (isMissing(fields['message'])) return refuseMissing('missing_message', fields, 'message')
    const written = fields['level']
    const level = levelOf(written)
    const replaced = level === undefined && replaceInvalidLevel && typeof written === 'string' && written !== ''
    if (level === undefined && !replaced) return refuseLevel(fields)
    const { message, exception, scopeData } = fields
    const tooLarge = context.mayExceed(entryBytesMax) && exceeds([message, exception, scopeData], entryBytesMax)
    // The levels of scope data that is too large are not counted, as a walk through all of it would hold the thread.
    const offenders = validate(tooLarge && isObject(scopeData) ? { ...fields, scopeData: null } : fields)
    if (offenders !== undefined) return refuseFields(offenders)
    const entry = fields as unknown as BatchEntry
    const { receivedAt } = context
    const timestamp = timestampOr(entry.timestamp, receivedAt)
    if (timestamp === undefined) return refuseTimestamp(entry.timestamp)
    if (tooLarge) return refuseTooLarge(context.isForeign ? {} : { message, exception, scopeData }, entryBytesMax)
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
      scopeData: entry.scopeData ?? null,
    }
    return { value: replaced ? { ...record, originalLevel: written } : record }
  }
}
