import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { entryDocument } from '../../../../../consumers/projections/entries.ts'
import type { EntryDocument } from '../../../../../shared/contract/documents.ts'
import type { EntryRecord } from '../../../../../shared/contract/records.ts'
import { createSqliteLogStore } from '../../../../../shared/log-store/sqlite/sqlite-log-store.ts'
import { openStore, type Store } from '../../../../../shared/log-store/sqlite/store.ts'
import { parseQuery } from '../../../../../shared/query/parse.ts'
import { applicationDocument, entriesOf, eventDocument } from '../../../../support/documents.ts'
import * as fc from '../../../../support/fast-check.ts'
import { contentsIn, eachInNewFile, inFile, removeBefore, toVersion1 } from '../../../../support/sqlite-file.ts'

const TEAM = 'payments'
const LIMITS = { movedOfATurn: 3, renewedOfATurn: 4, textTableArrivals: 10 }
const GROUPS = { groupsMax: 100, bucketsMax: 1 }
const never = new AbortController().signal
const all = entriesOf(TEAM)

let file: string
eachInNewFile((path) => {
  file = path
})

const found = (calls: Store, text: string): number => calls.count({ ...all, query: parseQuery(text).query })

const documentOf = ({ source }: { readonly source: string }): EntryDocument =>
  entryDocument(JSON.parse(source) as EntryRecord, source)

/** Renews some entries. Returns whether there may be more. */
const renewTurn = (calls: Store): boolean => calls.renewMore(entryDocument)

const DAYS = ['2026-02-01', '2026-02-02', '2026-02-03'] as const
const common = {
  receivedAt: fc.constantFrom(...DAYS).map((day) => `${day}T00:00:00.000Z`),
  environment: fc.constantFrom('Production', 'Test'),
  correlationKey: fc.constantFrom(null, 'order-1', 'order-2'),
}
const documents: fc.Arbitrary<EntryDocument> = fc.oneof(
  fc.record({ ...common, payload: fc.constantFrom('every one', '{"every": 1, "a": "b\\nc"}') }).map(eventDocument),
  fc
    .record({
      ...common,
      message: fc.constantFrom('every order 1', 'every order 2', 'every order of api.example.com'),
      exception: fc.constantFrom(null, 'Acme.No: 1\n   at Acme.Pay()', 'Acme.No: 1\n   at Acme.Send()'),
      scopeData: fc.constantFrom(null, { tenant: 'acme' }, { '@mt': 'every order {Id}', big: 12345678901234567890n }),
    })
    .map(({ scopeData, ...fields }) => {
      const document = applicationDocument(fields)
      const text = JSON.stringify(scopeData, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value))
      return documentOf({
        source: document.source.replace('"scopeData":null', `"scopeData":${text.replace(/"#|#"/g, '')}`),
      })
    }),
)

type Action =
  | { readonly type: 'write'; readonly documents: readonly EntryDocument[] }
  | { readonly type: 'remove'; readonly day: string }
  | { readonly type: 'renew' | 'move' | 'reopen' | 'downgrade' | 'removeOldest' }

const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('write' as const), documents: fc.array(documents, { maxLength: 15 }) }),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('renew' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('remove' as const), day: fc.constantFrom(...DAYS, '2026-02-04') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constantFrom('move', 'move', 'reopen', 'downgrade', 'downgrade', 'removeOldest') }),
  },
)

function act(calls: Store, action: Action): void {
  if (action.type === 'write') calls.write(action.documents)
  else if (action.type === 'remove') removeBefore(calls, action.day)
  else if (action.type === 'removeOldest') calls.removeOldest(1)
  else if (action.type === 'move') calls.moveMore()
  else if (action.type === 'renew') renewTurn(calls)
}

/** All that a search and the groups find, in any order of arrival. */
const answers = (calls: Store) => ({
  words: [
    'every',
    'order',
    'tenant',
    'acme',
    '"tenant acme"',
    'test',
    '12345678901234567890',
    'b c',
    'billing',
    'payload.every:>0',
    'scope.big:>1e18',
    'scope.big:<5',
  ].map((text) => [text, found(calls, text)]),
  groups: (['template', 'exceptionGroup'] as const).map((by) => {
    const { groups, ungrouped } = calls.groups(all, by, GROUPS)
    return { ungrouped, groups: groups.map(({ value, count }) => [value, count]) }
  }),
})

