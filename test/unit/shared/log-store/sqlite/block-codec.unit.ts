import { randomBytes } from 'node:crypto'
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
    expect(unpackBlock(1, 'the text that SQLite reads if a bit of its type turned')).toBeNull()
  })

  test('of version 5, whose parts are compressed each by itself, is read', () => {
    const packed =
      '+89+pykAAIAotS/9IDoFAQCAAwACCaEPAABzaWQAMDIAAAYALMTsNq5MxLy3y2wAbSi1L/1g4y3NAAA4MGFiYyAxMgQAnSc9dAEsZB700L+Z33da'
    const contents = [0, 1, 2].map((number) => ({
      arrival: 7 + 2 * number,
      leaves: number === 1 ? null : Buffer.from(`\0\0sid\0${number}\0\0`),
      source: Buffer.from(`${number}${'abc '.repeat(1_000)}`),
    }))
    expect(plain(unpackBlock(7, Buffer.from(packed, 'base64'))?.all() ?? null)).toEqual(plain(contents))
  })

  test('keeps a value that is a leaf and in a source once', () => {
    const contents = Array.from({ length: 64 }, (_, arrival) => {
      const value = randomBytes(100).toString('base64')
      return { arrival, leaves: Buffer.from(value), source: Buffer.from(JSON.stringify({ scopeData: { value } })) }
    })
    expect(packBlock(contents).length).toBeLessThan(64 * 100 * 1.2)
  })

  test('of similar entries is a fraction of their bytes', () => {
    const contents = Array.from({ length: 64 }, (_, arrival) => {
      const source = Buffer.from(JSON.stringify({ kind: 'event', payload: `order ${arrival} was placed `.repeat(20) }))
      return { arrival, leaves: null, source }
    })
    expect(packBlock(contents).length).toBeLessThan(contents.reduce((sum, { source }) => sum + source.length, 0) / 10)
  })
})
