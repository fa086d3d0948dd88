import type { Random } from '../random.ts'

type Change = (bytes: Buffer, random: Random) => Buffer

const REPEATED_MAX = 64
const INSERTED_MAX = 16

const spliced = (bytes: Buffer, at: number, removed: number, more: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at + removed)])

const flipped: Change = (bytes, random) => {
  const copy = Buffer.from(bytes)
  for (let count = random.size(8); count > 0; count -= 1) {
    const at = random.int(copy.length)
    copy[at] = (copy[at] ?? 0) ^ (1 << random.int(8))
  }
  return copy
}

const inserted: Change = (bytes, random) =>
  spliced(bytes, random.int(bytes.length + 1), 0, random.bytes(random.size(INSERTED_MAX)))

const deleted: Change = (bytes, random) =>
  spliced(bytes, random.int(bytes.length), random.size(INSERTED_MAX), Buffer.alloc(0))

const repeated: Change = (bytes, random) => {
  const at = random.int(bytes.length)
  const piece = bytes.subarray(at, at + random.size(INSERTED_MAX))
  return spliced(bytes, at, 0, Buffer.concat(Array.from({ length: random.size(REPEATED_MAX) }, () => piece)))
}

const truncated: Change = (bytes, random) => bytes.subarray(0, random.int(bytes.length))

const CHANGES: readonly (readonly [name: string, Change])[] = [
  ['flipped bits', flipped],
  ['inserted bytes', inserted],
  ['deleted bytes', deleted],
  ['repeated bytes', repeated],
  ['truncated', truncated],
]

/** Mutates the bytes; also returns the mutation's name. */
export function mutatedBytes(bytes: Buffer, random: Random): readonly [name: string, Buffer] {
  if (bytes.length === 0) return ['inserted bytes', random.bytes(random.size(INSERTED_MAX))]
  const [name, change] = random.pick(CHANGES)
  return [name, change(bytes, random)]
}
