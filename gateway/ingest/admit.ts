import { type Checked, refuse } from '../../shared/contract/errors.ts'
import { COMMON_HEADERS, ownHeaders } from '../../shared/contract/headers.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { UNIT_BYTES_MAX } from '../../shared/runtime/utf8.ts'
import type { Publication } from '../publisher/publication.ts'
import type { RequestContext } from './request.ts'

/** The headers' names and constant values, the ids and times, and the framing of a record: at most so many bytes. */
const RECORD_OVERHEAD_BYTES = 512

/** An entry that may be published. */
export interface Admitted {
  readonly id: string
  /** The id of its Team. */
  readonly team: string
  readonly publication: Publication
}

export interface AdmitOptions {
  /** Most bytes of a record's value. */
  readonly valueBytesMax: number
  /** Whether the key is used so often that its records have to be spread over the partitions. Called once for each record. */
  readonly isHot: (key: string) => boolean
}

/** The last check of an entry: makes the record ready for its topic, if it is not too large. `subject` is what was addressed. */
export type Admit = (record: EntryRecord, subject: string, context: RequestContext) => Checked<Admitted>

export function createAdmit({ valueBytesMax, isHot }: AdmitOptions): Admit {
  return (record, subject, { repeatKey, traceparent, isAscii }) => {
    // The only time that a record is serialised: this text is measured, published and stored.
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
    // The key stands in the record twice: as its key and in a header.
    const variableUnits = subject.length + 2 * (correlationKey?.length ?? 0)
    const publication = {
      record: { key, value, headers, commonHeaders: COMMON_HEADERS[kind] },
      bytes: valueBytes + RECORD_OVERHEAD_BYTES + UNIT_BYTES_MAX * variableUnits,
      // An entry that may be sent again goes to the same partition again, so that a reader meets the repeats in one place.
      routeBy: key ?? repeatKey,
    }
    return { value: { id, team: record.team, publication } }
  }
}

/** The bytes of a record that was made of ASCII and of what the registry says, at most: counting them would take longer than writing them. */
function asciiBytes(value: string, record: EntryRecord): number {
  const event = record.kind === 'event' ? record.event : null
  return value.length + (UNIT_BYTES_MAX - 1) * (record.team.length + (event?.length ?? 0))
}
