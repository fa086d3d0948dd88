import { expect, test } from 'vitest'
import {
  type Chunk,
  createChunkSource,
  createRooms,
  halve,
  type Lines,
  pick,
} from '../../../../../shared/log-store/elasticsearch/bulk-chunks.ts'
import * as fc from '../../../../support/fast-check.ts'

const linesOf = (item: string): Lines => [item, '\n']
const limits = { bulkBytesMax: 40, bulkDocumentsMax: 4 }

function chunksOf(items: Iterable<string>, given = limits): Chunk[] {
  const source = createChunkSource(items, linesOf, given, createRooms(1))
  const chunks: Chunk[] = []
  for (let chunk = source.take(); chunk !== null; chunk = source.take()) chunks.push(chunk)
  return chunks
}

const textsOf = (chunk: Chunk): string[] =>
  chunk.ends.map((end, index) => chunk.body.toString('utf8', chunk.ends[index - 1] ?? 0, end).slice(0, -1))

const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 60 })

test('every item is in one chunk, in order, and no chunk is larger than it may be', () => {
  fc.assert(
    fc.property(texts, (items) => {
      const chunks = chunksOf(items)
      expect(chunks.flatMap(textsOf)).toEqual(items)
      expect(chunks.flatMap(({ positions }) => positions)).toEqual(items.map((_, index) => index))
      for (const { body, ends, positions } of chunks) {
        expect(body.length).toBe(ends.at(-1))
        expect(positions.length).toBeLessThanOrEqual(limits.bulkDocumentsMax)
        expect(positions.length === 1 || body.length <= limits.bulkBytesMax).toBe(true)
      }
    }),
  )
})

test('a chunk that could have held the next item would have held it', () => {
  fc.assert(
    fc.property(texts, (items) => {
      const chunks = chunksOf(items)
      for (const [index, { body, positions }] of chunks.slice(0, -1).entries()) {
        const next = chunks[index + 1] as Chunk
        const full = positions.length === limits.bulkDocumentsMax
        expect(full || body.length + (next.ends[0] as number) > limits.bulkBytesMax).toBe(true)
      }
    }),
  )
})

test('items are asked for when their chunk is, and one ahead', () => {
  let asked = 0
  function* items(): Generator<string> {
    for (; asked < 20; ) yield `item ${++asked}`
  }
  const source = createChunkSource(items(), linesOf, { bulkBytesMax: 1_000, bulkDocumentsMax: 5 }, createRooms(1))
  expect([asked, source.isEmpty()]).toEqual([1, false])
  expect(source.take()?.positions).toHaveLength(5)
  expect(asked).toBe(6)
  while (source.take() !== null);
  expect([asked, source.isEmpty()]).toEqual([20, true])
})

test('a body outgrows its first room without losing anything', () => {
  const items = Array.from({ length: 300 }, (_, index) => `${index} ${'ä'.repeat(1_000)}`)
  const [chunk] = chunksOf(items, { bulkBytesMax: 10_000_000, bulkDocumentsMax: 1_000 })
  expect(textsOf(chunk as Chunk)).toEqual(items)
})

test('what is picked, and the halves, are chunks of their own', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 20 }), (items) => {
      const [chunk] = chunksOf(items, { bulkBytesMax: 1_000_000, bulkDocumentsMax: 100 }) as [Chunk]
      const even = items.map((_, index) => index).filter((index) => index % 2 === 0)
      const picked = pick(chunk, even)
      expect(textsOf(picked)).toEqual(even.map((index) => items[index]))
      expect(picked.positions).toEqual(even)
      const halves = halve(picked.positions.length > 1 ? picked : chunk)
      expect(halves.flatMap(textsOf)).toEqual(textsOf(picked.positions.length > 1 ? picked : chunk))
      expect(halves.every(({ positions, body, ends }) => positions.length > 0 && body.length === ends.at(-1))).toBe(
        true,
      )
    }),
  )
})

test('memory that was given back is lent again, and no more of it is kept than is of use', () => {
  const rooms = createRooms(2)
  const lent = [rooms.lend(), rooms.lend(), rooms.lend()] as const
  expect(new Set(lent.map(({ buffer }) => buffer)).size).toBe(3)
  for (const room of lent) rooms.giveBack(room.subarray(3, 9))
  const again = [rooms.lend(), rooms.lend(), rooms.lend()]
  expect(again.filter(({ buffer }) => lent.some((room) => room.buffer === buffer))).toHaveLength(2)
  expect(again.every(({ length }) => length === lent[0].length)).toBe(true)
})
