import { describe, expect, test } from 'vitest'
import type { Query } from '../../../../shared/query/ast.ts'
import { PHRASE_WORDS_MAX, withoutLastDot } from '../../../../shared/query/clause.ts'
import { FIELDS } from '../../../../shared/query/fields.ts'
import { parseQuery } from '../../../../shared/query/parse.ts'
import { printTerm, type Term } from '../../../../shared/query/term.ts'
import { addTerm, hasTerm, removeTerm, withStars } from '../../../../views/search/terms.ts'
import { searchTexts } from '../../../support/documents-arbitrary.ts'
import * as fc from '../../../support/fast-check.ts'
import { apart, printQuery } from '../../../support/query.ts'

const KEYWORDS = FIELDS.filter(({ kind }) => kind === 'keyword').map(({ name }) => name)

/** Texts that stay as they are on their way into the grammar, which replaces NUL and lone surrogates. */
const values = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'))

const terms: fc.Arbitrary<Term> = fc.record({
  field: fc.oneof(
    fc.constantFrom(...KEYWORDS),
    values.map((path) => `payload.${path}`),
    values.map((path) => `scope.${path}`),
  ),
  value: values,
  prefix: fc.boolean(),
  negated: fc.boolean(),
})

/** Searches as people write them: the grammar's own pieces in any order, most of them queries, some not. */
const searches = fc.oneof(
  searchTexts,
  fc
    .array(
      fc.constantFrom('a', 'b*', '"x y"', 'AND', 'OR', 'NOT', '-', '(', ')', 'level:>=error', 'event:e', 'step:"s t"'),
      { maxLength: 8 },
    )
    .map((pieces) => pieces.join(' ')),
)

const meaning = (text: string): Query => parseQuery(text).query
const isText = (text: string): boolean => parseQuery(text).reading.read === 'text'

/** The conditions that all have to hold, in an order of their own. */
function conditions(query: Query): readonly string[] {
  const all = apart(query)
  const list = all.type === 'and' ? all.queries : [all]
  return [...new Set(list.filter(({ type }) => type !== 'all').map(printQuery))].sort()
}

describe('a term of a search', () => {
  test.each<[string, Term, string]>([
    ['', { field: 'level', value: 'Error' }, 'level:Error'],
    ['timeout', { field: 'environment', value: 'Test Lab' }, 'timeout environment:"Test Lab"'],
    ['a OR b', { field: 'event', value: 'e', negated: true }, '(a OR b) -event:e'],
    ['event:e x', { field: 'event', value: 'e', negated: true }, 'x -event:e'],
    ['-event:e x', { field: 'event', value: 'e' }, 'x event:e'],
    ['env:Test', { field: 'environment', value: 'Test' }, 'env:Test'],
    ['x', { field: 'category', value: 'Microsoft.', prefix: true, negated: true }, 'x -category:Microsoft.*'],
    ['', { field: 'payload.a b', value: '<1' }, 'payload.a\\ b:"<1"'],
  ])('%j with %j is %j', (text, term, expected) => {
    expect(addTerm(text, term)).toBe(expected)
  })

  test('what was read as text keeps its meaning', () => {
    expect(addTerm('https://acme.test failed', { field: 'event', value: 'e' }, true)).toBe(
      '"https://acme.test" "failed" event:e',
    )
  })

  test.each<[string, Term, string]>([
    ['event:e', { field: 'event', value: 'e' }, ''],
    ['event:e AND x', { field: 'event', value: 'e' }, 'x'],
    ['x AND event:e AND y', { field: 'event', value: 'e' }, 'x AND y'],
    ['x AND -event:e', { field: 'event', value: 'e', negated: true }, 'x'],
    ['x OR event:e', { field: 'event', value: 'e' }, 'x OR event:e'],
    ['(event:e) x', { field: 'event', value: 'e' }, '(event:e) x'],
    ['NOT NOT event:e', { field: 'event', value: 'e', negated: true }, 'NOT NOT event:e'],
    ['event:e*', { field: 'event', value: 'e' }, 'event:e*'],
  ])('%j without %j is %j', (text, term, expected) => {
    expect(removeTerm(text, term)).toBe(expected)
  })

  test('the printed term means its field and its value', () => {
    fc.assert(
      fc.property(terms, (term) => {
        const query = meaning(printTerm(term))
        const positive = query.type === 'not' ? query.query : query
        expect(query.type === 'not').toBe(term.negated)
        const isCategory = term.field === 'category' && !term.prefix
        const value = isCategory ? withoutLastDot(term.value) : term.value
        expect(positive).toMatchObject({ value, prefix: term.prefix })
        expect(isText(printTerm(term))).toBe(false)
      }),
    )
  })

  test('adding a term narrows the search by it and by nothing else', () => {
    fc.assert(
      fc.property(searches, terms, (text, term) => {
        fc.pre(!hasTerm(text, { ...term, negated: !term.negated }))
        const added = addTerm(text, term, isText(text))
        expect(isText(added)).toBe(false)
        const both: Query = { type: 'and', queries: [meaning(text), meaning(printTerm(term))] }
        expect(conditions(meaning(added))).toEqual(conditions(meaning(printQuery(both))))
      }),
      { examples: [[`${'a-'.repeat(PHRASE_WORDS_MAX)}b-c "`, { field: 'event', value: 'e' }]] },
    )
  })

  test('removing what was added gives the search as it was', () => {
    fc.assert(
      fc.property(searches, terms, (text, term) => {
        fc.pre(!isText(text) && !hasTerm(text, term) && !hasTerm(text, { ...term, negated: !term.negated }))
        const added = addTerm(text, term)
        expect(hasTerm(added, term)).toBe(true)
        expect(meaning(removeTerm(added, term))).toEqual(meaning(text))
      }),
    )
  })
})

describe('a search for what begins like another', () => {
  test.each([
    ['order NullRef', 'order* NullRef*'],
    ['(a OR "b c") env:Te scope.tenant:"ac me"', '(a* OR "b c"*) env:Te* scope.tenant:"ac me"*'],
    ['-a NOT env:x level:warn eventId:5 scope.ms:>5 project:3f b* "c-"', null],
    ['a "b', null],
    ['', null],
  ])('%j', (text, expected) => {
    expect(withStars(text)).toBe(expected ?? text)
  })

  test('is a query if the other is one, and has nothing to add to itself', () => {
    fc.assert(
      fc.property(searches, (text) => {
        const starred = withStars(text)
        expect(isText(starred)).toBe(isText(text))
        expect(withStars(starred)).toBe(starred)
      }),
    )
  })
})
