import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { EntryDocument } from '../../../../../shared/contract/documents.ts'
import type { EntryFilter } from '../../../../../shared/log-store/log-store.ts'
import type { StoreLimits } from '../../../../../shared/log-store/sqlite/context.ts'
import { StoreUnavailableError } from '../../../../../shared/log-store/sqlite/database.ts'
import { openStore, type Store } from '../../../../../shared/log-store/sqlite/store.ts'
import { parseQuery } from '../../../../../shared/query/parse.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { applicationDocument, entriesOf, eventDocument } from '../../../../support/documents.ts'
import { damage, eachInNewFile, inFile, removeBefore, toVersion6 } from '../../../../support/sqlite-file.ts'

const DAYS = ['2026-01-01', '2026-01-02', '2026-01-03'] as const

let file: string
eachInNewFile((path) => {
  file = path
})

function withStore(limits: Partial<StoreLimits>, work: (calls: Store) => void): void {
  const store = openStore({ file, limits })
  try {
    work(store.calls)
  } finally {
    store.close()
  }
}

const rows = (sql: string): readonly object[] =>
  inFile(file, (database) =>
    database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row })),
  )

const logOf = (categoryName: string, day: string = DAYS[0], fields: object = {}): EntryDocument =>
  applicationDocument({
    categoryName,
    receivedAt: `${day}T12:00:00.000Z`,
    timestamp: `${day}T12:00:00.000Z`,
    ...fields,
  })

const categoriesIn = (calls: Store, filter: EntryFilter = entriesOf('payments')) =>
  calls.facets(filter, 10).category.map(({ value, count }) => [value, count])

const CATEGORIES = 'SELECT last_table, category FROM names ORDER BY category'

