import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Headers, Journal, JournalRecord, NewRecord, PartitionBatch } from '../../shared/journal/journal.ts'
import {
  createSqliteJournal,
  type SqliteJournal,
  type SqliteJournalOptions,
} from '../../shared/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'

/** The parts of an adapter that the journal's contract suite needs. */
export interface JournalFixture {
  /** Another client of the same journal, as in another process: each reads what the other appends. */
  open(): Promise<Journal>
  /** A name for a topic or a group that no test has used before. */
  name(base: string): string
  cleanUp(): Promise<void>
}

export interface JournalTraits {
  /** Timeout for expected events, in milliseconds. */
  readonly patienceMs: number
  /** Number of random histories in the property test. */
  readonly historiesMax: number
  /** Whether a membership change leaves alone the partitions that stay with their members. */
  readonly movesOneByOne?: boolean
}

export const recordOf = (value: string, key: string | null = null, headers: Headers = {}): NewRecord => ({
  key,
  value,
  headers,
})

/** Records whose values are `<prefix>0`, `<prefix>1` and so on. */
export const recordsOf = (prefix: string, count: number): readonly NewRecord[] =>
  Array.from({ length: count }, (_, index) => recordOf(`${prefix}${index}`))

/** Incompressible records. */
export const bulkyRecords = (count: number, bytes: number): readonly NewRecord[] =>
  Array.from({ length: count }, () => ({ ...recordOf(''), value: randomBytes(bytes) }))

export const valuesOf = (records: readonly JournalRecord[]): readonly (string | undefined)[] =>
  records.map(({ value }) => value?.toString())

export async function createTopic(journal: Journal, name: string, partitions = 1): Promise<string> {
  await journal.createTopics([{ name, role: 'event-logs', partitions, cleanup: 'delete', retentionMs: null }])
  return name
}

export async function scanAll(journal: Journal, topic: string): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = []
  for await (const record of journal.scan(topic)) records.push(record)
  return records
}

/** The position after a batch's last record. */
export const positionAfter = ({ records }: PartitionBatch): number => (records.at(-1)?.offset ?? -1) + 1

/** SQLite journals in their own folder. */
export interface JournalFolder {
  readonly path: string
  file(name?: string): string
  open(options?: Partial<SqliteJournalOptions>): Promise<SqliteJournal>
  /** Closes the opened journals and removes the folder. */
  remove(): Promise<void>
}

export async function createJournalFolder(): Promise<JournalFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-journal-'))
  const opened: SqliteJournal[] = []
  const file = (name = 'journal.db') => join(path, name)
  return {
    path,
    file,
    open: async (options = {}) => {
      const journal = await createSqliteJournal({ file: file(), thread: 'same', clock: systemClock, ...options })
      opened.push(journal)
      return journal
    },
    remove: async () => {
      await Promise.all(opened.map((journal) => journal.close()))
      await rm(path, { recursive: true })
    },
  }
}
