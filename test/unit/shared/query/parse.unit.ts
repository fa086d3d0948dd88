import { describe, expect, test } from 'vitest'
import type { LeafBound, Query } from '../../../../shared/query/ast.ts'
import { PHRASE_WORDS_MAX } from '../../../../shared/query/clause.ts'
import { FIELDS, findField, LEAF_FAMILIES } from '../../../../shared/query/fields.ts'
import { parseQuery, QUERY_DEPTH_MAX, QUERY_LENGTH_MAX, QUERY_TERMS_MAX } from '../../../../shared/query/parse.ts'
import { searchTexts } from '../../../support/documents-arbitrary.ts'
import * as fc from '../../../support/fast-check.ts'
import { apart, printQuery } from '../../../support/query.ts'

const word = (text: string, prefix = false): Query => words([text], false, prefix)
const words = (list: readonly string[], phrase: boolean, prefix = false): Query => ({
  type: 'words',
  field: null,
  words: list,
  phrase,
  prefix,
})
const and = (...queries: Query[]): Query => ({ type: 'and', queries })
const or = (...queries: Query[]): Query => ({ type: 'or', queries })
const not = (query: Query): Query => ({ type: 'not', query })

const leafRange = (path: string, from: LeafBound | null, to: LeafBound | null): Query => ({
  type: 'leafRange',
  field: 'payload',
  path,
  from,
  to,
})

const equalsProject: Query = {
  type: 'equals',
  field: 'project',
  value: '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  prefix: false,
}

