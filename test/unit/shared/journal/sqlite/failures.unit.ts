import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { mkdir, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AppendError } from '../../../../../shared/journal/journal.ts'
import { createChanges } from '../../../../../shared/journal/sqlite/changes.ts'
import { clearError, JournalFileError, toAppendError } from '../../../../../shared/journal/sqlite/failures.ts'
import { createGroups } from '../../../../../shared/journal/sqlite/groups.ts'
import { packRecords } from '../../../../../shared/journal/sqlite/record-codec.ts'
import type { SqliteJournal } from '../../../../../shared/journal/sqlite/sqlite-journal.ts'
import type { StoreCalls } from '../../../../../shared/journal/sqlite/store.ts'
import { subscribe } from '../../../../../shared/journal/sqlite/subscription.ts'
import { ThreadGoneError } from '../../../../../shared/runtime/threads/thread.ts'
import { SQLITE } from '../../../../../shared/sqlite/database-file.ts'
import { eventually } from '../../../../support/eventually.ts'
import {
  bulkyRecords,
  createJournalFolder,
  createTopic,
  type JournalFolder,
  recordOf,
  recordsOf,
  scanAll,
  valuesOf,
} from '../../../../support/journal-fixture.ts'

const PAGE_BYTES = 16_384
const BATCH_RECORDS = 7
/** With a page a record, this ends in the middle of a batch. */
const FILE_BYTES_MAX = 251 * PAGE_BYTES
let folder: JournalFolder

beforeEach(async () => {
  folder = await createJournalFolder()
})

afterEach(() => folder.remove())

describe.each(['own', 'same'] as const)('a full disk, SQLite in its %s thread', (thread) => {
  const fill = async (journal: SqliteJournal, topic: string): Promise<{ error: unknown; appended: number }> => {
    for (let appended = 0; ; appended += BATCH_RECORDS) {
      try {
        const records = bulkyRecords(BATCH_RECORDS, 15_000)
        await journal.append({ topic, partition: 0, records })
      } catch (error) {
        return { error, appended }
      }
    }
  }

  test('an append is refused as certainly not written, with a message that says why; health says so too', async () => {
    const journal = await folder.open({ thread, fileBytesMax: FILE_BYTES_MAX })
    const topic = await createTopic(journal, 'full')
    const { error, appended } = await fill(journal, topic)
    expect(error).toBeInstanceOf(AppendError)
    expect(error).toMatchObject({ outcome: 'not_written', message: expect.stringContaining('the disk is full') })
    expect((error as Error).message).toContain(folder.file())
    expect(await scanAll(journal, topic)).toHaveLength(appended)
    expect(await journal.health()).toMatchObject({ ready: false, reason: expect.stringContaining('the disk is full') })
  })

  test('once there is room again, health finds out by itself and appends go on', async () => {
    const journal = await folder.open({ thread, fileBytesMax: FILE_BYTES_MAX })
    const topic = await createTopic(journal, 'full')
    const { appended } = await fill(journal, topic)
    await journal.maintain({ now: Date.now(), retentionBytesMax: 1_000_000 })
    expect(await journal.health()).toEqual({ name: 'journal', ready: true })
    await journal.append({ topic, partition: 0, records: recordsOf('after', 1) })
    expect((await scanAll(journal, topic)).at(-1)?.offset).toBe(appended)
  })
})

