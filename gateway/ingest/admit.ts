import { type Checked, refuse } from '../../shared/contract/errors.ts'
import { COMMON_HEADERS, ownHeaders } from '../../shared/contract/headers.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { UNIT_BYTES_MAX } from '../../shared/runtime/utf8.ts'
import type { Publication } from '../publisher/publication.ts'
import type { RequestContext } from './request.ts'

/** Upper bound for a record's header names and constant header values, its ids and times, and its framing. */
const RECORD_OVERHEAD_BYTES = 512

/** An entry that may be published. */
export interface Admitted {
  readonly id: string
  /** The id of its Team. */
  readonly team: string
  readonly publication: Publication
}

export interface AdmitOptions {
  /** Maximum bytes of a record's value. */
  readonly valueBytesMax: number
  /** Whether the key is used so often that its records have to be spread over the partitions. Called once for each record. */
  readonly isHot: (key: string) => boolean
}

/** The last check of an entry: makes its record ready for the topic unless it is too large. `subject` is the `ce_subject` header. */
export type Admit = (record: EntryRecord, subject: string, context: RequestContext) => Checked<Admitted>

export function createAdmit({ valueBytesMax, isHot }: AdmitOptions): Admit {
  return (record, subject, { repeatKey, traceparent, isAscii }) => {
    // The record is serialised only here: this text is measured, published and stored.
    const value = JSON.stringify(record)
    let valueBytes = isAscii ? asciiBytes(value, record) : Buffer.byteLength(value)
    if (valueBytes > valueBytesMax) {
      valueBytes = Buffer.byteLength(value)
      if (valueBytes > valueBytesMax) return refuse('entry_too_large', { bytes: valueBytes, limit: valueBytesMax })
    }
    const { kind, id, timestamp, correlationKey } = record
    const hot = correlationKey !== null && isHot(correlationKey)
    const key = hot ? null : correlationKey
    const originalKey = hot ? correlationKey : null
    const headers = ownHeaders({ id, subject, time: timestamp, key, originalKey, traceparent })
    // The record holds the key twice: as its key and in a header.
    const variableUnits = subject.length + 2 * (correlationKey?.length ?? 0)
    const publication = {
      record: { key, value, headers, commonHeaders: COMMON_HEADERS[kind] },
      bytes: valueBytes + RECORD_OVERHEAD_BYTES + UNIT_BYTES_MAX * variableUnits,
      // A resent entry goes to the same partition as before, so that a reader meets all its copies in one place.
      routeBy: key ?? repeatKey,
    }
    return { value: { id, team: record.team, publication } }
  }
}

/** Upper bound for a record made of ASCII and of registry names, which may be non-ASCII; counting would take longer than serialising. */
function asciiBytes(value: string, record: EntryRecord): number {
  const event = record.kind === 'event' ? record.event : null
  return value.length + (UNIT_BYTES_MAX - 1) * (record.team.length + (event?.length ?? 0))
}