const READ: readonly (readonly [string, Query])[] = [
  ['', { type: 'all' }],
  ['  \n ', { type: 'all' }],
  ['*', { type: 'all' }],
  ['Timeout', word('timeout')],
  ['foo bar', and(word('foo'), word('bar'))],
  ['foo AND bar', and(word('foo'), word('bar'))],
  ['toString valueOf', and(word('tostring'), word('valueof'))],
  ['foo and bar', and(word('foo'), word('and'), word('bar'))],
  ['order-4711', words(['order', '4711'], true)],
  ['"connection refused"', words(['connection', 'refused'], true)],
  ['"one"', word('one')],
  ['foo*', word('foo', true)],
  ['order-47*', words(['order', '47'], true, true)],
  ['order-*', word('order')],
  ['"order 47"*', words(['order', '47'], true, true)],
  ['"a \\" b"', words(['a', 'b'], true)],
  ['foo OR bar baz', or(word('foo'), and(word('bar'), word('baz')))],
  ['(foo OR bar) baz', and(or(word('foo'), word('bar')), word('baz'))],
  ['-foo', not(word('foo'))],
  ['NOT foo bar', and(not(word('foo')), word('bar'))],
  ['NOT NOT foo', word('foo')],
  ['-(NOT foo)', word('foo')],
  ['-(a b)', not(and(word('a'), word('b')))],
  ['((a))', word('a')],
  ['a OR (b OR c)', or(word('a'), word('b'), word('c'))],
  ['message:foo', { ...word('foo'), field: 'message' } as Query],
  ['exception:"a b"', { ...words(['a', 'b'], true), field: 'exception' } as Query],
  ['environment:Production', { type: 'equals', field: 'environment', value: 'Production', prefix: false }],
  ['ENV:"a b"', { type: 'equals', field: 'environment', value: 'a b', prefix: false }],
  ['category:Acme.*', { type: 'equals', field: 'category', value: 'Acme.', prefix: true }],
  ['category:Acme.', { type: 'equals', field: 'category', value: 'Acme', prefix: false }],
  ['category:.', { type: 'equals', field: 'category', value: '.', prefix: false }],
  ['category:Acme\\*', { type: 'equals', field: 'category', value: 'Acme*', prefix: false }],
  ['correlation:a:b', { type: 'equals', field: 'correlationKey', value: 'a:b', prefix: false }],
  ['event:a\\ b', { type: 'equals', field: 'event', value: 'a b', prefix: false }],
  ['id:0198D5B2*', { type: 'equals', field: 'id', value: '0198d5b2', prefix: true }],
  ['eventName:*', { type: 'exists', field: 'eventName' }],
  ['exception:*', { type: 'exists', field: 'exception' }],
  ['eventId:*', { type: 'exists', field: 'eventId' }],
  ['level:*', { type: 'all' }],
  ['project:{3F2504E0-4F89-11D3-9A0C-0305E82C3301}', equalsProject],
  ['project:3F2504E04F8911D39A0C0305E82C3301', equalsProject],
  ['eventId:42', { type: 'number', field: 'eventId', comparison: '=', value: 42 }],
  ['eventId:>=-1', { type: 'number', field: 'eventId', comparison: '>=', value: -1 }],
  ['eventId:-0', { type: 'number', field: 'eventId', comparison: '=', value: 0 }],
  [
    'eventId:[1 TO 5]',
    and(
      { type: 'number', field: 'eventId', comparison: '>=', value: 1 },
      { type: 'number', field: 'eventId', comparison: '<=', value: 5 },
    ),
  ],
  ['eventId:[* TO 5]', { type: 'number', field: 'eventId', comparison: '<=', value: 5 }],
  ['level:warning', { type: 'level', comparison: '=', rank: 3 }],
  ['level:warn', { type: 'level', comparison: '=', rank: 3 }],
  ['level:>=ERROR', { type: 'level', comparison: '>=', rank: 4 }],
  ['Level:<info', { type: 'level', comparison: '<', rank: 2 }],
  [
    'timestamp:>=2026-01-31T09:30',
    { type: 'time', field: 'timestamp', comparison: '>=', value: '2026-01-31T09:30:00.000Z' },
  ],
  [
    'received:2026-01-31',
    and(
      { type: 'time', field: 'receivedAt', comparison: '>=', value: '2026-01-31T00:00:00.000Z' },
      { type: 'time', field: 'receivedAt', comparison: '<', value: '2026-02-01T00:00:00.000Z' },
    ),
  ],
  ['trace:*', { type: 'leafExists', field: 'scope', path: 'traceId' }],
  ['SPAN:0042', { type: 'leaf', field: 'scope', path: 'spanId', value: '0042', prefix: false }],
  [
    'traceId:5B8e*',
    or(
      { type: 'leaf', field: 'scope', path: 'traceId', value: '5b8e', prefix: true },
      { type: 'leaf', field: 'scope', path: 'traceId', value: '5B8E', prefix: true },
      { type: 'leaf', field: 'scope', path: 'traceId', value: '5B8e', prefix: true },
    ),
  ],
  ['payload.order.id:4711', { type: 'leaf', field: 'payload', path: 'order.id', value: '4711', prefix: false }],
  ['scope.RequestId:0HN*', { type: 'leaf', field: 'scope', path: 'RequestId', value: '0HN', prefix: true }],
  ['scopedata.Request\\ Id:""', { type: 'leaf', field: 'scope', path: 'Request Id', value: '', prefix: false }],
  ['payload.n:>-5', leafRange('n', { value: '-5', isIncluded: false }, null)],
  ['payload.n:<="1.5s"', leafRange('n', null, { value: '1.5s', isIncluded: true })],
  ['payload.n:[1 TO 2]', leafRange('n', { value: '1', isIncluded: true }, { value: '2', isIncluded: true })],
  ['payload.n:1..2', leafRange('n', { value: '1', isIncluded: true }, { value: '2', isIncluded: true })],
  ['payload.n:[2 TO 1]', leafRange('n', { value: '2', isIncluded: true }, { value: '1', isIncluded: true })],
  ['payload.n:[* TO 2]', leafRange('n', null, { value: '2', isIncluded: true })],
  ['payload.n:[* TO *]', { type: 'leafExists', field: 'payload', path: 'n' }],
  ['payload.n:"1..2"', { type: 'leaf', field: 'payload', path: 'n', value: '1..2', prefix: false }],
  ['payload.n:1..b', { type: 'leaf', field: 'payload', path: 'n', value: '1..b', prefix: false }],
  ['payload.n:1..2..3', { type: 'leaf', field: 'payload', path: 'n', value: '1..2..3', prefix: false }],
  ['environment:1..2', { type: 'equals', field: 'environment', value: '1..2', prefix: false }],
  [
    'eventId:1..5',
    and(
      { type: 'number', field: 'eventId', comparison: '>=', value: 1 },
      { type: 'number', field: 'eventId', comparison: '<=', value: 5 },
    ),
  ],
  ['payload.key:*', { type: 'leafExists', field: 'payload', path: 'key' }],
  ['scope.op:">="', { type: 'leaf', field: 'scope', path: 'op', value: '>=', prefix: false }],
]