describe('names', () => {
  test('of many entries are stored once', () => {
    withStore({}, (calls) => {
      const some = () => [logOf('Acme.Mail'), logOf('Acme.Billing', DAYS[0], { eventName: 'Paid' })]
      calls.write([...some(), ...some()])
      calls.write([...some(), eventDocument({ step: 'checked' })])
    })
    expect(rows('SELECT environment, event, step, category, event_name FROM names ORDER BY number')).toEqual([
      { environment: 'Production', event: null, step: null, category: 'Acme.Mail', event_name: null },
      { environment: 'Production', event: null, step: null, category: 'Acme.Billing', event_name: 'Paid' },
      { environment: 'Production', event: 'order-placed', step: 'checked', category: null, event_name: null },
    ])
    expect(rows('SELECT DISTINCT environment, event, step, project, category, event_name FROM entries')).toEqual([
      { environment: '', event: null, step: null, project: null, category: null, event_name: null },
    ])
    expect(rows('SELECT names FROM entries ORDER BY arrival').map((row) => Object.values(row)[0])).toEqual([
      1, 2, 1, 2, 1, 2, 3,
    ])
  })

  test.each([
    ['of version 6', () => inFile(file, toVersion6), {}],
    ['beyond the limit', () => {}, { namesMax: 0 }],
  ] as const)('that are in the rows of entries %s are read beside those with a number', (_, change, limits) => {
    const entries = () => [
      logOf('Acme.Mail.Queue', DAYS[0], { correlationKey: 'order-1', eventName: 'Sent' }),
      logOf('Other', DAYS[0], { environment: 'Test', correlationKey: 'order-1' }),
      eventDocument({ step: 'checked', correlationKey: 'order-1' }),
    ]
    withStore(limits, (calls) => calls.write(entries()))
    change()
    withStore({}, (calls) => {
      const written = entries()
      calls.write(written)
      calls.mergeFlows(deltasOf(written))
      const count = (text: string): number => calls.count(entriesOf('payments', { query: parseQuery(text).query }))
      for (let counted = 0; counted < 2; counted += 1) {
        expect(count('category:Acme.Mail environment:Production')).toBe(2)
        expect(count('eventName:Sent')).toBe(2)
        expect(count('eventName:Sen* OR step:checked OR step:none')).toBe(4)
        expect(count('-environment:Test category:*')).toBe(2)
        expect(calls.count(entriesOf('payments', { environment: 'Test', category: 'Other' }))).toBe(2)
        expect(categoriesIn(calls)).toEqual([
          ['Acme.Mail.Queue', 2],
          ['Other', 2],
        ])
        const limitsOfGroups = { groupsMax: 5, bucketsMax: 1 }
        const { groups } = calls.groups(entriesOf('payments'), 'eventName', limitsOfGroups)
        expect(groups.map(({ value, count: size }) => [value, size])).toEqual([['Sent', 2]])
        while (calls.countMore());
      }
      expect(calls.flow('payments', 'order-1')?.groups.map(({ step, count: size }) => [step, size])).toEqual([
        [null, 4],
        ['checked', 2],
      ])
      expect(calls.countedEntries()).toBe(6)
      removeBefore(calls, '2030-01-01')
      expect(calls.countedEntries()).toBe(0)
    })
  })

  test('are numbered up to a limit, and then stored with each entry', () => {
    withStore({ namesMax: 2 }, (calls) => {
      calls.write(['A', 'B', 'C', 'A', 'D'].map((category) => logOf(category)))
      calls.write(['D', 'B'].map((category) => logOf(category)))
      expect(categoriesIn(calls)).toEqual([
        ['A', 2],
        ['B', 2],
        ['D', 2],
        ['C', 1],
      ])
    })
    expect(rows(CATEGORIES)).toMatchObject([{ category: 'A' }, { category: 'B' }])
    expect(rows('SELECT category FROM entries WHERE names IS NULL')).toEqual(
      ['C', 'D', 'D'].map((category) => ({ category })),
    )
  })

  test('are removed when no entry has them any more, and make room for others', () => {
    withStore({ textTableArrivals: 2, namesMax: 3 }, (calls) => {
      const [first, second, third] = DAYS
      calls.write([logOf('Old', first), logOf('Stays', first)])
      calls.write([logOf('Stays', second), logOf('New', second)])
      calls.write([logOf('Latest', third)])
      expect(rows(CATEGORIES)).toEqual([
        { last_table: 2, category: 'New' },
        { last_table: 1, category: 'Old' },
        { last_table: 2, category: 'Stays' },
      ])
      removeBefore(calls, second)
      calls.write([logOf('Latest', third)])
      expect(rows(CATEGORIES)).toEqual([
        { last_table: 3, category: 'Latest' },
        { last_table: 2, category: 'New' },
        { last_table: 2, category: 'Stays' },
      ])
      expect(categoriesIn(calls)).toEqual([
        ['Latest', 2],
        ['New', 1],
        ['Stays', 1],
      ])
    })
  })

  test('of a write that failed get a number once more', () => {
    withStore({}, (calls) => calls.write([logOf('Old')]))
    const store = openStore({ file, fileBytesMax: 1_000_000 })
    try {
      const many = Array.from({ length: 5_000 }, () => logOf('New', DAYS[0], { message: randomUUID().repeat(10) }))
      expect(() => store.calls.write(many)).toThrow(StoreUnavailableError)
      store.calls.write([logOf('New'), logOf('Old')])
      expect(categoriesIn(store.calls)).toEqual([
        ['Old', 2],
        ['New', 1],
      ])
    } finally {
      store.close()
    }
  })

  test('that a damaged row refers to in vain are no names', () => {
    withStore({}, (calls) => calls.write([logOf('A'), logOf('B')]))
    damage(file, 'UPDATE entries SET names = 99 WHERE arrival = 1')
    withStore({}, (calls) => {
      while (calls.countMore());
      expect(categoriesIn(calls)).toEqual([['B', 1]])
      expect(calls.search(entriesOf('payments'), { limit: 5, order: 'asc', after: null }).sources).toHaveLength(2)
    })
  })
})
