import { describe, expect, test } from 'vitest'
import { type Content, packBlock, unpackBlock } from '../../../../../shared/log-store/sqlite/block-codec.ts'
import * as fc from '../../../../support/fast-check.ts'

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.tuple(fc.string(), fc.nat({ max: 2_000 })).map(([text, times]) => Buffer.from(text.repeat(times))),
)

/** Contents of rising arrivals with gaps between some of them; the leaves of an entry are never empty. */
const blocks: fc.Arbitrary<readonly Content[]> = fc
  .tuple(
    fc.nat(),
    fc.array(
      fc.record({
        gap: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 2 ** 31 })),
        leaves: fc.option(bytes.filter(({ length }) => length > 0)),
        source: bytes,
      }),
      { minLength: 1, maxLength: 80 },
    ),
  )
  .map(([first, entries]) => {
    let arrival = first
    return entries.map(({ gap, ...entry }, index) => {
      if (index > 0) arrival += gap
      return { arrival, ...entry }
    })
  })

const plain = (contents: readonly Content[] | null) =>
  contents?.map(({ arrival, leaves, source }) => ({
    arrival,
    leaves: leaves && Buffer.from(leaves).toString('hex'),
    source: Buffer.from(source).toString('hex'),
  }))

describe('a block', () => {
  test('returns the contents that it was packed of', () => {
    fc.assert(
      fc.property(blocks, (contents) => {
        const packed = packBlock(contents)
        // As SQLite returns it: not at the beginning of its buffer.
        const read = new Uint8Array(packed.length + 3).subarray(3)
        read.set(packed)
        const block = unpackBlock(contents[0]?.arrival ?? 0, read)
        expect(plain(block?.all() ?? null)).toEqual(plain(contents))
        for (const content of contents)
          expect(plain([block?.find(content.arrival) as Content])).toEqual(plain([content]))
        expect(block?.find((contents.at(-1)?.arrival ?? 0) + 1)).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  test('that is damaged anywhere, or cut short, says so', () => {
    fc.assert(
      fc.property(
        blocks,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        (contents, place, change, isCut) => {
          const packed = packBlock(contents)
          const at = place % packed.length
          const damaged = isCut ? packed.slice(0, at) : packed.slice()
          if (!isCut) damaged[at] = (damaged[at] ?? 0) ^ change
          expect(unpackBlock(contents[0]?.arrival ?? 0, damaged)).toBeNull()
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('of similar entries is a fraction of their bytes', () => {
    const contents = Array.from({ length: 64 }, (_, arrival) => {
      const source = Buffer.from(JSON.stringify({ kind: 'event', payload: `order ${arrival} was placed `.repeat(20) }))
      return { arrival, leaves: null, source }
    })
    expect(packBlock(contents).length).toBeLessThan(contents.reduce((sum, { source }) => sum + source.length, 0) / 10)
  })
})
