import { type Problem, refuse } from '../errors.ts'

/** A body for which the budget has no room is refused; nothing of it was written, and sent again later it may find some. */
export const refuseForRoom = (): { readonly value?: undefined; readonly problem: Problem } =>
  refuse('server_error', { outcome: 'not_written' }, 'Too many bytes of request bodies are being read.')

/** Bytes that a piece counts for at least: it is an object too, and a body can be sent in pieces of one byte. */
const PIECE_BYTES_MIN = 512

/** What a piece of a body takes of a budget. */
export const heldBy = (piece: Buffer): number => Math.max(piece.length, PIECE_BYTES_MIN)

/** What pieces of a body take of a budget together. */
export function heldByAll(pieces: readonly Buffer[]): number {
  let held = 0
  for (const piece of pieces) held += heldBy(piece)
  return held
}

/** How many bytes the pieces of a body have. */
export function bytesOf(pieces: readonly Buffer[]): number {
  let bytes = 0
  for (const piece of pieces) bytes += piece.length
  return bytes
}

/** The bytes of a body in one piece of its own. */
export function inOne(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
}
