import { type Problem, refuse } from '../contract/errors.ts'
import type { ByteShare } from '../runtime/byte-budget.ts'

const NO_ROOM = refuse('server_error', { outcome: 'not_written' }, 'Too many bytes of request bodies are being read.')

/** A body for which the budget has no room is refused; nothing of it was written, and sent again later it may find some. */
export const refuseForRoom = (): { readonly value?: undefined; readonly problem: Problem } => NO_ROOM

/** Whether that is why a body was refused. */
export const isForRoom = (cause: Problem): boolean => cause === NO_ROOM.problem

/** A smaller piece is copied behind others into one block: as an object of its own it would take more memory than it has bytes. */
const OWN_BLOCK_BYTES_MIN = 4 * 1024
const BLOCK_BYTES_MAX = 64 * 1024

/** Memory of a request body that is taken from a budget. */
export interface BodyMemory {
  /** Takes so many bytes more; false where there is no room for them. */
  hold(bytes: number): boolean
  /** Gives back all that was taken. Safe to call twice. */
  release(): void
}

/**
 * The bytes of a body as they come, in blocks that are taken from a budget: however a body is cut into pieces, it takes about as many
 * bytes as it has. A class, as each request makes one.
 */
export class BodyBytes implements BodyMemory {
  readonly #share: ByteShare
  #blocks: Buffer[] = []
  #size = 0
  #held = 0
  /** Bytes of the last block that are not used yet. */
  #room = 0

  constructor(share: ByteShare) {
    this.#share = share
  }

  get size(): number {
    return this.#size
  }

  /** Whether the piece was kept; it is not where the budget has no room for it, unless `regardless` of that. */
  add(piece: Buffer, regardless = false): boolean {
    const rest = this.#fillLastBlock(piece)
    if (rest.length > 0 && !this.#addBlock(rest, regardless)) return false
    this.#size += piece.length
    return true
  }

  /** The bytes in one piece, which may be a part of `scratch` where they are several that fit in there. */
  joined(scratch?: Buffer): Buffer {
    const [only] = this.#blocks
    if (only !== undefined && this.#blocks.length === 1) return only.subarray(0, this.#size)
    if (scratch === undefined || this.#size > scratch.length) return Buffer.concat(this.#blocks, this.#size)
    let at = 0
    for (const block of this.#blocks) at += block.copy(scratch, at, 0, this.#size - at)
    return scratch.subarray(0, this.#size)
  }

  /** Takes the first bytes off and gives them; fewer where there are no more. */
  shift(count: number): Buffer {
    const joined = this.joined()
    const rest = joined.subarray(count)
    this.#blocks = [rest]
    this.#size = rest.length
    this.#room = 0
    return joined.subarray(0, count)
  }

  /** Forgets the bytes; what they took stays taken until `release`. */
  clear(): void {
    this.#blocks = []
  }

  hold(bytes: number): boolean {
    if (!this.#share.fits(bytes, this.#held)) return false
    this.#take(bytes)
    return true
  }

  release(): void {
    this.#share.give(this.#held)
    this.#blocks = []
    this.#held = 0
  }

  /** The part of the piece for which the last block has no room. */
  #fillLastBlock(piece: Buffer): Buffer {
    const last = this.#blocks.at(-1)
    if (last === undefined || this.#room === 0) return piece
    const fitting = piece.copy(last, last.length - this.#room, 0, Math.min(this.#room, piece.length))
    this.#room -= fitting
    return piece.subarray(fitting)
  }

  #addBlock(piece: Buffer, regardless: boolean): boolean {
    // The first piece stays as it is: most bodies have no other.
    const isOwnBlock = this.#blocks.length === 0 || piece.length >= OWN_BLOCK_BYTES_MIN
    const length = isOwnBlock ? piece.length : this.#blockBytes(regardless)
    if (!regardless && !this.#share.fits(length, this.#held)) return false
    const block = isOwnBlock ? piece : Buffer.allocUnsafeSlow(length)
    if (!isOwnBlock) piece.copy(block)
    this.#take(length)
    this.#room = length - piece.length
    this.#blocks.push(block)
    return true
  }

  /** A new block is as large as all before it, where there is room for that. */
  #blockBytes(regardless: boolean): number {
    const bytes = Math.min(BLOCK_BYTES_MAX, Math.max(OWN_BLOCK_BYTES_MIN, this.#held))
    return regardless || this.#share.fits(bytes, this.#held) ? bytes : OWN_BLOCK_BYTES_MIN
  }

  #take(bytes: number): void {
    this.#share.take(bytes)
    this.#held += bytes
  }
}
