import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { fromNanos, toNanos } from '../../../../../shared/contract/timestamp.ts'
import {
  RECEIVED,
  type RowValues,
  storedReceived,
  storedSource,
  wholeSource,
} from '../../../../../shared/log-store/sqlite/sources.ts'
import { applicationDocument, eventDocument } from '../../../../support/documents.ts'
import * as fc from '../../../../support/fast-check.ts'

const time = fc.bigInt({ min: 0n, max: 9_000_000_000_000_000_000n }).map(fromNanos)
/** Texts as SQLite gives them back: in UTF-8, which has no halves of characters. */
const fromUtf8 = <Values extends object>(values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]),
  ) as Values

const key = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('order-1', '"', '\\', '$&', '', '\u0001'),
)

/** The values that a row has of an entry, some of them unusual. */
const rowValues = fc
  .record({ id: fc.oneof(fc.uuid(), key), receivedAt: time, timestamp: time, correlationKey: fc.option(key) })
  .chain((values) =>
    fc
      .record({ environment: key, team: key, event: fc.option(key), category: fc.option(key), isEvent: fc.boolean() })
      .map(({ isEvent, ...names }) => ({
        ...(isEvent ? eventDocument() : applicationDocument()),
        ...names,
        ...values,
      })),
  )

/** Records of any shape: with their values anywhere and any number of times. */
const anyDocuments = rowValues.chain((values) =>
  fc
    .array(fc.tuple(fc.string(), fc.oneof(fc.constantFrom(...Object.values(values)), fc.jsonValue())))
    .map((members) => ({ ...values, source: JSON.stringify(Object.fromEntries(members)) })),
)

/** Records in the order of the gateway's, whose names may differ from those of their rows. */
const usualDocuments = fc.tuple(rowValues, fc.jsonValue(), fc.boolean()).map(([values, rest, isShortened]) => {
  const { kind, id, receivedAt, timestamp, level, environment, correlationKey, team, event, step } = values
  const { project, category, eventId, eventName } = values
  const own =
    kind === 'event'
      ? { event, step, payload: rest }
      : { project, categoryName: category ?? '', eventId, eventName: eventName ?? '', message: rest }
  const named = isShortened ? `${environment}-and-more` : environment
  const record = { kind, id, receivedAt, timestamp, level, environment: named, correlationKey, team, ...own }
  return { ...values, source: JSON.stringify(record) }
})

describe('a stored source', () => {
  test('and the row together are the source', () => {
    fc.assert(
      fc.property(fc.oneof(anyDocuments, usualDocuments), (document) => {
        // As SQLite gives back what a row has.
        const row = fromUtf8(document)
        expect(wholeSource(storedSource(document), () => row)).toBe(document.source)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    [
      '"payload":"in a box"}',
      eventDocument({ event: 'shipped', step: 'packed', environment: 'Umgebung 1', payload: 'in a box' }),
    ],
    [
      '"message":"in a box","exception":null,"scopeData":null}',
      applicationDocument({ categoryName: 'Acme.Größe', eventName: 'Done', message: 'in a box' }),
    ],
  ])('of a record of the gateway has nothing but %s', (texts, document) => {
    expect(storedSource(document)).toBe(`\u0005,${texts}`)
  })

  test('that begins otherwise has no value that is unique to the row', () => {
    const usual = applicationDocument({ correlationKey: 'order-1', timestamp: '2026-02-01T10:00:00.123456789Z' })
    const document = { ...usual, source: `{"n":1,${usual.source.slice(1)}` }
    const stored = storedSource(document)
    for (const value of [document.id, document.receivedAt, document.timestamp, 'order-1']) {
      expect(document.source).toContain(value)
      expect(stored).not.toContain(value)
    }
  })

  test('is the source itself where the row would give back other digits', () => {
    const timestamp = '2026-02-01T10:00:00.1200Z'
    const document = { ...applicationDocument(), timestamp, source: JSON.stringify({ timestamp }) }
    expect(fromNanos(toNanos(timestamp))).not.toBe(timestamp)
    expect(storedSource(document)).toBe(document.source)
  })

  test('is read without its row if it is whole', () => {
    const unread = (): RowValues => {
      throw new Error('the row was read')
    }
    expect(wholeSource('{"n":1}', unread)).toBe('{"n":1}')
  })
})

test('the time of receipt is read back, from a difference or whole', () => {
  const nanos = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 41n }))
  const times = fc.oneof(
    fc.tuple(nanos, nanos),
    fc
      .tuple(nanos, fc.bigInt({ min: -(2n ** 41n), max: 2n ** 41n }))
      .map(([time, after]) => [time, time + after] as const),
  )
  const database = new DatabaseSync(':memory:')
  const select = database.prepare(`SELECT ${RECEIVED} AS received FROM (SELECT ? AS timestamp, ? AS received)`)
  select.setReadBigInts(true)
  fc.assert(
    fc.property(times, ([timestamp, received]) => {
      fc.pre(received >= 0n && received < 2n ** 63n)
      expect(select.get(timestamp, storedReceived(timestamp, received))?.['received']).toBe(received)
    }),
    { numRuns: 2_000 },
  )
  expect([0n, 1n, 2n ** 40n].map((after) => storedReceived(10n ** 18n, 10n ** 18n + after))).toEqual([
    0n,
    1n,
    10n ** 18n + 2n ** 40n,
  ])
  database.close()
})
