import { describe, expect, test } from 'vitest'
import { splitWords, WORD_LENGTH_MAX } from '../../../../shared/query/words.ts'
import * as fc from '../../../support/fast-check.ts'

describe('words', () => {
  test.each([
    ['', []],
    [' \t\n.,;-_/\\"', []],
    ['Order-4711 FAILED', ['order', '4711', 'failed']],
    ['snake_case camelCase', ['snake', 'case', 'camelcase']],
    ['Größe ÄNDERN naïve', ['größe', 'ändern', 'naïve']],
    ['Заказ отклонён', ['заказ', 'отклонён']],
    ['ΟΔΟΣ οδός', ['οδοσ', 'οδόσ']],
    ['x²+y³ ½', ['x²', 'y³', '½']],
    ['٣٤ ٥', ['٣٤', '٥']],
    ['ok👍done 👩‍👩‍👧', ['ok', 'done']],
    ['a\0b\ud800c', ['a', 'b', 'c']],
    ['𝒳𝒴 𐐀', ['𝒳𝒴', '𐐨']],
  ])('%j is split into runs of letters and digits, lower-cased', (text, words) => {
    expect(splitWords(text)).toEqual(words)
  })

  test('each Han or Hiragana character is a word, Katakana and Hangul run on', () => {
    expect(splitWords('支付失败 timeout')).toEqual(['支', '付', '失', '败', 'timeout'])
    expect(splitWords('ひらカタカナ漢')).toEqual(['ひ', 'ら', 'カタカナ', '漢'])
    expect(splitWords('주문 취소')).toEqual(['주문', '취소'])
  })

  test('a long word is known by its beginning, never by half a character', () => {
    expect(splitWords('a'.repeat(1_000_000))).toEqual(['a'.repeat(WORD_LENGTH_MAX)])
    const [word = ''] = splitWords(`a${'𝒳'.repeat(WORD_LENGTH_MAX)}`)
    expect(word.length).toBe(WORD_LENGTH_MAX - 1)
    expect(word.isWellFormed()).toBe(true)
  })

  test('every character of Unicode splits into words that split into themselves', () => {
    for (let block = 0; block <= 0x10ffff; block += 0x1000) {
      const characters = Array.from({ length: 0x1000 }, (_, index) => String.fromCodePoint(block + index))
      const words = splitWords(characters.map((character) => `a${character}b`).join(' '))
      expect(splitWords(words.join(' ')).join(' ')).toBe(words.join(' '))
    }
  })

  test('splitting again changes nothing, and case does not matter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const words = splitWords(text)
        expect(splitWords(words.join(' ')).join(' ')).toBe(words.join(' '))
        expect(splitWords(text.toLowerCase())).toEqual(words)
        for (const word of words) expect(splitWords(word)).toEqual([word])
      }),
    )
  })

  test('the words of a beginning are the beginning of the words', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'B', '1', ' ', 'Σ', 'ς', 'İ', '.', 'é', '漢', '𝒳', '\u0301') })
    fc.assert(
      fc.property(texts, fc.nat(), (text, at) => {
        const characters = [...text]
        const part = splitWords(characters.slice(0, at % (characters.length + 1)).join(''))
        const whole = splitWords(text)
        part.forEach((word, index) => {
          if (index < part.length - 1) expect(whole[index]).toBe(word)
          else expect(whole[index]?.startsWith(word)).toBe(true)
        })
      }),
    )
  })
})
