import { type Checked, type Problem, problemSaying, refuse } from '../../shared/contract/errors.ts'
import { COMMON_HEADERS, ownHeaders } from '../../shared/contract/headers.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { CoreServices } from '../../shared/role.ts'
import { UNIT_BYTES_MAX } from '../../shared/runtime/utf8.ts'
import type { Publication } from '../publisher/publication.ts'
import type { Validators } from '../schemas/validate.ts'
import { type Fields, largestIn, refuseTooLarge } from './fields.ts'
import type { Dialect } from './replies.ts'
import type { Received, RequestContext, RequestContextOf } from './request.ts'

/**
 * Maximum entries per request in formats whose clients have default batch sizes of their own: 8,192 records in an OpenTelemetry Collector,
 * 1,000 events in Serilog. Also the upper limit of MAX_BATCH_ENTRIES.
 */
export const FOREIGN_ENTRIES_MAX = 10_000

/** Refuses a batch of more entries than `limit`. */
export const refuseTooMany = (limit: number, entries?: number) =>
  refuse(
    'batch_too_large',
    { ...(entries !== undefined && { entries }), limit },
    `A batch may have at most ${limit} entries${entries === undefined ? '' : `, not ${entries}`}.`,
  )

/** Dependencies and limits of the checks of every endpoint. */
export interface CheckDeps extends Pick<CoreServices, 'registry' | 'registryReady'> {
  readonly validators: Validators
  readonly contextOf: RequestContextOf
  readonly admit: Admit
  /** Maximum bytes of an entry's serialised record. */
  readonly entryBytesMax: number
  /** Maximum entries of a batch in the format of the specification. */
  readonly batchEntriesMax: number
  /** Whether an unknown level is replaced by Information, and kept beside it, instead of being refused. */
  readonly replaceInvalidLevel: boolean
  /** Names of resource attributes to keep in addition to the usual ones; they may end in `.*`. */
  readonly resourceAttributes: readonly string[]
}

/** Checks a request for one entry. */
export type Check = (received: Received) => Checked<Admitted>

/** The entries of a batch; each is checked on demand. */
export interface Entries {
  /** The id of the sending Team. */
  readonly team: string
  readonly count: number
  /** Throws a `ProblemError` if the entry shows that the whole request is to be refused. */
  check(index: number): Checked<Admitted>
  /** The dialect of the answer, if it differs from the endpoint's. */
  readonly dialect?: Dialect | undefined
}

/** Checks everything about a batch except its entries. */
export type BatchCheck = (received: Received) => Checked<Entries>

/**
 * Refuses an archived target as if it did not exist, so that a key of another Team learns nothing more. A key of its own Team (`isOwner`)
 * is told why; `what` is what it has to restore.
 */
export function refuseArchived(
  code: 'entity_not_found' | 'project_not_found',
  what: string,
  isOwner: boolean,
): { readonly problem: Problem } {
  const message = `${what} is archived and takes no more logs. Restore it in the Team's settings, or send to another.`
  return isOwner ? { problem: problemSaying(code, message) } : refuse(code)
}

/** Refuses a key that does not open the target's Team. */
export const refuseKey = (registry: Registry, apiKey: string) =>
  refuse('invalid_api_key', null, registry.formerTeamOfKey(apiKey) === undefined ? undefined : 'The key was revoked.')

export const refuseUntilReady = () =>
  refuse('server_error', { outcome: 'not_written' }, 'The registry is still being read.')

/** Upper bound for a record's header names and constant header values, its ids and times, and its framing. */
const RECORD_OVERHEAD_BYTES = 512

/** Smaller records are taken by any topic, unless its limit was set for tests. */
const LARGE_BYTES = 64 * 1024

/** An entry that may be published. */
export interface Admitted {
  readonly id: string
  /** The id of its Team. */
  readonly team: string
  readonly publication: Publication
}

interface AdmitOptions {
  /** Maximum bytes of a record's value. */
  readonly valueBytesMax: number
  /** Whether the key is used so often that its records have to be spread over the partitions. Called once for each record. */
  readonly isHot: (key: string) => boolean
}

/** A record that is JSON already, with an upper bound of its bytes. Its entry was in another format. */
export interface WrittenRecord extends Pick<EntryRecord, 'kind' | 'id' | 'timestamp' | 'correlationKey' | 'team'> {
  readonly json: string
  readonly jsonBytes: number
}

/** The last check of an entry: makes its record ready for the topic unless it is too large. `subject` is the `ce_subject` header. */
type Admit = (record: EntryRecord | WrittenRecord, subject: string, context: RequestContext) => Checked<Admitted>

export function createAdmit({ valueBytesMax, isHot }: AdmitOptions): Admit {
  function written(record: EntryRecord, { isAscii }: RequestContext): Pick<WrittenRecord, 'json' | 'jsonBytes'> {
    // The record is serialised only here: this text is measured, published and stored.
    const json = JSON.stringify(record)
    const most = isAscii ? asciiBytes(json, record) : undefined
    return { json, jsonBytes: most !== undefined && most <= valueBytesMax ? most : Buffer.byteLength(json) }
  }

  return (record, subject, context) => {
    const { json, jsonBytes } = 'json' in record ? record : written(record, context)
    const isOurs = !('json' in record || context.isForeign)
    if (jsonBytes > valueBytesMax) return refuseTooLarge(isOurs ? sentIn(record) : {}, valueBytesMax, jsonBytes)
    const { kind, id, timestamp, correlationKey } = record
    const { repeatKey, traceparent } = context
    const hot = correlationKey !== null && isHot(correlationKey)
    const key = hot ? null : correlationKey
    const originalKey = hot ? correlationKey : null
    const headers = ownHeaders({ id, subject, time: timestamp, key, originalKey, traceparent })
    // The record holds the key twice: as its key and in a header.
    const variableUnits = subject.length + 2 * (correlationKey?.length ?? 0)
    const publication = {
      record: { key, value: json, headers, commonHeaders: COMMON_HEADERS[kind] },
      bytes: jsonBytes + RECORD_OVERHEAD_BYTES + UNIT_BYTES_MAX * variableUnits,
      // A resent entry goes to the same partition as before, so that a reader meets all its copies in one place.
      routeBy: key ?? repeatKey,
      largest: isOurs && jsonBytes > LARGE_BYTES ? largestIn(sentIn(record), valueBytesMax) : undefined,
    }
    return { value: { id, team: record.team, publication } }
  }
}

/** The fields that the sender of a record wrote, by its names; all others that it sent are not in the record. */
function sentIn(record: EntryRecord): Fields {
  const { environment, correlationKey } = record
  if (record.kind === 'event') return { payload: record.payload, environment, correlationKey }
  const { categoryName, eventName, message, exception, scopeData, originalLevel: level } = record
  return { categoryName, eventName, message, level, exception, scopeData, environment, correlationKey }
}

/** Upper bound for a record made of ASCII and of registry names, which may be non-ASCII; counting would take longer than serialising. */
function asciiBytes(value: string, record: EntryRecord): number {
  const event = record.kind === 'event' ? record.event : null
  return value.length + (UNIT_BYTES_MAX - 1) * (record.team.length + (event?.length ?? 0))
}
