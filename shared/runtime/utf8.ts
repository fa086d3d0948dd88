/** Content on its way into a buffer: text, which becomes UTF-8, or bytes. */
export type Content = string | Uint8Array

/** A UTF-16 code unit takes at most so many bytes in UTF-8. */
export const UNIT_BYTES_MAX = 3

/** The bytes that the content takes at most, without counting them. */
export const mostBytes = (content: Content | null): number => {
  if (content === null) return 0
  return typeof content === 'string' ? content.length * UNIT_BYTES_MAX : content.length
}

/** The buffer, or a larger one that begins with the same `used` bytes, where there is no room for so many more. */
export function withRoom(buffer: Buffer<ArrayBuffer>, used: number, bytes: number): Buffer<ArrayBuffer> {
  if (used + bytes <= buffer.length) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, used + bytes))
  buffer.copy(larger, 0, 0, used)
  return larger
}
