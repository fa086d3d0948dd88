import { isUtf8 } from 'node:buffer'
import type { Headers, JournalRecord, NewRecord } from '../journal.ts'

/** A record as it is read from the table: offset, milliseconds since 1970, key, value, headers as JSON. */
export type StoredRecord = readonly [number, number, Uint8Array | null, Uint8Array | null, string]

/** What a record's row is made of, and the bytes that it counts for. */
export interface EncodedRecord {
  readonly key: string | Uint8Array | null
  readonly value: string | Uint8Array | null
  readonly headers: string
  readonly bytes: number
}

export function encodeRecord({ key, value, headers }: NewRecord): EncodedRecord {
  const text = encodeHeaders(headers)
  return {
    key: bindable(key),
    value: bindable(value),
    headers: text,
    bytes: sizeOf(key) + sizeOf(value) + sizeOf(text),
  }
}

const sizeOf = (content: string | Uint8Array | null): number => (content === null ? 0 : Buffer.byteLength(content))

/** An array without bytes would be bound as NULL. */
const bindable = (content: string | Uint8Array | null): string | Uint8Array | null =>
  content !== null && content.length === 0 ? '' : content

/** JSON with text as it is and other bytes as an array of one base64 text. */
export function encodeHeaders(headers: Headers): string {
  for (const value of Object.values(headers)) {
    if (typeof value !== 'string') return JSON.stringify(withBytesEncoded(headers))
  }
  return JSON.stringify(headers)
}

const withBytesEncoded = (headers: Headers): object =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : encodeBytes(value)]),
  )

function encodeBytes(bytes: Uint8Array): string | readonly [string] {
  const buffer = asBuffer(bytes)
  return isUtf8(buffer) ? buffer.toString() : [buffer.toString('base64')]
}

export function decodeHeaders(text: string): Headers {
  const headers = JSON.parse(text) as Record<string, string | Uint8Array | readonly [string]>
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) headers[name] = Buffer.from(value[0], 'base64')
  }
  return headers as Headers
}

export function decodeRecord(topic: string, partition: number, stored: StoredRecord): JournalRecord {
  const [offset, appendedAt, key, value, headers] = stored
  return {
    topic,
    partition,
    offset,
    appendedAt,
    key: key && asBuffer(key),
    value: value && asBuffer(value),
    headers: decodeHeaders(headers),
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
