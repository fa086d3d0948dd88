import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { foldFlows } from '../../../../../consumers/projections/flows.ts'
import type { EntryDocument } from '../../../../../shared/contract/documents.ts'
import { timestampOf } from '../../../../../shared/contract/timestamp.ts'
import type { EntryFilter } from '../../../../../shared/log-store/log-store.ts'
import { createSqliteLogStore, type SqliteLogStore } from '../../../../../shared/log-store/sqlite/sqlite-log-store.ts'
import { openStore } from '../../../../../shared/log-store/sqlite/store.ts'
import { parseQuery } from '../../../../../shared/query/parse.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'
import { entriesOf, eventDocument } from '../../../../support/documents.ts'
import { contentsIn, inFile } from '../../../../support/sqlite-file.ts'

const DAY_MS = 86_400_000
const never = new AbortController().signal
const limits = { textTableArrivals: 100 }

let folder: string
let file: string
let store: SqliteLogStore

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-logs-'))
  file = join(folder, 'logs.db')
  store = await createSqliteLogStore({ file, thread: 'same', logger: { warn: () => {} }, limits })
})

afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const find = (text: string): EntryFilter => entriesOf('payments', { query: parseQuery(text).query })

/** Documents of several days, so many a day, written day by day. */
async function fill(days: number, aDay: number, fields: object = {}): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    const receivedAt = timestampOf(Date.parse('2026-01-01T12:00:00Z') + day * DAY_MS)
    const documents = Array.from(
      { length: aDay },
      (_, index): EntryDocument =>
        eventDocument({ receivedAt, payload: `common day${day} number${index} ${'filler '.repeat(100)}`, ...fields }),
    )
    for (let from = 0; from < aDay; from += 50) await store.write(documents.slice(from, from + 50), never)
  }
}

const textTables = (): readonly string[] =>
  inFile(file, (database) =>
    database
      .prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY name")
      .all()
      .map(({ name }) => String(name)),
  )

const usedBytes = (): number =>
  inFile(file, (database) => {
    const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
  })

