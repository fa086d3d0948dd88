import { parseGuid } from '../../contract/guid.ts'
import { FINGERPRINT_DIGITS, isFingerprint } from '../../fingerprint/fingerprint.ts'

/** The stored form of an id: 16 bytes for a GUID in canonical form, less than half of its text, and text for any other. */
export const storedId = (id: string): Uint8Array | string =>
  parseGuid(id) === id ? Buffer.from(id.replaceAll('-', ''), 'hex') : id

export function idText(stored: unknown): string {
  if (!(stored instanceof Uint8Array)) return String(stored)
  return parseGuid(Buffer.from(stored).toString('hex')) ?? ''
}

/**
 * The part of an id that its index has, in SQL: seven bytes of a GUID, and the whole of any other id. In a UUIDv7 these are its time, without
 * the bits that change every 34 years, and its place in the millisecond, so that the index grows at its end; in an id that is derived from an
 * `Idempotency-Key` they are 52 bits of a hash (gateway/ingest/ids.ts). So hardly two ids share them, and no client can make many that do.
 */
const indexedPart = (id: string): string => `iif(typeof(${id}) = 'blob', substr(${id}, 2, 7), ${id})`
export const INDEXED_ID = indexedPart('id')

/** The condition that the index `entries_by_id` finds `e` by, with `idParameters`; that of an older file has whole ids. */
export const HAS_ID = `${indexedPart('e.id')} = ? AND e.id = ?`

export const idParameters = (stored: Uint8Array | string) =>
  [typeof stored === 'string' ? stored : stored.subarray(1, 8), stored] as const

/** A fingerprint as a number; null, which equals nothing, for any other text. */
export const storedFingerprint = (id: string | null): number | null =>
  id === null || !isFingerprint(id) ? null : Number.parseInt(id, 16)

export const fingerprintText = (stored: unknown): string =>
  Number(stored).toString(16).padStart(FINGERPRINT_DIGITS, '0')

const HEX = 'lower(hex(e.id))'

/** The text of `e.id`, in SQL. */
export const ID_TEXT = `CASE typeof(e.id) WHEN 'blob' THEN ${[
  [1, 8],
  [9, 4],
  [13, 4],
  [17, 4],
  [21, 12],
]
  .map(([from, length]) => `substr(${HEX}, ${from}, ${length})`)
  .join(" || '-' || ")} ELSE e.id END`
