import { parseGuid } from '../../contract/guid.ts'
import { FINGERPRINT_DIGITS, isFingerprint } from '../../fingerprint/fingerprint.ts'

/** The stored form of an id: 16 bytes for a GUID in canonical form, less than half of its text, and text for any other. */
export const storedId = (id: string): Uint8Array | string =>
  parseGuid(id) === id ? Buffer.from(id.replaceAll('-', ''), 'hex') : id

export function idText(stored: unknown): string {
  if (!(stored instanceof Uint8Array)) return String(stored)
  return parseGuid(Buffer.from(stored).toString('hex')) ?? ''
}

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