const count = (table: string): number =>
  inFile(file, (database) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']))

describe('removing days', () => {
  test('takes the rows, the full-text tables and the flows with it', async () => {
    await fill(3, 300, { correlationKey: 'flow' })
    expect(textTables()).toHaveLength(9)
    expect(await store.removeBefore('2026-01-03')).toBe(600)
    expect(textTables()).toEqual(['texts_7', 'texts_8', 'texts_9'])
    expect(await store.count(find('common'))).toBe(300)
    expect(await store.count(find('day1'))).toBe(0)
    expect(inFile(file, contentsIn)).toHaveLength(300)
    expect(await store.removeBefore('2030-01-01')).toBe(300)
    expect(textTables()).toEqual(['texts_9'])
    expect(await store.count(find(''))).toBe(0)
    expect(await store.flow('payments', 'flow')).toBeUndefined()
  })

  test('finds old days among new ones, and leaves the words of the rest as they are', async () => {
    await fill(1, 150)
    const late = Array.from({ length: 30 }, () =>
      eventDocument({ receivedAt: '2025-12-31T00:00:00.000Z', payload: 'late common' }),
    )
    await store.write(late, never)
    await fill(1, 150)
    expect(await store.removeBefore('2026-01-01')).toBe(30)
    expect(await store.count(find('late'))).toBe(0)
    expect(await store.count(find('common'))).toBe(300)
    expect(await store.count(find('-late'))).toBe(300)
    expect(await store.count(find('number149'))).toBe(2)
  })

  test('lets writes and reads in between its steps', async () => {
    await fill(2, 1_500)
    const removing = store.removeBefore('2026-01-02')
    const fresh = eventDocument({ receivedAt: '2026-01-02T00:00:00.000Z', payload: 'fresh' })
    await store.write([fresh], never)
    const seen = await store.count(find(''))
    expect(seen).toBeGreaterThan(1_501)
    expect(await removing).toBe(1_500)
    expect(await store.count(find(''))).toBe(1_501)
    expect(await store.count(find('fresh'))).toBe(1)
  })

  test('takes short steps through flows and through arrivals of which nothing is left', async () => {
    const fields = { receivedAt: '2026-01-01T00:00:00.000Z' }
    const flows = Array.from({ length: 501 }, (_, index) =>
      eventDocument({ ...fields, correlationKey: `flow ${index}` }),
    )
    await store.mergeFlows(deltasOf(flows), never)
    await store.write([eventDocument(fields)], never)
    inFile(file, (database) => database.exec("UPDATE sqlite_sequence SET seq = 60000 WHERE name = 'entries'"))
    await store.write([eventDocument(fields)], never)
    const { calls, close } = openStore({ file, limits })
    expect([calls.removeFlowsBefore('2026-01-02'), calls.removeFlowsBefore('2026-01-02')]).toEqual([500, 1])
    expect(calls.removeDocumentsBefore('2026-01-02', 0)).toEqual({ removed: 1, next: 50_000 })
    expect(calls.removeDocumentsBefore('2026-01-02', 50_000)).toEqual({ removed: 1, next: null })
    close()
  })

  test('ends with its step when it is called off, and the next removal goes on', async () => {
    await fill(2, 1_500)
    const stopping = new AbortController()
    const removing = store.removeBefore('2026-01-02', stopping.signal)
    stopping.abort()
    await expect(removing).rejects.toBe(stopping.signal.reason)
    const removed = 3_000 - (await store.count(find('')))
    expect(removed).toBeLessThanOrEqual(500)
    expect(await store.removeBefore('2026-01-02')).toBe(1_500 - removed)
  })

  test('keeps a flow whose summary has not heard of its last entries', async () => {
    const old = eventDocument({ correlationKey: 'k', receivedAt: '2026-01-01T00:00:00.000Z' })
    const late = eventDocument({ correlationKey: 'k', receivedAt: '2026-01-05T00:00:00.000Z' })
    await store.write([old, late], never)
    await store.mergeFlows(deltasOf([old]), never)
    expect(await store.removeBefore('2026-01-05')).toBe(1)
    const { flows } = await store.searchFlows(flowsOf('payments'), { limit: 10, sort: 'latest', after: null })
    expect(flows.map(({ groups }) => groups)).toMatchObject([[{ count: 1 }]])
  })

  test('keeps a flow whose entries are still to come', async () => {
    const entry = eventDocument({ correlationKey: 'k', receivedAt: '2026-01-05T00:00:00.000Z' })
    await store.mergeFlows(
      deltasOf([eventDocument({ correlationKey: 'k', receivedAt: '2026-01-01T00:00:00.000Z' }), entry]),
      never,
    )
    const flows = async () =>
      (await store.searchFlows(flowsOf('payments'), { limit: 10, sort: 'latest', after: null })).flows.length
    await store.removeBefore('2026-01-05')
    expect(await flows()).toBe(0)
    await store.write([entry], never)
    expect(await flows()).toBe(1)
    await store.removeBefore('2026-01-06')
    expect(count('flows')).toBe(0)
  })
})

describe('a limit of bytes', () => {
  test('removes what arrived first until the file uses less, and keeps the rest whole', async () => {
    await fill(5, 400)
    const before = usedBytes()
    const removed = await store.maintain({ bytesMax: Math.floor(before / 2) })
    expect(usedBytes()).toBeLessThanOrEqual(before / 2)
    const kept = await store.count(find(''))
    expect(kept).toBe(2_000 - removed)
    expect(kept).toBeGreaterThan(500)
    expect(await store.count(find('day4'))).toBe(400)
    expect(await store.count(find('day0'))).toBe(0)
    expect(await store.count(find('common'))).toBe(kept)
    expect(await store.maintain({ bytesMax: Math.floor(before / 2) })).toBe(0)
  })

  test('keeps a small limit while documents come, without losing all at once', async () => {
    const bytesMax = 800_000
    await store.close()
    store = await createSqliteLogStore({ file, thread: 'same', logger: { warn: () => {} } })
    for (let round = 0; round < 12; round += 1) {
      await fill(1, 150)
      await store.maintain({ bytesMax })
      expect(usedBytes()).toBeLessThanOrEqual(bytesMax)
      if (round > 0) expect(await store.count(find('common'))).toBeGreaterThan(150)
    }
    expect(await store.count(find('common'))).toBeLessThan(1_800)
  })

  test('leaves the words of what stays of a large table', async () => {
    await store.close()
    store = await createSqliteLogStore({ file, thread: 'same', logger: { warn: () => {} } })
    await fill(1, 2_000)
    await store.maintain({ bytesMax: Math.floor(usedBytes() * 0.9) })
    const kept = await store.count(find(''))
    expect([kept > 0, kept < 2_000]).toEqual([true, true])
    expect(await store.count(find('common'))).toBe(kept)
  })

  test('removes flows with their last entries, so that these do not take the room of entries', async () => {
    const bytesMax = 2_000_000
    for (let minute = 0; minute < 30; minute += 1) {
      const receivedAt = timestampOf(Date.parse('2026-01-01T00:00:00Z') + minute * 60_000)
      const documents = Array.from({ length: 400 }, (_, index) =>
        eventDocument({ receivedAt, timestamp: receivedAt, correlationKey: `order-${minute}-${index >> 1}` }),
      )
      await store.write(documents, never)
      await store.mergeFlows(foldFlows(deltasOf(documents)), never)
      await store.maintain({ bytesMax })
      expect(usedBytes()).toBeLessThanOrEqual(bytesMax)
    }
    const [entries, flows] = [count('entries'), count('flows')]
    expect(entries).toBeGreaterThan(1_500)
    // Half as many as entries, and those that the first minute of the remaining entries has lost.
    expect(flows).toBeLessThanOrEqual(entries / 2 + 200)
    const { flows: latest } = await store.searchFlows(flowsOf('payments'), { limit: 1, sort: 'latest', after: null })
    expect(latest).toMatchObject([{ groups: [{ count: 2 }] }])
  })

  test('keeps a flow whose entries are still to come, although a clock was ahead when the first documents came', async () => {
    await fill(1, 50, { receivedAt: '2027-01-01T12:00:00.000Z' })
    await fill(4, 100)
    const document = eventDocument({ correlationKey: 'coming', receivedAt: '2026-01-05T12:00:00.000Z' })
    await store.mergeFlows(deltasOf([document]), never)
    expect(await store.maintain({ bytesMax: Math.floor(usedBytes() / 2) })).toBeGreaterThan(50)
    await store.write([document], never)
    const { flows } = await store.searchFlows(flowsOf('payments'), { limit: 10, sort: 'latest', after: null })
    expect(flows).toMatchObject([{ correlationKey: 'coming' }])
  })

  test.each([
    ['the minute', 16],
    ['the day, as in an earlier release,', 10],
  ])(
    'keeps flows whose entries are still to come, if their summaries have %s of the last one',
    async (_, characters) => {
      const [noon, evening] = ['2026-01-01T12:00:00.000Z', '2026-01-01T23:00:00.000Z']
      const stored = eventDocument({ correlationKey: 'begun', receivedAt: noon })
      const coming = [
        eventDocument({ correlationKey: 'begun', receivedAt: evening }),
        eventDocument({ correlationKey: 'later', receivedAt: evening }),
        eventDocument({ correlationKey: 'same minute', receivedAt: noon }),
      ]
      await store.write([stored], never)
      await store.mergeFlows(deltasOf([stored, ...coming]), never)
      inFile(file, (database) => database.exec(`UPDATE flows SET last_day = substr(last_day, 1, ${characters})`))
      await fill(1, 400)
      expect(await store.maintain({ bytesMax: usedBytes() - 1 })).toBeLessThan(400)
      expect(await store.flow('payments', 'begun')).toBeUndefined()
      await store.write(coming, never)
      const { flows } = await store.searchFlows(flowsOf('payments'), { limit: 10, sort: 'latest', after: null })
      expect(flows.map(({ correlationKey }) => correlationKey).toSorted()).toEqual(['begun', 'later', 'same minute'])
    },
  )

  test('keeps entries of a minute that has more flows than the limit has room for', async () => {
    const bytesMax = 2_000_000
    for (let round = 0; round < 30; round += 1) {
      const documents = Array.from({ length: 400 }, (_, index) =>
        eventDocument({
          receivedAt: '2026-01-01T00:00:00.000Z',
          correlationKey: index % 100 === 0 ? 'throughout' : `a key of a flow ${round} ${index}`,
        }),
      )
      await store.write(documents, never)
      await store.mergeFlows(foldFlows(deltasOf(documents)), never)
      await store.maintain({ bytesMax })
      expect(usedBytes()).toBeLessThanOrEqual(bytesMax)
      expect(count('entries WHERE correlation_key NOT IN (SELECT key FROM flows)')).toBe(0)
    }
    expect(count('entries')).toBeGreaterThan(1_000)
    expect(count('flows')).toBe(count("entries WHERE correlation_key <> 'throughout'") + 1)
  })

  test('no limit removes nothing', async () => {
    await fill(1, 50)
    expect(await store.maintain({ bytesMax: null })).toBe(0)
    expect(await store.count(find(''))).toBe(50)
  })

  test('a removal that is called off ends with its step, and the next one goes on', async () => {
    await fill(4, 400)
    const stopping = new AbortController()
    const called = store.maintain({ bytesMax: 1, signal: stopping.signal })
    stopping.abort()
    const removed = await called
    expect(removed).toBeLessThanOrEqual(500)
    expect(await store.maintain({ bytesMax: 1 })).toBe(1_600 - removed)
  })

  test('an absurd limit ends, and the store goes on', async () => {
    await fill(1, 250)
    expect(await store.maintain({ bytesMax: 1 })).toBe(250)
    // The last table stays: the renewal of words tells tables apart by their numbers, so none may be given twice.
    expect(textTables()).toEqual(['texts_4'])
    await fill(1, 10)
    expect(await store.count(find('common'))).toBe(10)
  })
})

test('any number of full-text tables can be searched', async () => {
  await store.close()
  store = await createSqliteLogStore({
    file,
    thread: 'same',
    logger: { warn: () => {} },
    limits: { textTableArrivals: 1 },
  })
  for (let index = 0; index < 850; index += 1) {
    await store.write([eventDocument({ payload: index % 2 === 0 ? 'even common' : 'odd common' })], never)
  }
  expect(textTables()).toHaveLength(850)
  expect(await store.count(find('common'))).toBe(850)
  expect(await store.count(find('odd'))).toBe(425)
  expect(await store.count(find('-odd (even OR odd)'))).toBe(425)
})
