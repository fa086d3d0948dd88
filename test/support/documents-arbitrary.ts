import type { EntryDocument, FlowDelta } from '../../shared/contract/documents.ts'
import { searchText } from '../../shared/contract/keyword.ts'
import { LEVELS } from '../../shared/contract/levels.ts'
import { fromNanos } from '../../shared/contract/timestamp.ts'
import { joinFlowValues } from '../../shared/log-store/flow-deltas.ts'
import type { Comparison, LeafBound, Query } from '../../shared/query/ast.ts'
import { splitWords } from '../../shared/query/words.ts'
import { documentOf, PROJECT } from './documents.ts'
import * as fc from './fast-check.ts'

/** Few words, so that documents and queries match; some differ between SQLite's and Node's Unicode tables, or are hard to fold. */
const VOCABULARY = [
  ...['order', 'Order', 'ORDER4711', '4711', '47', 'timeout', 'time', 'and', 'Größe', 'größer', 'ſtop', 'stop', 'ΟΔΟΣ'],
  ...[
    'οδος',
    'İzmir',
    'i',
    '支付',
    '失败',
    '付',
    'ひらがな',
    '𝒳𝒴',
    '𞤀𞤣𞤤',
    'ẞ',
    'ß',
    'cafe\u0301',
    'naïve',
    '½',
    '\u{1e4d0}',
  ],
  'x'.repeat(130),
  `${'x'.repeat(128)}yz`,
]
const GLUE = [' ', ' ', '-', '.', '_', '\n', '/', '👍', '\0', '\ud800', '"', '\\', "'"]
const NAMES = ['id', 'a.b', 'a', 'Id', 'x y', '', '__proto__', 'größe', 'q"\\', 'n\0']
const CATEGORIES = ['Acme', 'Acme.Billing', 'Acme.Billing.Jobs', 'Acme.BillingX', 'acme', 'Größe.x', '%_']

const word = fc.constantFrom(...VOCABULARY)
const texts = fc
  .array(fc.tuple(word, fc.constantFrom(...GLUE)), { maxLength: 6 })
  .map((parts) => parts.map(([text, glue]) => text + glue).join(''))
const scalar = fc.oneof(texts, fc.integer({ min: -3, max: 5000 }), fc.boolean(), fc.constant(null), fc.constant(4711))
const tree = fc.letrec((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('node'), { maxLength: 3 }), tie('object')),
  object: fc
    .array(fc.tuple(fc.constantFrom(...NAMES), tie('node')), { maxLength: 4 })
    .map((members) => JSON.parse(`{${members.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`)),
}))
const objects = tree.object as fc.Arbitrary<Record<string, unknown>>
type Bound = LeafBound | null

/** Instants within a few days, with many duplicates. */
const instants = fc.oneof(
  fc
    .integer({ min: 0, max: 20 })
    .map((hours) => fromNanos(1_769_860_800_000_000_000n + BigInt(hours) * 3_600_000_000_000n)),
  fc.bigInt({ min: 0n, max: 10n }).map((nanos) => fromNanos(1_769_860_800_000_000_000n + nanos)),
)
const maybe = <T>(values: readonly T[]): fc.Arbitrary<T | null> => fc.option(fc.constantFrom(...values))
const base = {
  id: fc.uuid(),
  receivedAt: instants,
  timestamp: instants,
  level: fc.constantFrom(...LEVELS),
  environment: fc.constantFrom('Production', 'Test', 'production', 'Größe', ''),
  correlationKey: maybe(['order-1', 'order-2', 'Order-1', 'ключ', 'a\0b', '%', '']),
}

/** Documents of one Team and both kinds, derived as by the consumers. */
export const documents = (team: string): fc.Arbitrary<EntryDocument> =>
  fc
    .oneof(
      fc.record({
        ...base,
        team: fc.constant(team),
        kind: fc.constant('event' as const),
        event: maybe(['order-placed', 'order', 'größe']),
        step: maybe(['order-placed.pay', 'order-placed']),
        payload: fc.oneof(
          texts,
          objects.map((value) => JSON.stringify(value)),
          objects.map((value) => JSON.stringify([value], null, 2)),
        ),
      }),
      fc.record({
        ...base,
        team: fc.constant(team),
        kind: fc.constant('application' as const),
        project: fc.constantFrom(PROJECT, '0198d5b2-7c1e-7000-8a3b-2f4c6d8e0a1b'),
        categoryName: fc.constantFrom(...CATEGORIES),
        eventId: fc.integer({ min: -2, max: 3 }),
        eventName: fc.constantFrom('', 'Started', 'start'),
        message: texts,
        exception: fc.option(texts),
        scopeData: fc.option(objects),
      }),
    )
    .map(documentOf)

const comparisons = fc.constantFrom<Comparison>('=', '>', '>=', '<', '<=')
const searchedWords = fc
  .array(word, { minLength: 1, maxLength: 3 })
  .map((parts) => splitWords(parts.join(' ')).slice(0, 4))
const leafFields = fc.constantFrom('payload' as const, 'scope' as const)
const paths = fc.array(fc.constantFrom(...NAMES.map((name) => name.replace('\0', '\uFFFD') || '_')), {
  minLength: 1,
  maxLength: 3,
})
const leafPaths = paths.map((parts) => parts.join('.'))
const leafValues = fc.oneof(
  word,
  fc.constantFrom('', '4711', '47', 'true', '-1', 'o'),
  // As the parser of searches gives them.
  texts.map(searchText),
)

const leafBound = fc
  .constantFrom('-3', '0', '4.7e1', '4711', '4711.5', '1e400')
  .map((value) => ({ value, isIncluded: true }))
