import { refuse } from '../contract/errors.ts'
import { type ByteShare, isMostOfItsMemory } from '../runtime/byte-budget.ts'

/** Refuses a body for which the budget has no room; nothing of it was written, and a retry may find room. */
export const NO_ROOM = refuse(
  'server_error',
  { outcome: 'not_written' },
  'Too many bytes of request bodies are being read.',
)

/** Smaller pieces are copied together into one block: as an object of its own, each would take more memory than its bytes. */
const OWN_BLOCK_BYTES_MIN = 4 * 1024
const BLOCK_BYTES_MAX = 64 * 1024

/**
 * The memory that a request takes from its share of the budget, from the first byte of its body to the end of its work, one after the other:
 *
 * 1. The bytes as they arrive, in `BodyBytes`, and beside them those that they are inflated to.
 * 2. The text or message that the bytes are decoded to, which takes over their memory.
 * 3. The values that it is parsed to (`createValueHold`).
 * 4. Their records, until the publisher counts them (`gateway/ingest/handlers.ts`).
 *
 * A class, as each request makes one.
 */
export class RequestMemory {
  readonly #share: ByteShare
  #held = 0
  #lent: Buffer<ArrayBuffer> | undefined

  constructor(share: ByteShare) {
    this.#share = share
  }

  fits(bytes: number): boolean {
    return this.#share.fits(bytes, this.#held)
  }

  /** Takes this many more bytes; false if there is no room for them. */
  hold(bytes: number): boolean {
    const fits = this.fits(bytes)
    if (fits) this.take(bytes)
    return fits
  }

  /** Takes this many more bytes, whether there is room for them or not. */
  take(bytes: number): void {
    this.#share.take(bytes)
    this.#held += bytes
  }

  give(bytes: number): void {
    this.#share.give(bytes)
    this.#held -= bytes
  }

  /**
   * A buffer that is empty after `release`, as its memory is then freed at once. Until the garbage collector finds such buffers, they take as
   * much memory as all other objects, and make it run over the whole heap. Nothing but synchronous code of ours may read it: an engine that
   * inflates it in another thread would not notice.
   */
  lend(bytes: number): Buffer {
    // Not from the pool of small buffers, as only a whole block of memory can be freed.
    this.#lent = Buffer.allocUnsafeSlow(bytes)
    return this.#lent
  }

  /** Returns all that was taken. Safe to call twice. */
  release(): void {
    this.give(this.#held)
    this.#lent?.buffer.transfer(0)
    this.#lent = undefined
  }
}

/**
 * The bytes of a body as they arrive, in blocks: however a body is cut into pieces, it takes about as much memory as it has bytes. A class,
 * as each request makes one.
 */
export class BodyBytes {
  readonly memory: RequestMemory
  #blocks: Buffer[] = []
  #size = 0
  /** The bytes of all blocks, of which the last one may have unused ones. */
  #taken = 0
  #unused = 0

  constructor(memory: RequestMemory) {
    this.memory = memory
  }

  get size(): number {
    return this.#size
  }

  /** Keeps a piece; false if there is no room for it, unless `regardless`. */
  add(piece: Buffer, regardless = false): boolean {
    const rest = this.#fillLastBlock(piece)
    if (rest.length > 0 && !this.#addBlock(rest, regardless)) return false
    this.#size += piece.length
    return true
  }

  /** The bytes as one buffer; several blocks are joined in `scratch` if they fit, and the result is then a part of it. */
  joined(scratch?: Buffer): Buffer {
    const [only] = this.#blocks
    if (only !== undefined && this.#blocks.length === 1) return only.subarray(0, this.#size)
    if (scratch === undefined || this.#size > scratch.length) return Buffer.concat(this.#blocks, this.#size)
    let at = 0
    for (const block of this.#blocks) at += block.copy(scratch, at, 0, this.#size - at)
    return scratch.subarray(0, this.#size)
  }

  /** The bytes as one buffer; if it has to be made, it is lent by the memory. */
  lent(): Buffer {
    return this.joined(this.#blocks.length > 1 ? this.memory.lend(this.#size) : undefined)
  }

  /** Removes and returns the first bytes; fewer if there are no more. */
  shift(count: number): Buffer {
    let [first] = this.#blocks
    if (first === undefined || first.length < count) {
      first = this.joined()
      this.#blocks = [first]
      this.#unused = 0
    }
    const taken = Math.min(count, this.#size)
    this.#blocks[0] = first.subarray(taken)
    this.#size -= taken
    return first.subarray(0, taken)
  }

  /** Drops the bytes; the content that they were decoded to takes over their memory. */
  clear(): void {
    this.#blocks = []
  }

  /** Drops the bytes and returns their memory. */
  release(): void {
    this.clear()
    this.memory.give(this.#taken)
  }

  /** Returns the part of the piece that does not fit into the last block. */
  #fillLastBlock(piece: Buffer): Buffer {
    const last = this.#blocks.at(-1)
    if (last === undefined || this.#unused === 0) return piece
    const fitting = piece.copy(last, last.length - this.#unused, 0, Math.min(this.#unused, piece.length))
    this.#unused -= fitting
    return piece.subarray(fitting)
  }

  #addBlock(piece: Buffer, regardless: boolean): boolean {
    // The first piece gets no larger block than it needs: most bodies have no other.
    const isOwnBlock = this.#blocks.length === 0 || piece.length >= OWN_BLOCK_BYTES_MIN
    const length = isOwnBlock ? piece.length : this.#blockBytes(regardless)
    if (!regardless && !this.memory.fits(length)) return false
    const block = isOwnBlock && isMostOfItsMemory(piece) ? piece : Buffer.allocUnsafeSlow(length)
    if (block !== piece) piece.copy(block)
    this.memory.take(length)
    this.#taken += length
    this.#unused = length - piece.length
    this.#blocks.push(block)
    return true
  }

  /** A new block is as large as all previous ones together, if there is room for that. */
  #blockBytes(regardless: boolean): number {
    const bytes = Math.min(BLOCK_BYTES_MAX, Math.max(OWN_BLOCK_BYTES_MIN, this.#taken))
    return regardless || this.memory.fits(bytes) ? bytes : OWN_BLOCK_BYTES_MIN
  }
}
