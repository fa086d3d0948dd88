import { describe, expect, test } from 'vitest'
import { parseQuery } from '../../../../shared/query/parse.ts'
import { QUERY_CASES, queryDocuments } from '../../../contract/query-cases.ts'
import { documents, queries } from '../../../support/documents-arbitrary.ts'
import * as fc from '../../../support/fast-check.ts'
import { matches, printQuery } from '../../../support/query.ts'

describe('what a query finds', () => {
  const named = Object.entries(queryDocuments('payments'))

  test.each(QUERY_CASES)('%s', (text, names) => {
    const { query } = parseQuery(text)
    const found = named.filter(([, document]) => matches(query, document)).map(([name]) => name)
    expect(found).toEqual(names)
  })

  test('an empty list of words, and an empty alternative, find nothing; an empty conjunction finds all', () => {
    const [[, document] = []] = named
    if (document === undefined) throw new Error('there are no documents')
    for (const phrase of [true, false]) {
      expect(matches({ type: 'words', field: null, words: [], phrase, prefix: true }, document)).toBe(false)
    }
    expect(matches({ type: 'or', queries: [] }, document)).toBe(false)
    expect(matches({ type: 'and', queries: [] }, document)).toBe(true)
  })

  test('several words that are no phrase may stand in different texts', () => {
    const [[, document] = []] = named
    if (document === undefined) throw new Error('there are no documents')
    const words = { type: 'words', field: null, words: ['order', 'timeoutex'], phrase: false } as const
    expect(matches({ ...words, prefix: true }, document)).toBe(true)
    expect(matches({ ...words, prefix: false }, document)).toBe(false)
    expect(matches({ ...words, phrase: true, prefix: true }, document)).toBe(false)
    expect(matches({ ...words, field: 'message', prefix: true }, document)).toBe(false)
  })

  test('a query that is printed and read again finds the same', () => {
    fc.assert(
      fc.property(queries, fc.array(documents('payments'), { maxLength: 10 }), (query, some) => {
        const { query: again, reading } = parseQuery(printQuery(query))
        if (reading.read === 'text') return
        for (const document of some) expect(matches(again, document)).toBe(matches(query, document))
      }),
      { numRuns: 500 },
    )
  })
})