/** Text, a part of the problem, where it is, and what is searched instead. */
const UNREAD: readonly (readonly [string, RegExp, number, Query])[] = [
  [
    'foo:bar',
    /no field "foo"\. A value .* is scope.foo or payload.foo. Fields are level, message/,
    0,
    words(['foo', 'bar'], true),
  ],
  ['catgory:pay', /no field "catgory"\. Did you mean category\? A value/, 0, words(['catgory', 'pay'], true)],
  ['tenant:pay', /no field "tenant"\. A value/, 0, words(['tenant', 'pay'], true)],
  ['10.0.0.1:5432 down', /no field/, 0, and(words(['10', '0', '0', '1', '5432'], true), word('down'))],
  ['see level:loud', /"loud" is not a level; levels are Trace/, 10, and(word('see'), words(['level', 'loud'], true))],
  ['level:', /no value after "level:"/, 6, word('level')],
  ['level:(a OR b)', /group cannot follow "level:"/, 6, and(words(['level', 'a'], true), word('or'), word('b'))],
  ['eventId:abc', /whole numbers/, 8, words(['eventid', 'abc'], true)],
  ['timestamp:yesterday', /not a date/, 10, words(['timestamp', 'yesterday'], true)],
  ['trace:hello', /ids of trace are hexadecimal digits, not "hello"/, 6, words(['trace', 'hello'], true)],
  ['span:""', /hexadecimal digits/, 5, word('span')],
  ['trace:>ab', /trace has no order/, 7, words(['trace', 'ab'], true)],
  ['environment:>a', /has no order/, 13, words(['environment', 'a'], true)],
  [
    'payload.n:>x5',
    /payload\.n is compared with numbers.*times.*durations.*not with "x5"/,
    11,
    words(['payload', 'n', 'x5'], true),
  ],
  ['payload.n:<=', /no value after "payload.n:"/, 12, words(['payload', 'n'], true)],
  ['payload.n:>5*', /\* cannot end a value that is compared/, 12, words(['payload', 'n', '5'], true)],
  ['payload.n:[1 TO b]', /not with "b"/, 10, and(words(['payload', 'n', '1'], true), word('to'), word('b'))],
  [
    'payload.n:1..2026-01-31',
    /Both ends of a range of payload\.n/,
    10,
    words(['payload', 'n', '1', '2026', '01', '31'], true),
  ],
  ['eventId:1..x', /whole numbers, not with "x"/, 8, words(['eventid', '1', 'x'], true)],
  ['payload.:5', /no field "payload\."/, 0, words(['payload', '5'], true)],
  ['eventId:[1 5]', /range is written/, 8, and(words(['eventid', '1'], true), word('5'))],
  ['level:err*', /\* cannot end a value of level/, 9, words(['level', 'err'], true)],
  ['fo*o', /only be the end/, 2, words(['fo', 'o'], true)],
  ['*foo', /only be the end/, 0, word('foo')],
  ['foo "bar', /not closed/, 4, and(word('foo'), word('bar'))],
  ['(foo', /not closed/, 0, word('foo')],
  ['foo)', /closing parenthesis/, 3, word('foo')],
  ['run()', /closing parenthesis/, 4, word('run')],
  ['foo AND', /missing at the end/, 7, and(word('foo'), word('and'))],
  ['OR foo', /OR needs something/, 0, and(word('or'), word('foo'))],
  ['a AND OR b', /OR needs something/, 6, and(word('a'), word('and'), word('or'), word('b'))],
  ['foo - bar', /no letter or digit.*"-"/, 4, and(word('foo'), word('bar'))],
  ['!!!', /no letter or digit/, 0, { type: 'all' }],
]