/** Expects that the full-text tables are whole, that none is left over, and that each has entries of its own alone. */
const expectWhole = (): void =>
  inFile(file, (database) => {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'").all()
    const known = database
      .prepare(`SELECT 'texts_' || number AS name, first_arrival AS first,
        lead(first_arrival, 1, 1000) OVER (ORDER BY number) AS next FROM text_tables`)
      .all()
    expect(tables.map(({ name }) => name).sort()).toEqual(known.map(({ name }) => name).sort())
    for (const { name, first = 0, next = 0 } of known) {
      database.exec(`INSERT INTO ${name} (${name}) VALUES ('integrity-check')`)
      const foreign = `SELECT rowid FROM ${name} WHERE ${name} MATCH 'every OR finished' AND NOT rowid BETWEEN ? AND ? - 1`
      expect(database.prepare(foreign).all(first, next)).toEqual([])
    }
  })

describe('entries that the version before stored', () => {
  test('are in lists, counts and groups of a template as soon as they have it, though they were counted without it', () => {
    const document = applicationDocument()
    let store = openStore({ file, limits: LIMITS })
    store.calls.write(
      Array.from({ length: 7 }, (_, hour) => applicationDocument({ timestamp: `2026-01-31T0${hour}:00:00.000Z` })),
    )
    store.close()
    inFile(file, toVersion1)
    store = openStore({ file, limits: { ...LIMITS, nearEntries: 2 } })
    while (store.calls.countMore());
    const ofTemplate = { ...all, template: document.template }
    const answered = () => [
      store.calls.search(ofTemplate, { limit: 10, order: 'desc', after: null }).sources.length,
      store.calls.count(ofTemplate),
      store.calls.groups(all, 'template', GROUPS).groups[0]?.count ?? 0,
      store.calls.series(all, { fn: 'count', of: null, by: 'template', seriesMax: 1, bucketsMax: 1 }).series[0]
        ?.count ?? 0,
    ]
    expect(answered()).toEqual([0, 0, 0, 0])
    renewTurn(store.calls)
    expect(answered()).toEqual([4, 4, 4, 4])
    while (renewTurn(store.calls));
    expect(answered()).toEqual([7, 7, 7, 7])
    store.close()
  })

  test('are found and grouped as if they were written anew, whatever is written, removed and broken off meanwhile', () => {
    fc.assert(
      fc.property(fc.array(actions, { maxLength: 14 }), (sequence) => {
        rmSync(file, { force: true })
        let store = openStore({ file, limits: LIMITS })
        try {
          for (const action of sequence) {
            act(store.calls, action)
            if (action.type === 'reopen' || action.type === 'downgrade') {
              store.close()
              if (action.type === 'downgrade') inFile(file, toVersion1)
              store = openStore({ file, limits: LIMITS })
            }
            expect(found(store.calls, 'every')).toBe(store.calls.count(all))
          }
          while (renewTurn(store.calls));
          expectWhole()
          const anew = openStore({ file: join(dirname(file), 'anew.db') })
          try {
            anew.calls.write(inFile(file, contentsIn).map(documentOf))
            expect(answers(store.calls)).toEqual(answers(anew.calls))
          } finally {
            anew.close()
          }
        } finally {
          store.close()
          for (const one of ['logs.db', 'anew.db']) rmSync(join(dirname(file), one), { force: true })
        }
      }),
    )
  }, 60_000)

  test.each([
    // Of ten entries, which are a full-text table, four are renewed in a turn.
    [
      'the rest of a table that is half renewed',
      [
        [4, 2],
        [6, 1],
        [5, 2],
      ],
      1,
    ],
    [
      'the table whose turn it is',
      [
        [10, 2],
        [10, 1],
        [5, 2],
      ],
      3,
    ],
    [
      'all that was to be renewed',
      [
        [4, 2],
        [6, 1],
        [5, 1],
      ],
      1,
    ],
  ] as const)('are whole where retention removes %s', (_, written, turns) => {
    let store = openStore({ file, limits: LIMITS })
    for (const [count, day] of written) {
      const fields = { receivedAt: `2026-02-0${day}T00:00:00.000Z`, scopeData: { tenant: 'acme' } }
      for (let one = 0; one < count; one += 1) store.calls.write([applicationDocument(fields)])
    }
    store.close()
    inFile(file, toVersion1)
    store = openStore({ file, limits: LIMITS })
    for (let turn = 0; turn < turns; turn += 1) renewTurn(store.calls)
    removeBefore(store.calls, '2026-02-02')
    while (renewTurn(store.calls));
    expect(store.calls.count(all)).toBeGreaterThan(0)
    expect(found(store.calls, '"tenant acme" finished')).toBe(store.calls.count(all))
    store.close()
    expectWhole()
  })

  test('are renewed in turns of bounded length and number, also where a single one is longer', () => {
    const long = (length: number) => applicationDocument({ message: 'every '.repeat(length / 6) })
    let store = openStore({ file, limits: LIMITS })
    store.calls.write([long(600_000), long(600_000), long(1_200_000), ...Array.from({ length: 6 }, () => long(60))])
    expect(renewTurn(store.calls)).toBe(false)
    store.close()
    inFile(file, toVersion1)
    store = openStore({ file, limits: LIMITS })
    const turns: number[] = []
    let made = 0
    const counted = (record: EntryRecord, source: string): EntryDocument => {
      made += 1
      return entryDocument(record, source)
    }
    while (store.calls.renewMore(counted)) turns.push(made - turns.reduce((sum, turn) => sum + turn, 0))
    store.close()
    expect(turns).toEqual([1, 1, 1, 4, 2])
  })

  test('are renewed once, by whichever process is first', () => {
    let store = openStore({ file, limits: LIMITS })
    store.calls.write(Array.from({ length: 8 }, () => applicationDocument({ scopeData: { tenant: 'acme' } })))
    store.close()
    inFile(file, toVersion1)
    store = openStore({ file, limits: LIMITS })
    const other = openStore({ file, limits: LIMITS })
    let made = 0
    const counted = (record: EntryRecord, source: string): EntryDocument => {
      made += 1
      return entryDocument(record, source)
    }
    while (store.calls.renewMore(counted) && other.calls.renewMore(counted));
    expect([made, renewTurn(other.calls)]).toEqual([8, false])
    expect(found(store.calls, '"tenant acme"')).toBe(8)
    other.close()
    store.close()
    expectWhole()
  })

  test('are renewed by maintenance, which ends when it is told to and goes on later', async () => {
    const store = openStore({ file, limits: LIMITS })
    store.calls.write(Array.from({ length: 25 }, (_, index) => applicationDocument({ message: `order ${index}` })))
    store.close()
    inFile(file, toVersion1)
    const again = await createSqliteLogStore({ file, thread: 'same', logger: { warn: () => {} }, limits: LIMITS })
    const stopping = new AbortController()
    let made = 0
    const stopAfterFive = (record: EntryRecord, source: string): EntryDocument => {
      made += 1
      if (made === 5) stopping.abort()
      return entryDocument(record, source)
    }
    await again.maintain({ bytesMax: null })
    expect((await again.groups(all, 'template', GROUPS)).ungrouped).toBe(25)
    await again.maintain({ bytesMax: null, documentOf: stopAfterFive, signal: stopping.signal })
    expect((await again.groups(all, 'template', GROUPS)).ungrouped).toBe(25 - 8)
    await again.write([applicationDocument({ message: 'order 25' })], never)
    await again.maintain({ bytesMax: null, documentOf: entryDocument })
    const { groups, ungrouped } = await again.groups(all, 'template', GROUPS)
    expect({ counts: groups.map(({ count }) => count), ungrouped }).toEqual({ counts: [26], ungrouped: 0 })
    await again.maintain({ bytesMax: null, documentOf: stopAfterFive })
    expect(made).toBe(8)
    await again.close()
  })
})
