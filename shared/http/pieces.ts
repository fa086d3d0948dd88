import { refuse } from '../contract/errors.ts'

/** Each piece of a body costs time, however short it is: this many are free; beyond them, each must bring this many bytes on average. */
export const PIECES_FREE = 2_048
export const PIECE_BYTES_MIN = 64

/** Whether a body arrives in more pieces than its bytes allow. */
export const isChopped = (pieces: number, bytes: number, free = PIECES_FREE): boolean =>
  pieces > free + bytes / PIECE_BYTES_MIN

export const refuseForPieces = () =>
  refuse(
    'malformed_request',
    { pieceBytesMin: PIECE_BYTES_MIN },
    `The body comes in too many small pieces: send chunks of at least ${PIECE_BYTES_MIN} bytes.`,
  )