const leafBounds = fc.oneof(
  fc.tuple(leafBound, leafBound),
  fc.tuple(fc.constant(null), leafBound, fc.boolean()).map(openEnd),
  fc.tuple(leafBound, fc.constant(null), fc.boolean()).map(openEnd),
)

/** The bound of a half-open range may also be exclusive. */
function openEnd([from, to, isIncluded]: readonly [Bound, Bound, boolean]): [Bound, Bound] {
  return [from && { ...from, isIncluded }, to && { ...to, isIncluded }]
}

const clause: fc.Arbitrary<Query> = fc.oneof(
  fc.record({
    type: fc.constant('words' as const),
    field: maybe(['message', 'exception', 'payload'] as const),
    words: searchedWords,
    phrase: fc.boolean(),
    prefix: fc.boolean(),
  }),
  // No query text can express a category that ends with a dot.
  fc
    .record({
      type: fc.constant('equals' as const),
      field: fc.constantFrom(
        'environment',
        'correlationKey',
        'event',
        'step',
        'project',
        'category',
        'eventName',
        'id',
      ),
      value: fc.constantFrom(
        '',
        'Production',
        'order-1',
        'order',
        'order-placed',
        PROJECT,
        '3f25',
        'Acme.',
        'Acme.Billing',
        'Größe',
        'start',
        '%',
        '0',
        'a',
      ),
      prefix: fc.boolean(),
    })
    .map((query) => ({ ...query, prefix: query.prefix || query.value.endsWith('.') })),
  fc.record({
    type: fc.constant('leaf' as const),
    field: leafFields,
    path: leafPaths,
    value: leafValues,
    prefix: fc.boolean(),
  }),
  fc.record({ type: fc.constant('leafExists' as const), field: leafFields, path: leafPaths }),
  fc
    .record({ field: leafFields, path: leafPaths, bounds: leafBounds })
    .map(({ field, path, bounds: [from, to] }) => ({ type: 'leafRange' as const, field, path, from, to })),
  fc.record({
    type: fc.constant('exists' as const),
    field: fc.constantFrom(
      'message',
      'exception',
      'payload',
      'correlationKey',
      'event',
      'step',
      'category',
      'eventName',
      'eventId',
      'environment',
    ),
  }),
  fc.record({ type: fc.constant('level' as const), comparison: comparisons, rank: fc.integer({ min: 0, max: 5 }) }),
  fc.record({
    type: fc.constant('number' as const),
    field: fc.constant('eventId' as const),
    comparison: comparisons,
    value: fc.oneof(fc.integer({ min: -3, max: 4 }), fc.constantFrom(2 ** 40, -(2 ** 40))),
  }),
  fc.record({
    type: fc.constant('time' as const),
    field: fc.constantFrom('timestamp', 'receivedAt'),
    comparison: comparisons,
    value: instants,
  }),
)

/** Queries that often match some of `documents`, and rarely all. */
export const queries: fc.Arbitrary<Query> = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { arbitrary: clause, weight: 4 },
    { arbitrary: fc.constant<Query>({ type: 'all' }), weight: 1 },
    { arbitrary: fc.record({ type: fc.constant('not' as const), query: tie('query') }), weight: 2 },
    {
      arbitrary: fc.record({
        type: fc.constantFrom('and', 'or'),
        queries: fc.array(tie('query'), { minLength: 1, maxLength: 3 }),
      }),
      weight: 3,
    },
  ),
})).query

/** Search texts made of elements of the grammar, in valid and invalid combinations. */
export const searchTexts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '(',
        ')',
        '-',
        '"',
        ':',
        '*',
        '\\',
        '[',
        ']',
        ' ',
        ' ',
        'AND ',
        ' OR ',
        'NOT ',
        '>=',
        '<',
        ' TO ',
      ),
      fc.constantFrom(
        'level:',
        'message:',
        'scope.a:',
        'payload.x\\ y:',
        'eventId:',
        'timestamp:',
        'id:',
        'category:',
        'trace:',
        'what:',
      ),
      fc.constantFrom('warning', '42', '2026-01-31', 'Acme.', PROJECT.toUpperCase(), '"a b"', '"\\""*', '[1 TO 5]'),
      word,
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

/** Sorted names of up to 10,000 characters, so that few are too many; long ones come before short ones, and the other way round. */
const flowValues = fc
  .uniqueArray(
    fc
      .tuple(fc.integer({ min: 0, max: 50 }), fc.boolean())
      .map(([number, isPadded]) => String(number).padEnd(isPadded ? 200 * number : 0, 'x')),
    { maxLength: 10 },
  )
  .map((names) => joinFlowValues([], names))
const anyInstant = fc.bigInt({ min: 0n, max: 9_000_000_000_000_000_000n }).map(fromNanos)
const DAYS = ['2025-12-31', '2026-01-01', '2026-01-02']

/** Facts of one flow, as batches of entries have them. */
export const flowDeltas: fc.Arbitrary<FlowDelta> = fc
  .record({
    firstAt: anyInstant,
    lastAt: anyInstant,
    days: fc.subarray(DAYS, { minLength: 1 }),
    time: fc.constantFrom('00:00:00.000', '00:01:00.000', '23:59:59.999'),
    worstLevel: fc.constantFrom(...LEVELS),
    lastErrorAt: fc.option(anyInstant),
    lastProgressAt: fc.option(anyInstant),
    environments: flowValues,
    events: flowValues,
    projects: flowValues,
  })
  .map(({ time, ...facts }) => {
    const lastReceivedAt = `${facts.days.at(-1)}T${time}Z`
    return { team: 'payments', correlationKey: 'Order-1', lastReceivedAt, steps: ['a\0b', 'c'], ...facts }
  })
