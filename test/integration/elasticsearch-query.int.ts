import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { LEVELS } from '../../shared/contract/levels.ts'
import type { ElasticsearchLogStore } from '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
import type { Comparison, Query, TextField } from '../../shared/query/ast.ts'
import { parseQuery, QUERY_DEPTH_MAX } from '../../shared/query/parse.ts'
import { splitWords } from '../../shared/query/words.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import * as fc from '../support/fast-check.ts'
import { matches } from '../support/query.ts'
import { documentOf, EVERYTHING, never, openStore, removeAll, uniquePrefix } from './elasticsearch-support.ts'

const WORDS = [
  'order',
  'Order-4711',
  'ordering',
  '4711',
  'größe',
  'ΣΊΣΥΦΟΣ',
  '注文',
  'a+b',
  '!!!',
  `long${'x'.repeat(300)}`,
]
const VALUES = [
  '7',
  '-1.5',
  '10.50',
  '2026-01-31T00:00:00Z',
  '',
  'a',
  'a.b',
  'A',
  'ab',
  'a*b',
  'ä\uFFFDb',
  `v${'y'.repeat(1_000)}`,
]
const PATHS = ['a', 'a.b', 'ab', 'order.id']
const TIMES = [
  '2026-01-31T09:30:00.123Z',
  '2026-01-31T09:30:00.1234Z',
  '2026-01-31T09:30:00.123456789Z',
  '2261-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00.000Z',
]

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 5 }).map((words) => words.join(' '))
const leaf = fc.tuple(fc.constantFrom(...PATHS), fc.constantFrom(...VALUES))
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null })

const document: fc.Arbitrary<Partial<EntryDocument>> = fc.record({
  timestamp: fc.constantFrom(...TIMES),
  level: fc.constantFrom(...LEVELS),
  environment: fc.constantFrom(...VALUES),
  event: maybe(fc.constantFrom(...VALUES)),
  category: maybe(fc.constantFrom(...VALUES)),
  eventName: maybe(fc.constantFrom(...VALUES)),
  eventId: maybe(fc.constantFrom(-(2 ** 31), -1, 0, 7, 2 ** 31 - 1)),
  message: maybe(text),
  exception: maybe(text),
  payload: maybe(text),
  payloadLeaves: fc.array(leaf, { maxLength: 3 }),
  scopeLeaves: fc.array(leaf, { maxLength: 3 }),
})

const comparison = fc.constantFrom<Comparison[]>('=', '>', '>=', '<', '<=')
const texts = fc.constantFrom<TextField[]>('message', 'exception', 'payload')
const keywords = fc.constantFrom('environment', 'event', 'category', 'eventName', 'correlationKey', 'id' as const)

const bound = fc.record({
  value: fc.constantFrom('-1', '0', '007', '10.5', '2026-01-31', 'x'),
  isIncluded: fc.boolean(),
})

const { query } = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      type: fc.constant('words' as const),
      field: maybe(texts),
      words: text.map(splitWords),
      phrase: fc.boolean(),
      prefix: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('equals' as const),
      field: keywords,
      value: fc.constantFrom(...VALUES),
      prefix: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('leaf' as const),
      field: fc.constantFrom('payload' as const, 'scope' as const),
      path: fc.constantFrom(...PATHS),
      value: fc.constantFrom(...VALUES),
      prefix: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('exists' as const),
      field: fc.oneof(keywords, texts, fc.constant('eventId' as const)),
    }),
    fc.record({
      type: fc.constant('leafExists' as const),
      field: fc.constantFrom('payload' as const, 'scope' as const),
      path: fc.constantFrom(...PATHS),
    }),
    fc
      .record({ path: fc.constantFrom(...PATHS), bounds: fc.tuple(maybe(bound), maybe(bound)) })
      .map(({ path, bounds: [from, to] }) => ({ type: 'leafRange' as const, field: 'scope' as const, path, from, to })),
    fc.record({ type: fc.constant('level' as const), comparison, rank: fc.integer({ min: 0, max: 5 }) }),
    fc.record({
      type: fc.constant('number' as const),
      field: fc.constant('eventId' as const),
      comparison,
      value: fc.constantFrom(-1e15, -(2 ** 31), -1, 0, 6.5, 7, 2 ** 31 - 1, 1e15),
    }),
    fc.record({
      type: fc.constant('time' as const),
      field: fc.constant('timestamp' as const),
      comparison,
      value: fc.constantFrom(...TIMES),
    }),
    fc.record({ type: fc.constant('not' as const), query: tie('query') }),
    fc.record({
      type: fc.constantFrom('and' as const, 'or' as const),
      queries: fc.array(tie('query'), { minLength: 1, maxLength: 3 }),
    }),
  ) as fc.Arbitrary<Query>,
}))

await describeWithBackends('searches in Elasticsearch', { elasticsearch: 'shared' }, ({ elasticsearch }) => {
  const prefix = uniquePrefix()
  const documents = fc.sample(document, { numRuns: 300, seed: 1 }).map((sample, number): EntryDocument => {
    const plain = documentOf(number)
    // Pages follow by the timestamp in the source, which therefore has to be the one that is indexed.
    const source = JSON.stringify({ ...JSON.parse(plain.source), timestamp: sample.timestamp })
    return { ...plain, ...sample, source }
  })
  let store: ElasticsearchLogStore

  beforeAll(async () => {
    store = openStore(elasticsearch.url, prefix).store
    await store.indices.apply()
    expect(new Set((await store.write(documents, never)).map(({ outcome }) => outcome))).toEqual(new Set(['stored']))
    await eventually(async () => expect(await store.count(EVERYTHING)).toBe(documents.length))
  })

  afterAll(async () => {
    await store.close()
    await removeAll(elasticsearch.url, prefix)
  })

  const foundBy = async (sought: Query): Promise<string[]> => {
    const page = await store.search({ ...EVERYTHING, query: sought }, { limit: 1_000, order: 'asc', after: null })
    return page.entries.map(({ id }) => id).sort()
  }

  const expected = (sought: Query): string[] =>
    documents
      .filter((one) => matches(sought, one))
      .map(({ id }) => id)
      .sort()

  test('find what the meaning of the grammar says', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (sought) => {
        expect(await foundBy(sought)).toEqual(expected(sought))
      }),
      { numRuns: 600, seed: 2 },
    )
  }, 120_000)

  test.each(['(order OR ergo -', '(4711 (order OR ', '-(order ', '(ordering OR -', '(order OR 4711 (größe OR '])(
    'may be as deep as the grammar allows: %s',
    async (opening) => {
      const groups = opening.split('(').length - 1
      const levels = Math.floor(QUERY_DEPTH_MAX / groups)
      const parsed = parseQuery(`${opening.repeat(levels)}order${')'.repeat(levels * groups)}`)
      expect(parsed.reading).toEqual({ read: 'query' })
      expect(await foundBy(parsed.query)).toEqual(expected(parsed.query))
    },
  )
})
