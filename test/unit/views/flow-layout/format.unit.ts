import { describe, expect, test } from 'vitest'
import { LEVELS } from '../../../../shared/contract/levels.ts'
import { cut, plural, shortCount, visible } from '../../../../views/flow-layout/format.ts'
import { shapePath } from '../../../../views/flow-layout/shapes.ts'
import { LEVEL_LOOKS } from '../../../../views/web/lib/levels.ts'
import * as fc from '../../../support/fast-check.ts'

describe('visible', () => {
  test('nothing that a terminal or a bidirectional text obeys is left', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be left
        expect(visible(text)).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)
      }),
    )
  })

  test('says what was there', () => {
    expect(visible('a\u001b[31mred\u0000')).toBe('a␛[31mred␀')
    expect(visible('user\u202egnp.exe')).toBe('user⟨202E⟩gnp.exe')
    expect(visible('up\rdown\r\n')).toBe('up␍down\r\n')
    const marks = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((one) =>
      /\p{Bidi_Control}/u.test(one),
    )
    expect(marks.map(visible).filter((text) => !/^⟨[0-9A-F]{4}⟩$/.test(text))).toEqual([])
  })

  test('leaves lines, tabs, scripts and emoji as they are', () => {
    const text = 'a\n\tb\r\nשלום 注文 👩\u200d💻'
    expect(visible(text)).toBe(text)
  })
})

describe('cut', () => {
  test('keeps the beginning, counts the rest and parts no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, length) => {
        const { text: begun, more } = cut(text, length)
        expect(text.startsWith(begun)).toBe(true)
        expect(begun.length + more).toBe(text.length)
        expect(begun.length).toBeLessThanOrEqual(length)
        expect(begun.isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('counts', () => {
  test.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1k'],
    [12_345, '12.3k'],
    [99_950, '100k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [4_100_000, '4.1M'],
  ])('%d is %s', (count, text) => {
    expect(shortCount(count)).toBe(text)
  })

  test('one is no many', () => {
    expect([plural(1, 'log'), plural(1_200, 'log'), plural(2, 'entry', 'entries')]).toEqual([
      '1 log',
      '1,200 logs',
      '2 entries',
    ])
  })
})

describe('levels', () => {
  test('each has a word of its own, and the severe ones a shape of their own', () => {
    const looks = LEVELS.map((level) => LEVEL_LOOKS[level])
    expect(new Set(looks.map(({ tag }) => tag)).size).toBe(LEVELS.length)
    expect(looks.slice(2).map(({ shape }) => shape)).toEqual(['circle', 'triangle', 'square', 'diamond'])
    for (const { shape } of looks) expect(shapePath(shape, 4)).toMatch(/^M[\d\s.a-zA-Z-]+z$/)
  })
})
