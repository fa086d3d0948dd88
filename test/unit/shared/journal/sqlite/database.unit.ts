import { statSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAppender } from '../../../../../shared/journal/sqlite/appender.ts'
import { type Database, openDatabase } from '../../../../../shared/journal/sqlite/database.ts'
import { JournalFileError } from '../../../../../shared/journal/sqlite/failures.ts'
import { createPartitions } from '../../../../../shared/journal/sqlite/partitions.ts'
import { type PackedBatch, packRecords } from '../../../../../shared/journal/sqlite/record-codec.ts'
import { SQLITE } from '../../../../../shared/sqlite/database-file.ts'
import { createJournalFolder, type JournalFolder } from '../../../../support/journal-fixture.ts'

let folder: JournalFolder
let database: Database

beforeEach(async () => {
  folder = await createJournalFolder()
  database = openDatabase({ file: folder.file() })
})

afterEach(async () => {
  database.close()
  database.close()
  await folder.remove()
})

const fill = (count: number): void => {
  const insert = database.prepare('INSERT INTO probe (filler) VALUES (zeroblob(100000))')
  for (let done = 0; done < count; done++) database.write(() => insert.run())
}

/** Pages in the write-ahead log. */
const logPages = (): unknown => database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.['log']

describe('the write-ahead log', () => {
  test('begins anew after restartLog', () => {
    fill(20)
    const before = Number(logPages())
    expect(before).toBeGreaterThan(100)
    database.restartLog()
    fill(1)
    expect(Number(logPages())).toBeLessThan(before / 5)
  })

  test('is left as it is while a reader needs it', () => {
    fill(1)
    const reader = new DatabaseSync(folder.file())
    reader.exec('BEGIN; SELECT count(*) FROM probe')
    fill(20)
    database.restartLog()
    expect(Number(logPages())).toBeGreaterThan(100)
    reader.exec('COMMIT')
    reader.close()
  })
})

test('appends restart the log after every 128 MiB, and none of them fails with a restart', async () => {
  let restarts = 0
  const recorded = {
    ...database,
    prepare: () => ({ run: () => {} }) as unknown as StatementSync,
    write: <T>(work: () => T) => work(),
    restartLog: () => {
      restarts += 1
      throw new JournalFileError('it is locked', SQLITE.BUSY)
    },
  }
  const partition = { id: 1, partition: 0, firstOffset: 0, endPosition: 0, bytes: 0 }
  const partitions = { ...createPartitions(database), find: () => ({ id: 1, compacted: true }), state: () => partition }
  const appender = createAppender(recorded, partitions)
  const [megabyte] = packRecords([{ key: null, value: 'x'.repeat(1024 * 1024), headers: {} }])
  const append = async (megabytes: number): Promise<void> => {
    const batches = Array.from({ length: megabytes }, () => megabyte as PackedBatch)
    await appender.append({ topic: 'topic', partition: 0, batches }, 0)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const seen: number[] = []
  for (const megabytes of [64, 63, 1, 127, 1]) {
    await append(megabytes)
    seen.push(restarts)
  }
  expect(seen).toEqual([0, 0, 1, 1, 2])
})

test('only their owner can read its files', () => {
  fill(1)
  const modes = ['', '-wal', '-shm'].map((ending) => statSync(folder.file() + ending).mode & 0o777)
  expect(modes).toEqual([0o600, 0o600, 0o600])
})

test('every commit is synced before it returns', () => {
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 })
  expect(database.prepare('PRAGMA fullfsync').get()).toEqual({ fullfsync: 1 })
})

test('a transaction whose work throws leaves nothing behind', () => {
  const insert = database.prepare('INSERT INTO probe (id) VALUES (?)')
  const failing = () =>
    database.write(() => {
      insert.run(1)
      throw new Error('half way')
    })
  expect(failing).toThrow('half way')
  expect(database.prepare('SELECT count(*) AS count FROM probe').get()).toEqual({ count: 0 })
  database.write(() => insert.run(1))
})
