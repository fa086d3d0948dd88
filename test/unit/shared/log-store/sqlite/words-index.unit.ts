import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { textTableSchema } from '../../../../../shared/log-store/sqlite/schema.ts'
import { indexedText, indexedWord, matchPhrase } from '../../../../../shared/log-store/sqlite/words-index.ts'
import { splitWords, WORD_LENGTH_MAX } from '../../../../../shared/query/words.ts'
import * as fc from '../../../../support/fast-check.ts'

const database = new DatabaseSync(':memory:')
database.exec(`${textTableSchema('texts')} CREATE VIRTUAL TABLE words USING fts5vocab('texts', 'instance')`)
const clear = database.prepare("INSERT INTO texts (texts) VALUES ('delete-all')")
const insert = database.prepare('INSERT INTO texts (rowid, message) VALUES (?, ?)')
const select = database.prepare('SELECT term FROM words ORDER BY doc, "offset"')
afterAll(() => database.close())

/** The words of some texts as SQLite's full-text index has them. */
function indexed(texts: readonly (string | null)[]): readonly string[] {
  clear.run()
  for (const [index, text] of texts.entries()) insert.run(index + 1, text)
  return select.all().map(({ term }) => String(term))
}

describe('words in the full-text index', () => {
  test('every letter and digit of Unicode comes out as the word that went in', () => {
    // Beyond the third plane there are no letters; the words that are taken as they are lie in the first.
    for (let block = 0; block < 0x40000; block += 0x4000) {
      const characters = Array.from({ length: 0x4000 }, (_, index) => String.fromCodePoint(block + index))
      const words = characters.flatMap((character) => splitWords(character)).map((word) => `a${indexedWord(word)}b`)
      expect(indexed([words.join(' ')]).join(' ')).toBe(words.join(' '))
    }
  })

  test('different words stay different', () => {
    const characters = Array.from({ length: 0x30000 }, (_, code) => String.fromCodePoint(code))
    const words = new Set(characters.flatMap((character) => splitWords(character)))
    expect(new Set([...words].map(indexedWord)).size).toBe(words.size)
  })

  test('SQLite splits any text as words.ts does', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { maxLength: 20 }), (texts) => {
        const wanted = texts.flatMap((text) => splitWords(text)).map(indexedWord)
        expect(indexed(texts.map(indexedText))).toEqual(wanted)
      }),
      { numRuns: 300 },
    )
  })

  test('ASCII goes in as it is, but for NUL and words that are cut', () => {
    const ascii = Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1)).join('')
    expect(indexedText(ascii)).toBe(ascii)
    expect(indexed([ascii])).toEqual(splitWords(ascii))
    expect(indexedText('a\0b')).toBe('a b')
    const longest = 'X'.repeat(WORD_LENGTH_MAX)
    expect(indexedText(`${longest}.${longest}`)).toBe(`${longest}.${longest}`)
    expect(indexedText(`${longest}y`)).toBe(longest.toLowerCase())
    expect(indexedText(null)).toBeNull()
    expect(indexedText('')).toBeNull()
  })

  test('no word can be more than a word in a full-text query', () => {
    const words = fc.array(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(words, fc.boolean(), (list, prefix) => {
        expect(matchPhrase(['message', 'payload'], list, prefix)).toMatch(
          /^\{message payload\} : "[^"\p{Cc}]*"( \*)?$/u,
        )
      }),
    )
  })
})
