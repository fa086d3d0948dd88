import { parseGuid } from '../shared/contract/guid.ts'
import { type Checked, refuse } from '../shared/errors.ts'
import { presentedKey } from '../shared/http/api-key.ts'
import type { Project } from '../shared/registry/registry.ts'
import type { Admitted } from './admit.ts'
import { createEntryCheck, type EntryCheckOptions } from './application-entry.ts'
import { type Check, type CheckDeps, refuseArchived, refuseUntilReady } from './checks.ts'
import { type Fields, isMissing, isObject, refuseNoObject } from './fields.ts'
import type { Received } from './received.ts'

/** The entries of a batch, each judged by itself when it is asked for. */
export interface Entries {
  readonly count: number
  check(index: number): Checked<Admitted>
}

/** Judges a batch but for its entries. */
export type BatchCheck = (received: Received) => Checked<Entries>

export interface BatchCheckOptions extends EntryCheckOptions {
  readonly entriesMax: number
}

/** Judges an application log: the rows of specification 7.2, then our own. */
export function createApplicationLogCheck(deps: CheckDeps, options: EntryCheckOptions): Check {
  const entryAt = (body: unknown): Fields => body as Fields
  const checkEntry = createEntryCheck({ ...options, admit: deps.admit, validate: deps.validators.logEntry, entryAt })
  return (received) => {
    const target = checkTarget(received, deps)
    if (target.problem !== undefined) return target
    const { project, fields } = target.value
    const context = deps.contextOf(received, { team: project.team, endpoint: 'ApplicationLogs' })
    return checkEntry(fields, 0, project, context)
  }
}

/** Judges a batch: the rows of 7.2 that concern the whole request, its size, then each entry by itself. */
export function createBatchCheck(deps: CheckDeps, { entriesMax, ...options }: BatchCheckOptions): BatchCheck {
  const entryAt = (body: unknown, index: number): Fields => (body as Batch).logEntries[index] ?? {}
  const checkEntry = createEntryCheck({ ...options, admit: deps.admit, validate: deps.validators.batchEntry, entryAt })
  return (received) => {
    const target = checkTarget(received, deps)
    if (target.problem !== undefined) return target
    const { project, fields } = target.value
    const entries = fields['logEntries']
    if (isMissing(entries)) return refuse('missing_log_entries')
    if (!Array.isArray(entries))
      return refuse('invalid_request', [{ path: '/logEntries', message: 'must be a JSON array' }])
    if (entries.length === 0) return refuse('missing_log_entries')
    if (entries.length > entriesMax) return refuse('batch_too_large', { entries: entries.length, limit: entriesMax })
    const context = deps.contextOf(received, { team: project.team, endpoint: 'ApplicationLogs/batch' })
    const check = (index: number): Checked<Admitted> => {
      const entry: unknown = entries[index]
      return isObject(entry) ? checkEntry(entry, index, project, context) : refuseNoObject()
    }
    return { value: { count: entries.length, check } }
  }
}

/** A body whose entries were counted. */
interface Batch {
  readonly logEntries: readonly Fields[]
}

/** The entries of a body that was judged. */
export const entriesOfBatch = (json: unknown): readonly unknown[] => (json as Batch).logEntries

/** The Project that a request is for, and that its sender may write to: the rows of 7.2 up to invalid_api_key. */
function checkTarget(
  { headers, json }: Received,
  { registry, registryReady }: CheckDeps,
): Checked<{ readonly project: Project; readonly fields: Fields }> {
  if (!isObject(json)) return refuseNoObject()
  const identifier = json['uniqueIdentifier']
  if (isMissing(identifier)) return refuse('missing_project_id')
  const id = typeof identifier === 'string' ? parseGuid(identifier) : undefined
  if (id === undefined) return refuse('invalid_project_id')
  const apiKey = presentedKey(headers)
  if (apiKey === undefined) return refuse('missing_api_key')
  if (!registryReady()) return refuseUntilReady()
  const project = registry.project(id)
  if (project === undefined) return refuse('project_not_found')
  if (project.archivedAt !== undefined)
    return refuseArchived('project_not_found', 'Project', registry.keyOpens(project.team, apiKey))
  if (!registry.hasKey(project.team)) return refuse('invalid_team_config')
  if (!registry.keyOpens(project.team, apiKey)) return refuse('invalid_api_key')
  return { value: { project, fields: json } }
}
