import type { ByteShare } from '../byte-budget.ts'
import { type Problem, refuse } from '../errors.ts'

/** A body for which the budget has no room is refused; nothing of it was written, and sent again later it may find some. */
export const refuseForRoom = (): { readonly value?: undefined; readonly problem: Problem } =>
  refuse('server_error', { outcome: 'not_written' }, 'Too many bytes of request bodies are being read.')

/** A smaller piece is copied behind others into one block: as an object of its own it would take more memory than it has bytes. */
const OWN_BLOCK_BYTES_MIN = 4 * 1024
const BLOCK_BYTES_MAX = 64 * 1024

/** The bytes of a body as they come, in blocks that are taken from a budget. */
export interface BodyBytes {
  /** How many bytes there are, and how many were taken for them. */
  readonly size: number
  readonly held: number
  /** Whether the piece was kept; it is not where the budget has no room for it, unless `regardless` of that. */
  add(piece: Buffer, regardless?: boolean): boolean
  /** The bytes in one piece, which may be a part of `scratch` where they are several that fit in there. */
  joined(scratch?: Buffer): Buffer
  /** Forgets the bytes; what they took stays taken until `release`. */
  clear(): void
  /** Gives back to the budget what was taken. Safe to call twice. */
  release(): void
}

/** However a body is cut into pieces, it takes about as many bytes as it has. */
export function createBodyBytes(share: ByteShare): BodyBytes {
  let blocks: Buffer[] = []
  let size = 0
  let held = 0
  /** Bytes of the last block that are not used yet. */
  let room = 0

  function hold(block: Buffer, used: number): void {
    share.take(block.length)
    held += block.length
    room = block.length - used
    blocks.push(block)
  }

  /** The first piece stays as it is: most bodies have no other. */
  const isOwnBlock = (piece: Buffer): boolean => piece.length >= OWN_BLOCK_BYTES_MIN || blocks.length === 0

  /** A new block is as large as all before it, where there is room for that. */
  function blockBytes(regardless: boolean): number {
    const bytes = Math.min(BLOCK_BYTES_MAX, Math.max(OWN_BLOCK_BYTES_MIN, held))
    return regardless || share.fits(bytes, held) ? bytes : OWN_BLOCK_BYTES_MIN
  }

  return {
    get size() {
      return size
    },
    get held() {
      return held
    },
    add: (piece, regardless = false) => {
      const last = blocks.at(-1)
      const fitting = last === undefined ? 0 : piece.copy(last, last.length - room, 0, Math.min(room, piece.length))
      const rest = piece.subarray(fitting)
      const own = isOwnBlock(rest)
      const length = own ? rest.length : blockBytes(regardless)
      if (rest.length > 0 && !regardless && !share.fits(length, held)) return false
      room -= fitting
      size += piece.length
      if (rest.length === 0) return true
      if (own) hold(rest, rest.length)
      else {
        const block = Buffer.allocUnsafeSlow(length)
        hold(block, rest.copy(block))
      }
      return true
    },
    joined: (scratch) => {
      const [only] = blocks
      if (only !== undefined && blocks.length === 1) return only.subarray(0, size)
      if (scratch === undefined || size > scratch.length) return Buffer.concat(blocks, size)
      let at = 0
      for (const block of blocks) at += block.copy(scratch, at, 0, size - at)
      return scratch.subarray(0, size)
    },
    clear: () => {
      blocks = []
    },
    release: () => {
      share.give(held)
      blocks = []
      held = 0
    },
  }
}
