import type { NewRecord } from './journal.ts'

/** Brokers refuse a batch of more than 1 MiB by default. */
const APPEND_BYTES_MAX = 500_000
const APPEND_RECORDS_MAX = 500

/** The records, in order, in batches that fit into one append. */
export function batchesOf(records: readonly NewRecord[]): NewRecord[][] {
  const batches: NewRecord[][] = []
  let room = 0
  for (const record of records) {
    const bytes = bytesOf(record.key) + bytesOf(record.value)
    const last = batches.at(-1)
    if (last === undefined || last.length >= APPEND_RECORDS_MAX || bytes > room) {
      batches.push([record])
      room = APPEND_BYTES_MAX - bytes
    } else {
      last.push(record)
      room -= bytes
    }
  }
  return batches
}

const bytesOf = (part: string | Uint8Array | null): number => (part === null ? 0 : Buffer.byteLength(part))
