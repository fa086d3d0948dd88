import { isUtf8 } from 'node:buffer'
import type { RecordsBatch } from '@platformatic/kafka'
import type { Headers, JournalRecord } from '../journal.ts'

/** Bits of a batch's attributes (kafka.apache.org/documentation, "Record Batch"). */
const LOG_APPEND_TIME = 1 << 3
const CONTROL = 1 << 5

export interface Decoded {
  readonly records: readonly JournalRecord[]
  /** The position after all that the answer covers, also where it held no record for a reader. */
  readonly next: number
}

/**
 * The records of a fetch answer from a position on. A broker sends whole batches, so the first may begin earlier; the markers that
 * end transactions take an offset and are no records.
 */
export function decodeBatches(
  topic: string,
  partition: number,
  batches: readonly RecordsBatch[],
  position: number,
): Decoded {
  const records: JournalRecord[] = []
  const texts = createTexts()
  let next = position
  for (const batch of batches) {
    const first = Number(batch.firstOffset)
    const end = first + batch.lastOffsetDelta + 1
    if (end <= next) continue
    if ((batch.attributes & CONTROL) === 0) {
      const firstTimestamp = Number(batch.firstTimestamp)
      const logAppendTime = (batch.attributes & LOG_APPEND_TIME) === 0 ? null : Number(batch.maxTimestamp)
      for (const { offsetDelta, timestampDelta, key, value, headers } of batch.records) {
        const offset = first + offsetDelta
        if (offset < next) continue
        const appendedAt = logAppendTime ?? firstTimestamp + Number(timestampDelta)
        records.push({ topic, partition, offset, appendedAt, key, value, headers: decodeHeaders(headers, texts) })
      }
    }
    next = end
  }
  return { records, next }
}

/** Of headers with one name the last counts; a null value is read as the empty text. */
function decodeHeaders(entries: readonly (readonly [Buffer | null, Buffer | null])[], texts: Texts): Headers {
  const headers: Record<string, string | Uint8Array> = {}
  for (const [index, [name, value]] of entries.entries()) {
    const key = String(texts(2 * index, name))
    const text = texts(2 * index + 1, value)
    // A header named __proto__ must be a header, not a prototype.
    if (key === '__proto__') Object.defineProperty(headers, key, { value: text, enumerable: true, configurable: true })
    else headers[key] = text
  }
  return headers
}

/** The text of bytes that stand at a place of a record, or the bytes where they are no UTF-8; the empty text for none. */
type Texts = (place: number, bytes: Buffer | null) => string | Buffer

/** Records that follow each other have the same headers but for some values, so a text is made anew only where its bytes differ. */
function createTexts(): Texts {
  const last: { readonly bytes: Buffer; readonly text: string | Buffer }[] = []
  return (place, bytes) => {
    if (bytes === null) return ''
    const before = last[place]
    if (before?.bytes.equals(bytes)) return before.text
    const text = isUtf8(bytes) ? bytes.toString('utf8') : bytes
    last[place] = { bytes, text }
    return text
  }
}
