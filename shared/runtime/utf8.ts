/** Content to be written to a buffer: text, which becomes UTF-8, or bytes. */
export type Content = string | Uint8Array

/** Maximum bytes of a UTF-16 code unit in UTF-8. */
export const UNIT_BYTES_MAX = 3

/** An upper bound of the bytes of the content, without counting them. */
export const mostBytes = (content: Content | null): number => {
  if (content === null) return 0
  return typeof content === 'string' ? content.length * UNIT_BYTES_MAX : content.length
}

/** The bytes as a Buffer, not copied. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The buffer, or a larger one with the same first `used` bytes if it has no room for `bytes` more. */
export function withRoom(buffer: Buffer<ArrayBuffer>, used: number, bytes: number): Buffer<ArrayBuffer> {
  if (used + bytes <= buffer.length) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, used + bytes))
  buffer.copy(larger, 0, 0, used)
  return larger
}