describe('a file that cannot be used', () => {
  const refusal = async (): Promise<Error> => {
    const error = await folder.open().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(JournalFileError)
    expect((error as Error).message).toContain(folder.file())
    return error as Error
  }

  const makeJournal = async (): Promise<void> => {
    const journal = await folder.open()
    const topic = await createTopic(journal, 'topic')
    await journal.append({ topic, partition: 0, records: bulkyRecords(500, 1_000) })
    await journal.close()
  }

  const overwrite = async (position: number, bytes: Uint8Array): Promise<void> => {
    const handle = await open(folder.file(), 'r+')
    await handle.write(bytes, 0, bytes.length, position)
    await handle.close()
  }

  test('where no file can be made beside it, as on a disk without inodes, the refusal tells both causes', async () => {
    await makeJournal()
    // The name of its write-ahead log is taken by something that cannot be opened as one.
    await mkdir(`${folder.file()}-wal`)
    expect((await refusal()).message).toMatch(/cannot be opened .*write access .* disk needs room for more files/)
  })

  test('garbage is refused with what to do', async () => {
    await writeFile(folder.file(), randomBytes(PAGE_BYTES * 2))
    expect((await refusal()).message).toMatch(
      /is damaged .*move it away .*-wal and -shm .* restore a backup or start with an empty one: .*`sluice registry restore/,
    )
  })

  test('a damaged first page is refused with what to do', async () => {
    await makeJournal()
    await overwrite(100, randomBytes(PAGE_BYTES - 100))
    expect((await refusal()).message).toContain('is damaged')
  })

  test('a damaged name of a column is refused with the name of the file', async () => {
    await makeJournal()
    const database = new DatabaseSync(folder.file())
    database.exec('ALTER TABLE batches RENAME COLUMN appended_at TO appended_au')
    database.close()
    expect((await refusal()).message).toMatch(/^the journal .* failed: .*appended_at/)
  })

  test('damaged pages of records are reported where they are read, not passed over', async () => {
    await makeJournal()
    const { length } = await readFile(folder.file())
    await overwrite(PAGE_BYTES * 8, randomBytes(length - PAGE_BYTES * 8))
    const journal = await folder.open()
    await expect(scanAll(journal, 'topic')).rejects.toThrow(/journal\.db is damaged/)
  })

  test('records whose rows are damaged are read as damaged, not passed over', async () => {
    const journal = await folder.open()
    const topic = await createTopic(journal, 'topic')
    for (const name of ['a', 'b', 'c', 'd']) await journal.append({ topic, partition: 0, records: recordsOf(name, 3) })
    const database = new DatabaseSync(folder.file())
    const ids = database.prepare('SELECT id FROM batches ORDER BY id').all()
    // A bit that turns in the number of a row, or in a count, hides the row from its reader.
    database.prepare('UPDATE batches SET id = id + 1000 WHERE id = ?').run(ids[3]?.['id'] as number)
    database.prepare('UPDATE batches SET records = 0 WHERE id = ?').run(ids[1]?.['id'] as number)
    database.prepare('UPDATE batches SET records = 1000 WHERE id = ?').run(ids[2]?.['id'] as number)
    database.close()
    const found = await scanAll(journal, topic)
    expect(found.map(({ offset }) => offset)).toEqual(Array.from({ length: 12 }, (_, offset) => offset))
    const damaged = Array.from({ length: 3 }, () => expect.stringContaining('is damaged'))
    expect(valuesOf(found)).toEqual(['a0', 'a1', 'a2', ...damaged, 'c0', 'c1', 'c2', ...damaged])
  })

  test('a folder in its place is refused', async () => {
    await mkdir(folder.file())
    expect((await refusal()).message).toContain('cannot be opened')
  })

  test('a newer schema is refused', async () => {
    await makeJournal()
    const database = new DatabaseSync(folder.file())
    database.exec('PRAGMA user_version = 99')
    database.close()
    expect((await refusal()).message).toMatch(
      /has schema version 99, this program knows \d+; run the version of Sluice/,
    )
  })

  test.each([2, 3, 4])('a file of version %i is read as it is, and written on', async (version) => {
    await makeJournal()
    const database = new DatabaseSync(folder.file())
    database.exec(`PRAGMA user_version = ${version}`)
    database.close()
    const journal = await folder.open()
    const before = await scanAll(journal, 'topic')
    await journal.append({ topic: 'topic', partition: 0, records: recordsOf('written after ', 100) })
    expect(valuesOf(await scanAll(journal, 'topic'))).toEqual([
      ...valuesOf(before),
      ...recordsOf('written after ', 100).map(({ value }) => value),
    ])
  })

  test('the database of another program is refused and left as it is', async () => {
    const database = new DatabaseSync(folder.file())
    database.exec('CREATE TABLE mine (id INTEGER PRIMARY KEY)')
    database.close()
    const before = await readFile(folder.file())
    expect((await refusal()).message).toContain('no Sluice journal')
    expect(await readFile(folder.file())).toEqual(before)
  })

  test('from a thread of its own the refusal is the same', async () => {
    await writeFile(folder.file(), randomBytes(PAGE_BYTES))
    await expect(folder.open({ thread: 'own' })).rejects.toBeInstanceOf(JournalFileError)
  })
})

const MOVED = /journal \S+ was moved or deleted while it was open; move it back, or stop/

test.each(['own', 'same'] as const)(
  'a file that was moved away is not written on, until it is back; SQLite in its %s thread',
  async (thread) => {
    const journal = await folder.open({ thread })
    const topic = await createTopic(journal, 'moved')
    const append = (name: string) => journal.append({ topic, partition: 0, records: recordsOf(name, 1) })
    await append('a')
    await rename(folder.file(), `${folder.file()}.moved`)
    const reason = expect.stringMatching(MOVED)
    await expect(append('b')).rejects.toMatchObject({ name: 'AppendError', outcome: 'not_written', message: reason })
    expect(await journal.health()).toEqual({ name: 'journal', ready: false, reason })
    await writeFile(folder.file(), '')
    await expect(append('c')).rejects.toMatchObject({ outcome: 'not_written' })
    await rename(`${folder.file()}.moved`, folder.file())
    expect(await journal.health()).toEqual({ name: 'journal', ready: true })
    await append('d')
    expect(valuesOf(await scanAll(journal, topic))).toEqual(['a0', 'd0'])
  },
)

test.each([
  {
    what: 'whose write-ahead log was moved away',
    away: () => rename(`${folder.file()}-wal`, `${folder.file()}.moved`),
    back: () => rename(`${folder.file()}.moved`, `${folder.file()}-wal`),
    says: MOVED,
  },
  {
    what: 'in a folder that can no longer be entered',
    away: async () => {
      await rename(folder.path, `${folder.path}.moved`)
      await symlink(folder.path, folder.path)
    },
    back: async () => {
      await rm(folder.path)
      await rename(`${folder.path}.moved`, folder.path)
    },
    says: /journal \S+ cannot be found while it is open \(ELOOP.*\); make its folder accessible/,
  },
  {
    what: 'over which another file system was mounted, with a file of the same number',
    away: async () => {
      const { statSync } = fs
      vi.spyOn(fs, 'statSync').mockImplementation(((...args: Parameters<typeof statSync>) =>
        Object.assign(statSync(...args) ?? {}, { dev: -1 })) as typeof statSync)
      syncBuiltinESMExports()
    },
    back: async () => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    },
    says: MOVED,
  },
])('a file $what is not written on, and health says why, until it is back', async ({ away, back, says }) => {
  const journal = await folder.open()
  const topic = await createTopic(journal, 'moved')
  const append = (name: string) => journal.append({ topic, partition: 0, records: recordsOf(name, 1) })
  await append('a')
  await away()
  const reason = expect.stringMatching(says)
  await expect(append('b').finally(back)).rejects.toMatchObject({ outcome: 'not_written', message: reason })
  await away()
  expect(await journal.health().finally(back)).toEqual({ name: 'journal', ready: false, reason })
  expect(await journal.health()).toEqual({ name: 'journal', ready: true })
  await append('c')
  expect(valuesOf(await scanAll(journal, topic))).toEqual(['a0', 'c0'])
})

test('a read that failed in the middle is whole when it is made again', async () => {
  const writer = await folder.open()
  const topic = await createTopic(writer, 'topic')
  for (let batch = 0; batch < 20; batch++) {
    await writer.append({ topic, partition: 0, records: bulkyRecords(1, 100_000) })
  }
  await writer.close()
  const reader = await folder.open()
  const whole = await readFile(folder.file())
  await writeFile(folder.file(), Buffer.from(whole).fill(0, whole.length / 2))
  await expect(scanAll(reader, topic)).rejects.toBeInstanceOf(JournalFileError)
  await writeFile(folder.file(), whole)
  expect(await scanAll(reader, topic)).toHaveLength(20)
})

describe('a group whose records cannot be read', () => {
  /** A topic of one partition with one record, whose first reads fail, and others begin with `beginning`. */
  const subscribed = async (failures: (JournalFileError | null)[], beginning = async (): Promise<void> => {}) => {
    const [content] = packRecords(recordsOf('a', 1)).map(({ content: bytes }) => bytes)
    const batch = { firstOffset: 0, appendedAt: 0, count: 1, content }
    const read = async ({ position }: { position: number }) => {
      const failure = failures.shift()
      if (failure) throw failure
      await beginning()
      return { batches: position === 0 ? [batch] : [], next: 1, firstOffset: 0, endPosition: 1 }
    }
    const calls = { join: () => {}, partitions: () => [{ id: 1, partition: 0 }], startPosition: () => 0, read }
    const store = { call: async (name: keyof typeof calls, args: [never]) => calls[name](...args) }
    const [values, logged]: [unknown[], unknown[]] = [[], []]
    const subscription = await subscribe(
      {
        store: store as unknown as StoreCalls,
        commit: async () => {},
        changes: createChanges(async () => 0, 10),
        groups: createGroups(),
        logger: { error: (_: unknown, message?: string) => void logged.push(message) },
      },
      { group: 'group', topics: ['topic'], recordsMax: 10 },
      async ({ records }) => void values.push(...valuesOf(records)),
    )
    return { subscription, values, logged }
  }

  test('reads on when an I/O error or a full disk has passed, and says meanwhile that it cannot read', async () => {
    const failures = [SQLITE.IOERR, SQLITE.FULL].map((code) => new JournalFileError(`failed with ${code}`, code))
    const { subscription, values, logged } = await subscribed(failures)
    await eventually(() => !subscription.health().ready)
    expect(subscription.health()).toEqual({ name: 'journal group group', ready: false, reason: 'failed with 10' })
    await eventually(() => values.length > 0)
    expect(values).toEqual(['a0'])
    expect(subscription.health().ready).toBe(true)
    expect(logged).toEqual(['records cannot be read; retrying'])
    await subscription.close()
    await subscription.done
  })

  test('ends while it waits to read again', async () => {
    const { subscription, logged } = await subscribed(Array(5).fill(new JournalFileError('failed', SQLITE.IOERR)))
    await eventually(() => logged.length > 0)
    await subscription.close()
    await subscription.done
  })

  test('gets nothing more of a page that arrives after it was told to end', async () => {
    const [reading, arriving] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { subscription, values } = await subscribed([], () => {
      reading.resolve()
      return arriving.promise
    })
    await reading.promise
    const closed = subscription.close()
    arriving.resolve()
    await closed
    expect(values).toEqual([])
  })

  test('reads on where SQLite took a read that the disk failed for damage', async () => {
    const { subscription, values } = await subscribed([new JournalFileError('it is damaged', SQLITE.CORRUPT)])
    await eventually(() => values.length > 0)
    expect([values, subscription.health().ready]).toEqual([['a0'], true])
    await subscription.close()
  })

  test('ends for good if the file stays damaged', async () => {
    const damaged = new JournalFileError('it is damaged', SQLITE.CORRUPT)
    const { subscription } = await subscribed(Array(1_000).fill(damaged))
    await expect(subscription.done).rejects.toBe(damaged)
    expect(subscription.health()).toMatchObject({ ready: false, reason: 'it is damaged' })
  })
})

test('several connections may make the file at once', async () => {
  const journals = await Promise.all(
    (['own', 'same', 'own', 'own'] as const).map((thread) => folder.open({ thread, file: folder.file('new.db') })),
  )
  await Promise.all(journals.map((journal) => createTopic(journal, 'topic', 3)))
  expect(await journals[3]?.partitionCount('topic')).toBe(3)
})

test('a writer waits while another process holds the file, then writes', async () => {
  const [journal, reader] = [await folder.open({ thread: 'own' }), await folder.open()]
  const topic = await createTopic(journal, 'topic')
  await journal.append({ topic, partition: 0, records: recordsOf('before', 1) })
  const other = new DatabaseSync(folder.file())
  other.exec('BEGIN IMMEDIATE')
  let settled = false
  const appended = journal.append({ topic, partition: 0, records: recordsOf('a', 1) }).finally(() => {
    settled = true
  })
  for (let turn = 0; turn < 500; turn++) await scanAll(reader, topic)
  expect(settled).toBe(false)
  other.exec('COMMIT')
  other.close()
  await appended
  expect(await scanAll(reader, topic)).toHaveLength(2)
})

test('after an I/O error or the end of the thread the records may be there, after any other failure they are not', () => {
  const fileError = (code: number) => new JournalFileError('failed', code)
  expect(toAppendError(fileError(SQLITE.IOERR)).outcome).toBe('unknown')
  expect(toAppendError(new ThreadGoneError('it ended', true)).outcome).toBe('unknown')
  expect(toAppendError(new ThreadGoneError('it had ended', false)).outcome).toBe('not_written')
  for (const code of [SQLITE.BUSY, SQLITE.FULL, SQLITE.CORRUPT, SQLITE.READONLY]) {
    expect(toAppendError(fileError(code)).outcome).toBe('not_written')
  }
})

test('an I/O error says what to look at', () => {
  // SQLITE_IOERR_SHMSIZE, as on a disk that became full.
  const thrown = Object.assign(new Error('disk I/O error'), { errcode: 4_874 })
  expect((clearError(thrown, '/data/journal.db') as Error).message).toMatch(
    /journal\.db .*free space in \/data, and see/,
  )
})

test.each(['own', 'same'] as const)(
  'records that cannot be stored are refused, SQLite in its %s thread',
  async (thread) => {
    const journal = await folder.open({ thread })
    const topic = await createTopic(journal, 'topic')
    const records = [{ ...recordOf('value'), headers: { number: 1n as unknown as string } }]
    const appended = journal.append({ topic, partition: 0, records })
    await expect(appended).rejects.toMatchObject({ name: 'AppendError', outcome: 'not_written' })
    await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
    expect(await scanAll(journal, topic)).toHaveLength(1)
  },
)
