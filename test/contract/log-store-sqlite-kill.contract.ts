import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoreLimits } from '../../shared/log-store/sqlite/context.ts'
import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import { applicationRecord, documentOf, entriesOf } from '../support/documents.ts'
import { contentsIn, inFile, toVersion1, toVersion3 } from '../support/sqlite-file.ts'

const WRITER = join(import.meta.dirname, 'log-store-sqlite-writer.ts')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-logs-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs a writer and kills it in the middle of its work, once it has acknowledged so many batches. Returns the last number it said. */
async function writeAndKill(file: string, begin: number, batchSize: number, batches: number): Promise<number> {
  const writer = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', WRITER, file, `${begin}`, `${batchSize}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let acknowledged = begin
  let said = 0
  for await (const line of createInterface({ input: writer.stdout })) {
    acknowledged = Number(line)
    said += 1
    if (said === batches) writer.kill('SIGKILL')
  }
  if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit')
  expect(writer.signalCode).toBe('SIGKILL')
  return acknowledged
}

const open = (file: string, limits: Partial<StoreLimits> = {}) =>
  createSqliteLogStore({ file, thread: 'same', logger: { warn: () => {} }, limits })

describe('a log store on SQLite whose writer is killed', () => {
  test.each([1, 40])(
    'has all that was acknowledged, and is whole (batches of %i)',
    async (batchSize) => {
      const file = join(folder, 'logs.db')
      let begin = 0
      for (let round = 0; round < 5; round += 1) {
        const acknowledged = await writeAndKill(file, begin, batchSize, 7 + round * 3)
        const store = await open(file)
        const kept = await store.count(entriesOf('payments'))
        // Batches that were committed and not acknowledged any more may be there as well: whole batches, nothing between.
        expect(kept).toBeGreaterThanOrEqual(acknowledged)
        expect(kept % batchSize).toBe(0)
        expect(await store.count(entriesOf('payments', { query: parseQuery('common').query }))).toBe(kept)
        for (const number of [0, acknowledged - 1, kept - 1]) {
          expect(await store.count(entriesOf('payments', { query: parseQuery(`number${number}`).query }))).toBe(1)
        }
        expect(await store.count(entriesOf('payments', { query: parseQuery(`number${kept}`).query }))).toBe(0)
        await store.close()
        expectWhole(file)
        begin = kept
      }
    },
    60_000,
  )

  test('has all entries of version 3, each moved into a block or not yet', async () => {
    const file = join(folder, 'logs.db')
    const old = await open(file)
    // Five times those of the turns below, as a kill comes some turns late on a busy machine.
    const documents = Array.from({ length: 3_000 }, (_, index) =>
      documentOf(applicationRecord({ message: `common ${index}`, scopeData: { number: index } })),
    )
    await old.write(documents, new AbortController().signal)
    await old.close()
    inFile(file, toVersion3)
    let left = documents.length
    for (const turns of [1, 20, 40]) {
      await writeAndKill(file, 0, -1, turns)
      const unmoved = inFile(file, (database) => database.prepare('SELECT count(*) AS n FROM contents').get()?.['n'])
      expect(Number(unmoved) % 10).toBe(0)
      expect(unmoved).toBeLessThanOrEqual(left - 10 * turns)
      left = Number(unmoved)
      const store = await open(file)
      for (const number of [0, documents.length - left, documents.length - 1]) {
        const { entries } = await store.search(
          entriesOf('payments', { query: parseQuery(`scope.number:${number}`).query }),
          { limit: 10, order: 'asc', after: null },
        )
        expect(entries).toMatchObject([{ message: `common ${number}` }])
      }
      await store.close()
      expectWhole(file)
    }
    expect(left).toBeGreaterThan(0)
  }, 60_000)

  test('has all entries of the version before, each renewed once or not yet', async () => {
    const file = join(folder, 'logs.db')
    const limits = { textTableArrivals: 100, renewedOfATurn: 10 }
    const old = await open(file, limits)
    const documents = Array.from({ length: 1_000 }, (_, index) =>
      documentOf(applicationRecord({ message: `common ${index}`, categoryName: 'Acme.Orders' })),
    )
    await old.write(documents, new AbortController().signal)
    await old.close()
    inFile(file, toVersion1)
    let ungrouped = documents.length
    for (const entries of [5, 133, 250]) {
      await writeAndKill(file, 0, 0, entries)
      const store = await open(file)
      expect(await store.count(entriesOf('payments', { query: parseQuery('common').query }))).toBe(documents.length)
      const answer = await store.groups(entriesOf('payments'), 'template', { groupsMax: 2, bucketsMax: 1 })
      // Whole turns, and at least those before the last one that was begun.
      expect(answer.ungrouped % 10).toBe(0)
      expect(answer.ungrouped).toBeLessThanOrEqual(Math.max(0, ungrouped - Math.floor((entries - 1) / 10) * 10))
      expect(answer.groups.map(({ count }) => count)).toEqual(
        answer.ungrouped === documents.length ? [] : [documents.length - answer.ungrouped],
      )
      ungrouped = answer.ungrouped
      await store.close()
      expectWhole(file)
    }
    const store = await open(file)
    await store.maintain({ bytesMax: null, documentOf })
    for (const text of ['common', 'orders'])
      expect(await store.count(entriesOf('payments', { query: parseQuery(text).query }))).toBe(documents.length)
    const { groups } = await store.groups(entriesOf('payments'), 'template', { groupsMax: 2, bucketsMax: 1 })
    expect(groups.map(({ count }) => count)).toEqual([documents.length])
    await store.close()
    expectWhole(file)
  }, 60_000)
})

const expectWhole = (file: string): void =>
  inFile(file, (database) => {
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    const arrivals = database.prepare('SELECT arrival FROM entries ORDER BY arrival').all()
    expect(contentsIn(database).map(({ arrival }) => ({ arrival }))).toEqual(arrivals)
    for (const { number } of database.prepare('SELECT number FROM text_tables').all())
      database.exec(`INSERT INTO texts_${number} (texts_${number}) VALUES ('integrity-check')`)
  })
