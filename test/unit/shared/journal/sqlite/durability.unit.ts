import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, copyFile, stat, truncate } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SqliteJournal } from '../../../../../shared/journal/sqlite/sqlite-journal.ts'
import {
  createJournalFolder,
  createTopic,
  type JournalFolder,
  recordsOf,
  scanAll,
  valuesOf,
} from '../../../../support/journal-fixture.ts'

const APPENDER = fileURLToPath(new URL('../../../../support/journal-appender.ts', import.meta.url))
const BATCH_RECORDS = 20

let folder: JournalFolder

beforeEach(async () => {
  folder = await createJournalFolder()
})

afterEach(() => folder.remove())

describe('a killed process', () => {
  /** Lets a process append, kills it when it has confirmed so many batches, and gives back all that it confirmed. */
  const appendAndKill = async (topic: string, run: number, confirmationsMin: number): Promise<readonly number[]> => {
    const child = spawn(process.execPath, [APPENDER, folder.file(), topic, String(run)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    const confirmed: number[] = []
    for await (const line of createInterface(child.stdout)) {
      confirmed.push(Number(line))
      if (confirmed.length === confirmationsMin) child.kill('SIGKILL')
    }
    expect(await exited).toEqual([null, 'SIGKILL'])
    return confirmed
  }

  test('every confirmed record is there exactly once, in order, and no batch is there in part', async () => {
    const topic = await createTopic(await folder.open(), 'killed')
    const confirmed: (readonly number[])[] = []
    for (const [run, confirmationsMin] of [1, 90, 150, 70, 200, 120, 60, 170].entries()) {
      confirmed.push(await appendAndKill(topic, run, confirmationsMin))
    }

    const values = valuesOf(await scanAll(await folder.open(), topic))
    const batches = values.filter((_, index) => index % BATCH_RECORDS === 0).map((value) => String(value).slice(0, -1))
    expect(values).toEqual(batches.flatMap((prefix) => recordsOf(prefix, BATCH_RECORDS).map(({ value }) => value)))
    for (const [run, numbers] of confirmed.entries()) {
      const found = batches
        .filter((prefix) => prefix.startsWith(`${run}/`))
        .map((prefix) => Number(prefix.split('/')[1]))
      // One client's appends are carried out in the order of its calls, so what is there has no gap.
      expect(found).toEqual(found.map((_, index) => index))
      expect(found.length).toBeGreaterThan(Math.max(...numbers))
    }
  })
})

describe('a write-ahead log with a damaged end', () => {
  let journal: SqliteJournal
  let topic: string

  beforeEach(async () => {
    journal = await folder.open()
    topic = await createTopic(journal, 'torn')
    await journal.append({ topic, partition: 0, records: recordsOf('a', 100) })
  })

  /** The files as a crash would leave them now. */
  const copyFiles = async (): Promise<string> => {
    const copy = folder.file('copy.db')
    await copyFile(folder.file(), copy)
    await copyFile(`${folder.file()}-wal`, `${copy}-wal`)
    return copy
  }

  test('garbage after it is passed over, and appends go on', async () => {
    const copy = await copyFiles()
    await appendFile(`${copy}-wal`, randomBytes(100_000))
    const reopened = await folder.open({ file: copy })
    await reopened.append({ topic, partition: 0, records: recordsOf('b', 1) })
    const expected = [...recordsOf('a', 100), ...recordsOf('b', 1)].map(({ value }) => value)
    expect(valuesOf(await scanAll(reopened, topic))).toEqual(expected)
  })

  test('a transaction cut off in the middle is not there, all before it is', async () => {
    const { size } = await stat(`${folder.file()}-wal`)
    await journal.append({ topic, partition: 0, records: recordsOf('cut', 500) })
    const copy = await copyFiles()
    const { size: sizeAfter } = await stat(`${copy}-wal`)
    expect(sizeAfter).toBeGreaterThan(size)
    await truncate(`${copy}-wal`, Math.floor((size + sizeAfter) / 2))
    const reopened = await folder.open({ file: copy })
    expect(valuesOf(await scanAll(reopened, topic))).toEqual(recordsOf('a', 100).map(({ value }) => value))
  })
})
