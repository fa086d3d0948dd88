import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { entryDocument } from '../../../../../consumers/projections/entries.ts'
import type { EntryDocument } from '../../../../../shared/contract/documents.ts'
import type { EntryRecord } from '../../../../../shared/contract/records.ts'
import {
  type Cursor,
  type Page,
  ReadTooLargeError,
  StoreHaltError,
  TailCursorError,
} from '../../../../../shared/log-store/log-store.ts'
import { openDatabase, StoreUnavailableError } from '../../../../../shared/log-store/sqlite/database.ts'
import {
  createSqliteLogStore,
  type SqliteLogStore,
  type SqliteLogStoreOptions,
} from '../../../../../shared/log-store/sqlite/sqlite-log-store.ts'
import { matchValues } from '../../../../../shared/log-store/sqlite/words-index.ts'
import { parseQuery } from '../../../../../shared/query/parse.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'
import { applicationDocument, entriesOf, eventDocument, NOON, recordOf } from '../../../../support/documents.ts'
import { eventually } from '../../../../support/eventually.ts'
import {
  damage,
  inFile,
  toVersion1,
  toVersion3,
  toVersion5,
  toVersion7,
  toVersion8,
  toVersion9,
} from '../../../../support/sqlite-file.ts'

const never = new AbortController().signal
const all = entriesOf('payments')