describe('the grammar', () => {
  test.each(READ)('%j is read', (text, query) => {
    expect(parseQuery(text)).toEqual({ query, reading: { read: 'query' } })
  })

  test.each(UNREAD)('%j is searched as text, and the reader is told why and where', (text, problem, at, query) => {
    const parsed = parseQuery(text)
    expect(parsed).toEqual({ query, reading: { read: 'text', problem: expect.stringMatching(problem), at } })
  })

  test('NUL and lone surrogates in a search are what they are in a document', () => {
    expect(parseQuery('event:a\0b\ud800').query).toMatchObject({ value: 'a\uFFFDb\uFFFD' })
  })

  test('of a long phrase the first words follow each other, and the others are there', () => {
    const words = Array.from({ length: 22 }, (_, index) => `w${index}`)
    const [begin, rest] = [words.slice(0, 20), words.slice(20)]
    expect(parseQuery(`message:"${words.join(' ')}"*`).query).toEqual(
      and(
        { type: 'words', field: 'message', words: begin, phrase: true, prefix: false },
        { type: 'words', field: 'message', words: rest, phrase: false, prefix: true },
      ),
    )
    expect(parseQuery(`"${begin.join(' ')}"`).query).toMatchObject({ words: begin, phrase: true })
    expect(parseQuery(`-"${words.join(' ')}"`).query).toMatchObject({ type: 'not', query: { type: 'and' } })
  })

  test('groups, terms and length have limits', () => {
    const groups = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`
    expect(parseQuery(groups(QUERY_DEPTH_MAX)).reading.read).toBe('query')
    expect(parseQuery(groups(QUERY_DEPTH_MAX + 1)).reading).toMatchObject({ read: 'text', at: QUERY_DEPTH_MAX })
    expect(parseQuery('a '.repeat(QUERY_TERMS_MAX)).reading.read).toBe('query')
    const many = parseQuery('a '.repeat(QUERY_TERMS_MAX + 1))
    expect(many.reading).toMatchObject({ read: 'text', at: 2 * QUERY_TERMS_MAX })
    expect(many.query).toMatchObject({ queries: { length: QUERY_TERMS_MAX } })
    expect(parseQuery(`"${'a '.repeat(QUERY_TERMS_MAX)}"`).reading.read).toBe('query')
    const phrase = parseQuery(`b "${'a '.repeat(QUERY_TERMS_MAX)}"`)
    expect(phrase.reading).toMatchObject({ read: 'text', at: 2 })
    expect(phrase.query).toMatchObject({ queries: { length: QUERY_TERMS_MAX } })
    expect(parseQuery(`${'a-'.repeat(QUERY_TERMS_MAX)}b`).query).toMatchObject({
      queries: [
        { phrase: true, words: { length: 20 } },
        { phrase: false, words: { length: QUERY_TERMS_MAX - 20 } },
      ],
    })
    expect(parseQuery('a'.repeat(QUERY_LENGTH_MAX)).reading.read).toBe('query')
    expect(parseQuery('a'.repeat(QUERY_LENGTH_MAX + 1)).reading).toMatchObject({ read: 'text', at: QUERY_LENGTH_MAX })
  })

  test.each(['(', '-', '"', '\\', '[', ':', 'NOT ', 'level:', '-(', 'a:['])(
    '%j a million times is answered',
    (part) => {
      expect(() => parseQuery(part.repeat(1_000_000))).not.toThrow()
      expect(() => parseQuery(part.repeat(QUERY_LENGTH_MAX / part.length))).not.toThrow()
    },
  )

  test('no text makes it throw, and what was searched has a place inside the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), searchTexts), (text) => {
        const { reading } = parseQuery(text)
        if (reading.read === 'query') return
        expect(reading.at).toBeGreaterThanOrEqual(0)
        expect(reading.at).toBeLessThanOrEqual(text.length)
        expect(reading.problem).toMatch(/^[\p{Lu}"a-z].*\.$/su)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a query that was printed is read as itself', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), searchTexts), (text) => {
        const query = apart(parseQuery(text).query)
        const printed = printQuery(query)
        expect(parseQuery(printed)).toEqual({ query, reading: { read: 'query' } })
        expect(printQuery(parseQuery(printed).query)).toBe(printed)
      }),
      { numRuns: 2_000, examples: [[`-"${'a '.repeat(PHRASE_WORDS_MAX)}b c" d`]] },
    )
  })
})

describe('the syntax sheet', () => {
  test('every example is read as a query', () => {
    for (const { example } of [...FIELDS, ...LEAF_FAMILIES]) {
      expect(parseQuery(example).reading).toEqual({ read: 'query' })
    }
  })

  test('a name or alias in any case means one field', () => {
    const names = FIELDS.flatMap(({ name, aliases }) => [name, ...aliases])
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
    for (const field of FIELDS) {
      for (const name of [field.name, ...field.aliases]) {
        expect(findField(name.toUpperCase())).toEqual({ kind: 'field', field })
      }
    }
  })

  test('the path of a leaf keeps its case', () => {
    expect(findField('SCOPE.RequestId')).toEqual({ kind: 'leaf', field: 'scope', path: 'RequestId' })
    expect(findField('constructor')).toBeUndefined()
    expect(findField('scope')).toBeUndefined()
  })
})
