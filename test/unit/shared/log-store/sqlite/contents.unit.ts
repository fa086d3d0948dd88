import { rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { EntryDocument } from '../../../../../shared/contract/documents.ts'
import { createBlockReader } from '../../../../../shared/log-store/sqlite/contents.ts'
import { openDatabase } from '../../../../../shared/log-store/sqlite/database.ts'
import { createSqliteLogStore } from '../../../../../shared/log-store/sqlite/sqlite-log-store.ts'
import { openStore, type Store } from '../../../../../shared/log-store/sqlite/store.ts'
import { parseQuery } from '../../../../../shared/query/parse.ts'
import { applicationDocument, entriesOf, eventDocument, recordOf } from '../../../../support/documents.ts'
import * as fc from '../../../../support/fast-check.ts'
import { contentsIn, eachInNewFile, inFile, listed, removeBefore, toVersion3 } from '../../../../support/sqlite-file.ts'

const all = entriesOf('payments')
const query = (text: string) => ({ ...all, query: parseQuery(text).query })
const PAGE = { limit: 1_000, order: 'asc', after: null, form: 'whole' } as const
const LIMITS = { textTableArrivals: 50, movedOfATurn: 30 }

/** Entries of a full block. */
const FULL = 512

let file: string
eachInNewFile((path) => {
  file = path
})

const blockSizes = (): readonly number[] =>
  inFile(file, (database) => database.prepare('SELECT last - first + 1 AS size FROM blocks ORDER BY first').all()).map(
    ({ size }) => Number(size),
  )

/** Documents that are told apart by a leaf, `n`, and a time. */
const document = (number: number, fields: object = {}): EntryDocument =>
  applicationDocument({
    timestamp: new Date(Date.UTC(2026, 0, 31) + number).toISOString(),
    scopeData: { n: `n${number}` },
    ...fields,
  })

/** Expects that these entries, and no others, are listed with their text and found by their leaf. */
function expectEntries(calls: Store, documents: readonly EntryDocument[]): void {
  expect(listed(calls, all, 1_000, 'asc').toSorted()).toEqual(documents.map(({ source }) => source).sort())
  const [first] = documents
  if (first === undefined) return
  const [[, value] = ['', '']] = first.scopeLeaves
  expect(calls.search(query(`scope.n:${value}`), PAGE).sources).toEqual([first.source])
  expect(calls.count(query('scope.n:*'))).toBe(documents.length)
}

describe('contents', () => {
  test('of many small writes are packed into full blocks', () => {
    const { calls, close } = openStore({ file })
    for (let number = 0; number < 3 * FULL + 8; number += 1) calls.write([document(number)])
    expect(blockSizes()).toEqual([FULL, FULL, FULL, ...Array.from({ length: 8 }, () => 1)])
    calls.write(Array.from({ length: FULL + 36 }, (_, index) => document(3 * FULL + 8 + index)))
    expect(blockSizes()).toEqual([FULL, FULL, FULL, FULL, 44])
    close()
  })

  test('of long entries are in blocks of bounded bytes, or alone', () => {
    const { calls, close } = openStore({ file })
    const long = (length: number) => document(length, { message: 'x'.repeat(length) })
    for (const length of [40_000, 40_000, 40_000, 40_000, 40_000, 900_000, 10, 10]) calls.write([long(length)])
    calls.write([10, 900_000, 10, 140_000].map(long))
    expect(blockSizes()).toEqual([2, 2, 1, 1, 3, 1, 1, 1])
    expect(calls.count(query('scope.n:n10'))).toBe(4)
    close()
  })

  const writes = fc.array(
    fc.record({
      /** Of the documents that are written, those of a write before it, too: they take arrivals and store nothing. */
      repeats: fc.nat({ max: 3 }),
      size: fc.oneof(fc.constant(1), fc.nat({ max: 180 })),
      long: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )

  test('are the same however they were written, removed and moved from version 3, at every moment', () => {
    fc.assert(
      fc.property(writes, fc.nat({ max: 400 }), fc.nat({ max: 5 }), (sequence, removed, downgradeAt) => {
        rmSync(file, { force: true })
        let store = openStore({ file, limits: LIMITS })
        let kept: EntryDocument[] = []
        try {
          for (const [index, { repeats, size, long }] of sequence.entries()) {
            const documents = Array.from({ length: size }, (_, at) =>
              document(1_000 * index + at, {
                receivedAt: `2026-02-0${1 + ((index + at) % 3)}T00:00:00.000Z`,
                ...(long && { message: 'long '.repeat(1_000) }),
              }),
            )
            store.calls.write([...kept.slice(0, repeats), ...documents])
            kept.push(...documents)
            if (index !== downgradeAt) continue
            store.close()
            inFile(file, toVersion3)
            store = openStore({ file, limits: LIMITS })
          }
          expectEntries(store.calls, kept)
          for (let moves = 0; store.calls.moveMore(); moves += 1) {
            if (moves % 3 !== 1) continue
            expectEntries(store.calls, kept)
            store.close()
            store = openStore({ file, limits: LIMITS })
            const step = store.calls.removeDocumentsBefore(`2026-02-0${1 + (moves % 3)}`, removed)
            expect(step.removed).toBeGreaterThanOrEqual(0)
            const left = new Set(listed(store.calls, all, 1_000, 'asc'))
            kept = kept.filter(({ source }) => left.has(source))
            store.calls.write([document(100_000 + moves)])
            kept.push(...store.calls.search(query(`scope.n:n${100_000 + moves}`), PAGE).sources.map(ofSource))
          }
          expectEntries(store.calls, kept)
          removeBefore(store.calls, '2026-02-02')
          kept = kept.filter(({ receivedAt }) => receivedAt >= '2026-02-02')
          expectEntries(store.calls, kept)
          expect(
            inFile(file, contentsIn)
              .map(({ source }) => source)
              .sort(),
          ).toEqual(kept.map(({ source }) => source).sort())
          expect(inFile(file, (database) => database.prepare('SELECT * FROM contents').all())).toEqual([])
        } finally {
          store.close()
        }
      }),
      { numRuns: 30 },
    )
  }, 60_000)

  test('that a reader followed one by one are not kept for ever', () => {
    const [store, database] = [openStore({ file }), openDatabase({ file })]
    let reads = 0
    const prepare = (sql: string) => {
      reads += 1
      return database.prepare(sql)
    }
    const blockOf = createBlockReader({ ...database, prepare })
    for (let arrival = 1; arrival <= 500; arrival += 1) {
      store.calls.write([document(arrival)])
      database.read(() => blockOf(arrival))
    }
    database.read(() => blockOf(499))
    expect(reads).toBe(500)
    database.read(() => blockOf(1))
    expect(reads).toBe(501)
    database.close()
    store.close()
  })

  test('of version 3 are moved by maintenance, and then by nobody again', async () => {
    const old = openStore({ file })
    const documents = Array.from({ length: 2 * FULL + 22 }, (_, number) => document(number))
    old.calls.write(documents)
    old.close()
    inFile(file, toVersion3)
    const store = await createSqliteLogStore({ file, thread: 'same', logger: { warn: () => {} }, limits: LIMITS })
    const stopping = AbortSignal.abort()
    await store.maintain({ bytesMax: null, signal: stopping })
    expect(blockSizes()).toEqual([])
    await store.maintain({ bytesMax: null })
    // Version 3 stored whole sources, so that their bytes fill a block.
    const bytes = inFile(file, (database) => database.prepare('SELECT bytes FROM blocks ORDER BY first').all())
    for (const block of [bytes[0], bytes[1]]) expect(block?.['bytes']).toBeGreaterThanOrEqual(64 * 1024)
    expect(inFile(file, (database) => database.prepare('SELECT * FROM contents').all())).toEqual([])
    await store.close()
    const moved = openStore({ file })
    expect(listed(moved.calls, all, 1_000, 'asc')).toEqual(documents.map(({ source }) => source))
    moved.close()
  })
})

const ofSource = (source: string): EntryDocument => {
  const record = JSON.parse(source)
  return { ...applicationDocument(record), source }
}

describe('a damaged block', () => {
  const documents = [
    ...Array.from({ length: 2 * FULL + 22 }, (_, number) =>
      document(number, { correlationKey: number < FULL + 22 ? 'early' : 'late' }),
    ),
    eventDocument({ payload: '{"n": "one"}', correlationKey: 'event' }),
  ]

  /** The second block. */
  function damage(): void {
    inFile(file, (database) => {
      const { first, content } =
        database.prepare('SELECT first, content FROM blocks ORDER BY first LIMIT 1 OFFSET 1').get() ?? {}
      const damaged = Buffer.from(content as Uint8Array)
      damaged.fill(0xff, 100, 110)
      database.prepare('UPDATE blocks SET content = ? WHERE first = ?').run(damaged, first ?? 0)
    })
  }

  test('costs the texts of its entries, which say so, and nothing else', () => {
    const { calls, close } = openStore({ file })
    calls.write(documents)
    damage()
    const records = listed(calls, all, 1_000, 'asc').map((source) => JSON.parse(source))
    expect(records).toHaveLength(documents.length)
    const told = /in a block that is damaged/
    for (const [index, record] of records.entries()) {
      const whole = recordOf(documents.find(({ id }) => id === record.id) as EntryDocument)
      if (index < FULL || index >= 2 * FULL) expect(record).toEqual(whole)
      else expect(record).toEqual({ ...whole, message: expect.stringMatching(told), scopeData: null })
    }
    expect(calls.count(query('scope.n:*'))).toBe(FULL + 22)
    expect(calls.count(query('finished'))).toBe(2 * FULL + 22)
    expect(calls.groups(all, { field: 'scope', path: 'n' }, { groupsMax: 1, bucketsMax: 1 }).ungrouped).toBe(FULL + 1)
    expect(calls.get('payments', 'application', documents[FULL + 72]?.id ?? '')).toMatch(told)
    close()
  })

  test('of an event log says so in its payload', () => {
    const { calls, close } = openStore({ file })
    for (let from = 0; from < documents.length; from += FULL) calls.write(documents.slice(from, from + FULL))
    inFile(file, (database) =>
      database.exec("UPDATE blocks SET content = x'00' WHERE last = (SELECT max(last) FROM blocks)"),
    )
    const record = JSON.parse(calls.get('payments', 'event', documents.at(-1)?.id ?? '') ?? '')
    expect(record).toEqual({
      ...recordOf(documents.at(-1) as EntryDocument),
      payload: expect.stringMatching(/is damaged/),
    })
    close()
  })

  test('is left as long as it has entries, and removed with the last of them; writes go on behind it', () => {
    const { calls, close } = openStore({ file })
    const days = (day: string, from: number, count: number) =>
      Array.from({ length: count }, (_, index) => document(from + index, { receivedAt: `${day}T00:00:00.000Z` }))
    calls.write([...days('2026-02-01', 0, FULL + 16), ...days('2026-02-02', FULL + 16, 25)])
    damage()
    calls.write(days('2026-02-02', FULL + 41, 30))
    expect(blockSizes()).toEqual([FULL, 41, 30])
    removeBefore(calls, '2026-02-02')
    expect(blockSizes()).toEqual([41, 30])
    expect(calls.count(all)).toBe(55)
    removeBefore(calls, '2026-02-03')
    expect(blockSizes()).toEqual([])
    close()
  })
})
