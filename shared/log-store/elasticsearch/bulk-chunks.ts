import { mostBytes, withRoom } from '../../runtime/utf8.ts'

/** The operations of one request: their lines follow each other in `body`. */
export interface Chunk {
  /** For each operation, its index among the items of the write. */
  readonly positions: readonly number[]
  /** For each operation, the position in `body` where its lines end. */
  readonly ends: readonly number[]
  readonly body: Buffer<ArrayBuffer>
}

export interface ChunkLimits {
  /** Maximum bytes of one request; a larger operation is sent alone. */
  readonly bulkBytesMax: number
  readonly bulkDocumentsMax: number
}

/** Turns items into chunks, one at a time and on demand: an item is dropped as soon as it has become bytes. */
interface ChunkSource {
  /** The next chunk, or null if there is none. */
  take(): Chunk | null
  /** Whether every item was taken. */
  isEmpty(): boolean
}

/** A pool of body buffers: allocating megabytes for every request keeps the garbage collector busy. */
interface Rooms {
  lend(): Buffer<ArrayBuffer>
  /** Returns a body to the pool; nobody may read it any more. */
  giveBack(body: Buffer<ArrayBuffer>): void
}

const ROOM_BYTES_MIN = 64 * 1024

/** Keeps at most `keptMax` buffers in the pool. */
export function createRooms(keptMax: number): Rooms {
  const kept: Buffer<ArrayBuffer>[] = []
  return {
    lend: () => kept.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES_MIN),
    giveBack: ({ buffer }) => {
      if (kept.length < keptMax) kept.push(Buffer.from(buffer))
    },
  }
}

/** The lines of one operation, each ended by a newline, in pieces: joining them would only copy them once more. */
export type Lines = readonly string[]

export function createChunkSource<Item>(
  items: Iterable<Item>,
  linesOf: (item: Item) => Lines,
  { bulkBytesMax, bulkDocumentsMax }: ChunkLimits,
  rooms: Rooms,
): ChunkSource {
  const iterator = items[Symbol.iterator]()
  let position = 0
  let next: Lines | null = null

  const advance = (): void => {
    const { value, done } = iterator.next()
    next = done === true ? null : linesOf(value)
  }
  advance()

  return {
    isEmpty: () => next === null,
    take() {
      if (next === null) return null
      const positions: number[] = []
      const ends: number[] = []
      let body = rooms.lend()
      let bytes = 0
      while (next !== null && positions.length < bulkDocumentsMax) {
        body = withRoom(body, bytes, bytesMaxOf(next))
        let end = bytes
        for (const piece of next) end += body.write(piece, end)
        if (positions.length > 0 && end > bulkBytesMax) break
        positions.push(position)
        ends.push(end)
        position += 1
        bytes = end
        advance()
      }
      return { positions, ends, body: body.subarray(0, bytes) }
    },
  }
}

const bytesMaxOf = (lines: Lines): number => lines.reduce((sum, piece) => sum + mostBytes(piece), 0)

/** Some operations of a chunk as a chunk of their own; `indexes` are positions in the chunk, ascending. */
export function pick({ positions, ends, body }: Chunk, indexes: readonly number[]): Chunk {
  const lines = indexes.map((index) => body.subarray(ends[index - 1] ?? 0, ends[index]))
  let end = 0
  return {
    positions: indexes.map((index) => positions[index] as number),
    ends: lines.map(({ length }) => (end += length)),
    body: Buffer.concat(lines),
  }
}

/** The two halves of a chunk with at least two operations. */
export function halve({ positions, ends, body }: Chunk): readonly [Chunk, Chunk] {
  const middle = Math.ceil(positions.length / 2)
  const cut = ends[middle - 1] as number
  return [
    { positions: positions.slice(0, middle), ends: ends.slice(0, middle), body: body.subarray(0, cut) },
    {
      positions: positions.slice(middle),
      ends: ends.slice(middle).map((end) => end - cut),
      body: body.subarray(cut),
    },
  ]
}
