import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { textTableSchema } from '../../../../../shared/log-store/sqlite/schema.ts'
import {
  indexedText,
  indexedWord,
  matchPhrase,
  matchValues,
  valueWords,
} from '../../../../../shared/log-store/sqlite/words-index.ts'
import { isWithin, keyRange, sortKey } from '../../../../../shared/query/sort-key.ts'
import { splitWords, WORD_LENGTH_MAX } from '../../../../../shared/query/words.ts'
import { applicationDocument } from '../../../../support/documents.ts'
import * as fc from '../../../../support/fast-check.ts'

const database = new DatabaseSync(':memory:')
database.exec(`${textTableSchema('texts', 'leaves')} CREATE VIRTUAL TABLE words USING fts5vocab('texts', 'instance')`)
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

describe('values in the full-text index', () => {
  const insertLeaves = database.prepare('INSERT INTO texts (rowid, leaves) VALUES (?, ?)')
  const match = database.prepare('SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid')
  const decimal = fc.oneof(
    fc.integer({ min: -120, max: 120 }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom('0', '-0.0', '9.99', '1e4999', '-1e-4999', '0.00012', '100000000000000000001'),
  )
  const time = fc
    .integer({ min: 0, max: 9_214_646_400_000 })
    .map((ms) => new Date(ms).toISOString())
    .map((text) => text.slice(0, 16))
  const value = fc.oneof(
    decimal,
    fc.integer({ min: -70, max: 70 }).map((amount) => `${amount}ms`),
    time,
    fc.constant('1.5s'),
  )
  const stored = (values: readonly string[]): void => {
    clear.run()
    for (const [index, ms] of values.entries())
      insertLeaves.run(index + 1, valueWords(applicationDocument({ scopeData: { ms, text: 'x' } })))
  }
  const foundBetween = (from: string | null, to: string | null, path = 'ms'): readonly unknown[] | null => {
    const [low, high] = [from, to].map((bound) => (bound === null ? null : { value: bound, isIncluded: true }))
    const query = { type: 'leafRange' as const, field: 'scope' as const, path, from: low ?? null, to: high ?? null }
    const words = matchValues(query)
    return words === null ? null : match.all(words).map(({ rowid }) => rowid)
  }

  test('a range finds every value in it', () => {
    const bound = fc.option(value)
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 40 }), bound, bound, (values, from, to) => {
        stored(values)
        const found = foundBetween(from, to)
        const [low, high] = [from, to].map((one) => (one === null ? null : { value: one, isIncluded: true }))
        const range = keyRange({ from: low ?? null, to: high ?? null })
        expect(found === null).toBe(range === undefined)
        const wanted = values.flatMap((text, index) =>
          range !== undefined && isWithin(range, sortKey(text) ?? '') ? [index + 1] : [],
        )
        expect(wanted.filter((rowid) => !found?.includes(rowid))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('it finds few others: values near its ends, and none of another field or path', () => {
    const values = Array.from({ length: 400 }, (_, index) => String(index - 200))
    stored(values)
    const found = (foundBetween('95', '149') ?? []).map((rowid) => values[Number(rowid) - 1])
    expect(found).toEqual(values.filter((text) => Number(text) >= 95 && Number(text) < 150))
    expect(foundBetween('-3', '-3')).toEqual([values.indexOf('-3') + 1])
    expect(foundBetween('95', null, 'MS')).toEqual([])
    expect(foundBetween('10s', null)).toEqual([])
  })
})