/** Two readers of a file, of which each begins before the other ends. */
const ALWAYS_A_READER = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  let [one, other] = [new DatabaseSync(workerData), new DatabaseSync(workerData)]
  const begin = (database) => {
    database.exec('BEGIN')
    database.prepare('SELECT count(*) FROM entries').get()
  }
  begin(one)
  setInterval(() => {
    begin(other)
    one.exec('COMMIT')
    ;[one, other] = [other, one]
  }, 5)
  parentPort.postMessage('reading')`

let folder: string
let file: string
let opened: SqliteLogStore[] = []

const open = async (options: Partial<SqliteLogStoreOptions> = {}): Promise<SqliteLogStore> => {
  const store = await createSqliteLogStore({ file, thread: 'same', logger: { warn: () => {} }, ...options })
  opened.push(store)
  return store
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-logs-'))
  file = join(folder, 'below', 'logs.db')
})

afterEach(async () => {
  await Promise.all(opened.map((store) => store.close()))
  opened = []
  rmSync(folder, { recursive: true })
})

describe('the file', () => {
  test('of version 0.2, whose entries have the words of their texts and leaves alone, is searched and written', async () => {
    const store = await open()
    const fields = { team: 'payments', correlationKey: 'order-1', scopeData: { tenant: 'acme', ms: 12 } }
    await store.write([applicationDocument(fields)], never)
    inFile(file, (database) =>
      database.exec(`INSERT INTO texts_1 (texts_1) VALUES ('delete-all');
        INSERT INTO texts_1 (rowid, message, leaves) VALUES (1, 'request finished', 'acme' || char(10) || '12' || char(10));
        UPDATE renewal_state SET until = 1`),
    )
    const found = (text: string): Promise<number> => store.count({ ...all, query: parseQuery(text).query })
    expect(await found('finished scope.tenant:acme scope.ms:>11.5 correlationKey:order-1 acme')).toBe(1)
    expect(await found('order-1 OR tenant OR billing')).toBe(0)
    await store.write([applicationDocument(fields)], never)
    expect(await found('order-1 tenant billing')).toBe(1)
    expect(await found('acme')).toBe(2)
  })

  test('has a full-text table whose first column is the one with the most text of its first write', async () => {
    const store = await open({ limits: { textTableArrivals: 1 } })
    const fields = { team: 'payments', eventName: 'OrderPlaced' }
    for (const [message, note] of [
      ['order 1 was placed by a customer who had looked for it in all of our shops', 'a'],
      ['order 2', 'a long note about what was placed, and by whom'],
    ] as const)
      await store.write([applicationDocument({ ...fields, message, scopeData: { note } })], never)
    const tables = inFile(file, (database) =>
      database.prepare("SELECT sql FROM sqlite_schema WHERE name IN ('texts_1', 'texts_2') ORDER BY name").all(),
    )
    const firstColumns = tables.map(({ sql }) => /fts5\(\s*(\w+)/.exec(String(sql))?.[1])
    expect(firstColumns).toEqual(['message', 'leaves'])
    const found = ['placed', 'message:placed', 'scope.note:"by whom"', '"order 2"', 'orderplaced'].map((text) =>
      store.count({ ...all, query: parseQuery(text).query }),
    )
    expect(await Promise.all(found)).toEqual([2, 1, 0, 1, 2])
  })

  test('of version 7, with whole times of receipt and an index of flows with ids, is read, written and cleared', async () => {
    const documents = (number: number) =>
      [
        ['b', '2026-02-01T23:59:58.999Z'] as const,
        ['c', '2026-02-01T23:59:59.999999999Z'] as const,
        ['a', '2026-02-03T00:00:00.000Z'] as const,
      ].map(([digit, receivedAt]) =>
        applicationDocument({
          ...{ team: 'payments', correlationKey: 'order-1', timestamp: '2026-02-01T23:59:59.000Z', receivedAt },
          id: `${digit.repeat(8)}-0000-4000-8000-00000000000${number}`,
        }),
      )
    const flow = { ...all, correlationKey: 'order-1' }
    const listed = async (store: SqliteLogStore) => {
      const entries: EntryRecord[] = []
      for (let after: Cursor | null = null; ; ) {
        const page: Page = await store.search(flow, { limit: 2, order: 'asc', after })
        entries.push(...page.entries)
        if (page.next === null) return entries
        after = page.next
      }
    }
    const byId = (records: readonly EntryDocument[]) => records.map(recordOf).toSorted((x, y) => (x.id < y.id ? -1 : 1))
    const [first, second] = [documents(1), documents(2)]
    const store = await open()
    await store.write(first, never)
    await store.close()
    inFile(file, toVersion7)
    const upgraded = await open()
    expect(await listed(upgraded)).toEqual(byId(first))
    await upgraded.write(second, never)
    expect(await listed(upgraded)).toEqual(byId([...first, ...second]))
    const received = (text: string) => upgraded.count({ ...all, query: parseQuery(`receivedAt:${text}`).query })
    expect(
      await Promise.all(['<2026-02-01T23:59:59Z', '>=2026-02-01T23:59:59Z', '>=2026-02-02'].map(received)),
    ).toEqual([2, 4, 2])
    expect(await upgraded.removeBefore('2026-02-02')).toBe(4)
    expect((await listed(upgraded)).map(({ receivedAt }) => receivedAt.slice(0, 10))).toEqual([
      '2026-02-03',
      '2026-02-03',
    ])
  })

  test('of version 2, whose entries have no words of their values, is searched, written, and renewed', async () => {
    const store = await open()
    const documents = (from: number) =>
      [from, from + 1].map((ms) => applicationDocument({ team: 'payments', scopeData: { ms, at: '2026-02-01' } }))
    await store.write(documents(11), never)
    await store.close()
    inFile(file, (database) => {
      database.exec(`INSERT INTO texts_1 (texts_1) VALUES ('delete-all');
        INSERT INTO texts_1 (rowid, leaves) VALUES (1, 'ms 11'), (2, 'ms 12')`)
      toVersion3(database)
      database.exec('PRAGMA user_version = 2')
    })
    const upgraded = await open()
    await upgraded.write(documents(12), never)
    const found = () =>
      Promise.all(
        ['scope.ms:>11', 'scope.ms:<12', 'scope.ms:>13', 'scope.at:<2026-02-02', '-scope.ms:>11'].map((text) =>
          upgraded.count({ ...all, query: parseQuery(text).query }),
        ),
      )
    expect(await found()).toEqual([3, 1, 0, 4, 1])
    await upgraded.maintain({ bytesMax: null, documentOf: entryDocument })
    expect(await found()).toEqual([3, 1, 0, 4, 1])
    const words = new DatabaseSync(file)
    const table = words.prepare('SELECT name FROM sqlite_schema WHERE name GLOB ? ORDER BY name').get('texts_[0-9]')
    const value = matchValues({
      type: 'leafRange',
      field: 'scope',
      path: 'ms',
      from: null,
      to: { value: '11', isIncluded: true },
    })
    expect(
      words.prepare(`SELECT rowid FROM ${table?.['name']} WHERE ${table?.['name']} MATCH ?`).all(value ?? ''),
    ).toEqual([{ rowid: 1 }])
    words.close()
  })

  test('with tables of version 1, whose entries have no fingerprints, is read and written, and grouped from then on', async () => {
    const store = await open()
    await store.write([applicationDocument({ team: 'payments', message: 'order 1' })], never)
    await store.close()
    inFile(file, toVersion1)
    const upgraded = await open()
    await upgraded.write([applicationDocument({ team: 'payments', message: 'order 2' })], never)
    const limits = { groupsMax: 10, bucketsMax: 1 }
    const { groups, ungrouped } = await upgraded.groups(all, 'template', limits)
    expect(groups.map(({ count }) => count)).toEqual([1])
    expect(ungrouped).toBe(1)
    expect((await upgraded.groups(all, 'project', limits)).groups.map(({ count }) => count)).toEqual([2])
  })

  test('of version 1 goes on to be used; its flows with errors are failed until an Event or Step logs again', async () => {
    const store = await open()
    const failed = { team: 'payments', correlationKey: 'failed', level: 'Error' } as const
    const ended = { team: 'payments', correlationKey: 'ended' }
    const told = [failed, ended].map((fields) => eventDocument(fields))
    await store.write(told, never)
    await store.mergeFlows(deltasOf(told), never)
    await store.close()
    inFile(file, toVersion1)
    const again = await open()
    const states = { lately: '2100-01-01T00:00:00.000Z', ends: [], waits: [] }
    const count = () => again.countFlows(flowsOf('payments'), states)
    expect(await count()).toEqual({ running: 0, stalled: 0, failed: 1, finished: 1 })
    const late = eventDocument({ ...failed, level: 'Information' })
    await again.write([late], never)
    await again.mergeFlows(deltasOf([late]), never)
    expect(await count()).toEqual({ running: 0, stalled: 0, failed: 0, finished: 2 })
  })

  test.each([
    ['of version 5, whose sources have the values of their rows', toVersion5],
    ['of version 8, whose sources have the names of their rows, and rows those of Teams', toVersion8],
    ['of version 9, which has whole ids in their index', toVersion9],
  ])('%s, is read and written', async (_, toOlder) => {
    const store = await open()
    const documents = Array.from({ length: 3 }, (_, ms) => applicationDocument({ team: 'payments', scopeData: { ms } }))
    await store.write(documents, never)
    await store.close()
    inFile(file, toOlder)
    const upgraded = await open()
    documents.push(applicationDocument({ team: 'payments', scopeData: { ms: 3 } }))
    await upgraded.write(documents.slice(-1), never)
    const { entries } = await upgraded.tail(all, '0', 10)
    expect(entries.map(({ entry }) => entry)).toEqual(documents.map(recordOf))
    expect(await upgraded.write(documents, never)).toEqual(documents.map(() => ({ outcome: 'duplicate' })))
    for (const document of documents)
      expect(await upgraded.get('payments', 'application', document.id)).toEqual(recordOf(document))
  })

  test('tells ids apart that differ in what their index does not have', async () => {
    const start = '01990000-0000-7000'
    const ids = ['8000-00000000000a', '8000-00000000000b'].map((end) => `${start}-${end}`)
    const others = ['02990000-0000-7000-8000-00000000000a', ids[0]?.toUpperCase() ?? '', ids[0]?.slice(1) ?? '']
    const documents = [...ids, ...others].map((id) => applicationDocument({ team: 'payments', id }))
    const store = await open()
    const written = await store.write([...documents, ...documents], never)
    const [stored, duplicate] = [{ outcome: 'stored' }, { outcome: 'duplicate' }]
    expect(written).toEqual([...documents.map(() => stored), ...documents.map(() => duplicate)])
    for (const document of documents) {
      expect(await store.get('payments', 'application', document.id)).toEqual(recordOf(document))
      expect(await store.count({ ...all, query: parseQuery(`id:"${document.id}"`).query })).toBe(1)
    }
  })

  test('is made with its folder, and keeps what was written when it is opened again', async () => {
    const store = await open()
    const document = eventDocument()
    await store.write([document], never)
    await store.close()
    await store.close()
    await expect(store.count(all)).rejects.toThrow('closed')
    expect(await store.health()).toMatchObject({ ready: false })
    const again = await open()
    expect(await again.get('payments', 'event', document.id)).toEqual(JSON.parse(document.source))
    expect(await again.write([document], never)).toEqual([{ outcome: 'duplicate' }])
  })

  test('a cursor of a tail is good after a restart, also where everything was removed', async () => {
    const store = await open()
    await store.write([eventDocument(), eventDocument()], never)
    const { cursor } = await store.tail(all, null, 10)
    expect(await store.removeBefore('2100-01-01')).toBe(2)
    await store.close()
    const again = await open()
    const document = eventDocument()
    await again.write([document], never)
    const { entries } = await again.tail(all, cursor, 10)
    expect(entries.map(({ entry }) => entry.id)).toEqual([document.id])
  })

  test('a cursor that is none is refused', async () => {
    const store = await open()
    await store.write([eventDocument()], never)
    expect(await store.tail(all, '1', 10)).toMatchObject({ entries: [] })
    // The last is one of a file with more entries, which this one has replaced.
    for (const cursor of ['', 'x', '-1', '1.5', '9'.repeat(30), '2']) {
      await expect(store.tail(all, cursor, 10)).rejects.toBeInstanceOf(TailCursorError)
    }
  })

  test('keeps its write-ahead log small although there is always a reader', async () => {
    const mebibytes = 1024 * 1024
    openDatabase({ file }).close()
    const readers = new Worker(ALWAYS_A_READER, { eval: true, workerData: file })
    const database = openDatabase({ file })
    try {
      await once(readers, 'message')
      for (let written = 0; written < 160; written += 1)
        database.write(() => database.exec(`INSERT INTO contents (leaves, source) VALUES (zeroblob(${mebibytes}), '')`))
      expect(statSync(`${file}-wal`).size).toBeLessThan(100 * mebibytes)
    } finally {
      database.close()
      await readers.terminate()
    }
  })

  test.each(['same', 'own'] as const)('garbage is refused, and the way out is told (thread: %s)', async (thread) => {
    file = join(folder, 'logs.db')
    writeFileSync(file, 'this is no database, and it is long enough to be taken for one '.repeat(200))
    const opening = open({ thread })
    await expect(opening).rejects.toBeInstanceOf(StoreHaltError)
    await expect(opening).rejects.toThrow(/is damaged .*move it away .*the next start brings back what the journal/)
    expect(readFileSync(file, 'utf8')).toContain('this is no database')
  })

  test("another program's database is refused and left alone", async () => {
    file = join(folder, 'logs.db')
    inFile(file, (foreign) => foreign.exec('CREATE TABLE theirs (a); PRAGMA user_version = 1'))
    const before = readFileSync(file)
    await expect(open()).rejects.toThrow(/no Sluice log store; set DATA_DIR/)
    expect(readFileSync(file)).toEqual(before)
  })

  test('a newer version is refused', async () => {
    await (await open()).close()
    inFile(file, (newer) => newer.exec('PRAGMA user_version = 11'))
    const opening = open()
    await expect(opening).rejects.toBeInstanceOf(StoreHaltError)
    await expect(opening).rejects.toThrow(/schema version 11, this program knows 10/)
  })

  test('a folder in its place is refused', async () => {
    file = folder
    await expect(open()).rejects.toBeInstanceOf(StoreHaltError)
  })

  test('damage found later halts the writer', async () => {
    const store = await open()
    const documents = Array.from({ length: 300 }, (_, index) => eventDocument({ payload: `word${index} `.repeat(100) }))
    await store.write(documents, never)
    await store.close()
    const bytes = readFileSync(file)
    // All but the first page, which tells SQLite what kind of a file it is.
    bytes.fill(0xff, 8_192)
    writeFileSync(file, bytes)
    const damaged = await Promise.all((['same', 'own'] as const).map((thread) => open({ thread })))
    for (const write of damaged.map((one) => one.write([eventDocument()], never))) {
      write.catch(() => undefined)
      await expect(write).rejects.toBeInstanceOf(StoreHaltError)
      await expect(write).rejects.toThrow(/is damaged/)
    }
  })
})

describe('several connections', () => {
  test('one sees at once what another wrote', async () => {
    const [writer, reader] = [await open(), await open({ thread: 'own' })]
    for (let round = 1; round <= 20; round += 1) {
      await writer.write([eventDocument({ payload: `round ${round}` })], never)
      expect(await reader.count(all)).toBe(round)
    }
  })

  test('two writers and a reader work side by side', async () => {
    const stores = [await open({ thread: 'own' }), await open({ thread: 'own' })]
    const reader = await open({ thread: 'own' })
    const counts: number[] = []
    const writing = stores.map(async (store) => {
      for (let batch = 0; batch < 20; batch += 1) await store.write([eventDocument(), eventDocument()], never)
    })
    const reading = (async () => {
      while ((counts.at(-1) ?? 0) < 80) counts.push(await reader.count(all))
    })()
    await Promise.all([...writing, reading])
    expect(counts.toSorted((a, b) => a - b)).toEqual(counts)
    const { entries } = await reader.tail(all, '0', 1_000)
    expect(new Set(entries.map(({ entry }) => entry.id)).size).toBe(80)
  })
})

describe('a full disk', () => {
  test('holds a write up until there is room, and loses nothing', async () => {
    const store = await open({ fileBytesMax: 1_500_000 })
    const filler = () =>
      eventDocument({ payload: randomBytes(7_500).toString('base64'), receivedAt: '2020-01-01T00:00:00.000Z' })
    const giveUp = new AbortController()
    const written: string[] = []
    const filling = (async () => {
      for (;;) {
        const document = filler()
        await store.write([document], giveUp.signal)
        written.push(document.id)
      }
    })()
    await eventually(async () => (await store.health()).ready === false)
    expect((await store.health()).reason).toMatch(/the disk is full/)
    const reason = new Error('the partition was taken away')
    giveUp.abort(reason)
    await expect(filling).rejects.toBe(reason)
    expect((await store.health()).ready).toBe(true)
    expect(written.length).toBeGreaterThan(5)
    expect(await store.count(all)).toBe(written.length)

    const late = filler()
    const waiting = store.write([late, eventDocument()], never)
    await eventually(async () => (await store.health()).ready === false)
    expect(await store.removeBefore('2020-01-02')).toBe(written.length)
    expect(await waiting).toEqual([{ outcome: 'stored' }, { outcome: 'stored' }])
    expect(await store.count(all)).toBe(2)
    expect((await store.health()).ready).toBe(true)
  })
})

test.each(['same', 'own'] as const)(
  'a search of many words is too large where full-text tables are many, SQLite in its %s thread',
  async (thread) => {
    const store = await open({ thread })
    const words = Array.from({ length: 99 }, (_, index) => `-w${index}`).join(' ')
    const filter = { ...all, query: parseQuery(`correlationKey:key ${words}`).query }
    expect(await store.count(filter)).toBe(0)
    // SQLite counts the values of a statement before it looks for the tables.
    inFile(file, (database) =>
      database.exec(`INSERT INTO text_tables (number, first_arrival)
        WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400) SELECT i, i FROM n`),
    )
    await expect(store.count(filter)).rejects.toBeInstanceOf(ReadTooLargeError)
  },
)

test.each([["x'ff'"], ['1.5e-300']])(
  'a row with a damaged time (%s) keeps no other from being read and written',
  async (value) => {
    const store = await open()
    const documents = [1, 2, 3].map((ms) =>
      applicationDocument({ correlationKey: 'key', categoryName: `c${ms}`, scopeData: { ms } }),
    )
    await store.write(documents, never)
    await store.mergeFlows(deltasOf(documents), never)
    await store.close()
    damage(file, `UPDATE entries SET timestamp = ${value}, received = ${value} WHERE arrival = 2`)
    damage(
      file,
      `UPDATE flows SET first_at = ${value}, last_error_at = ${value}, worst_level = x'ff', environments = 7`,
    )

    const again = await open()
    const page = { limit: 10, order: 'asc', after: null } as const
    expect((await again.search(all, page)).entries).toHaveLength(3)
    expect((await again.search({ ...all, query: parseQuery('finished').query }, page)).entries).toHaveLength(3)
    const hour = { ...all, from: NOON, to: '2026-01-31T13:00:00.000Z' }
    const ofNumbers = { fn: 'max', of: { field: 'scope', path: 'ms' }, by: null, seriesMax: 1, bucketsMax: 3 } as const
    for (const filter of [all, hour]) {
      const { groups } = await again.groups(filter, 'category', { groupsMax: 10, bucketsMax: 3 })
      for (const { value, sample } of groups) expect(sample).toMatchObject({ categoryName: value })
      const { series } = await again.series(filter, ofNumbers)
      // Without a range, the time of the damaged row is the first or last one.
      if (filter === hour) expect([groups.length, series[0]?.count]).toEqual([2, 2])
    }
    await again.mergeFlows(deltasOf(documents), never)
    expect((await again.flow('payments', 'key'))?.groups).toHaveLength(1)
    const flows = await again.searchFlows(flowsOf('payments'), { limit: 10, sort: 'latest', after: null })
    expect(flows.flows).toMatchObject([{ correlationKey: 'key' }])
  },
)

test('a file that was moved away is not written on, until it is back', async () => {
  const store = await open()
  await store.write([eventDocument({ payload: 'before' })], never)
  renameSync(file, `${file}.moved`)
  const written = store.write([eventDocument({ payload: 'after' })], never)
  await eventually(async () => !(await store.health()).ready)
  const reason = expect.stringMatching(/log store \S+ was moved or deleted while it was open; move it back, or stop/)
  expect(await store.health()).toEqual({ name: 'log-store', ready: false, reason })
  expect(await store.count(all)).toBe(1)
  renameSync(`${file}.moved`, file)
  await written
  expect((await store.health()).ready).toBe(true)
  expect(await store.count(all)).toBe(2)
})

test('a write waits while the folder cannot be entered', async () => {
  const store = await open()
  await store.write([eventDocument({ payload: 'before' })], never)
  const folder = dirname(file)
  renameSync(folder, `${folder}.moved`)
  symlinkSync(folder, folder)
  const written = store.write([eventDocument({ payload: 'after' })], never)
  try {
    await eventually(async () => !(await store.health()).ready)
  } finally {
    rmSync(folder)
    renameSync(`${folder}.moved`, folder)
  }
  await written
  expect(await store.count(all)).toBe(2)
})

test('a file that is locked for too long can be tried again', async () => {
  await (await open()).close()
  const other = new DatabaseSync(file)
  other.exec('BEGIN EXCLUSIVE')
  await expect(open()).rejects.toBeInstanceOf(StoreUnavailableError)
  other.close()
  expect(await (await open()).count(all)).toBe(0)
})
