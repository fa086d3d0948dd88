/**
 * Brings what an older version has stored to the form of this one. `moveMore` moves records and leaves, which version 3 had in rows of their
 * own, into blocks; a table that becomes empty is all that tells the progress, and reads look there for what is in no block.
 *
 * `renewMore` adds what entries lack: fingerprints, and words that were not indexed. They are processed in order of arrival. A full-text
 * table can neither change nor delete a row, so a new one is filled beside it and replaces it when it has all of its entries; until then the
 * old one is searched. Each turn is one transaction, which also records the progress: a killed process resumes where it was.
 */
import type { EntryDocument } from '../../contract/documents.ts'
import type { EntryRecord } from '../../contract/records.ts'
import type { Content } from './block-codec.ts'
import { appendContents, bytesOf, oldContents } from './contents.ts'
import type { StoreContext } from './context.ts'
import type { Database } from './database.ts'
import { indexedTexts, insertTexts } from './entry-writer.ts'
import { storedFingerprint } from './ids.ts'
import { RECOUNT, RENEWED_TABLE, textTableSchema } from './schema.ts'
import { beginTextTable, lastArrival, NO_END, nameOf, tableOf } from './text-tables.ts'

/** Maximum bytes that a transaction moves, except for a single entry with more. */
const MOVED_BYTES_MAX = 1_000_000

/** Moves contents of version 3 and before into blocks. Returns whether there may be more. */
export function moveMore({ database, limits }: StoreContext): boolean {
  const moved: Content[] = []
  let bytes = 0
  for (const content of oldContents(database, 0, NO_END)) {
    bytes += bytesOf(content)
    if (moved.length === limits.movedOfATurn || (moved.length > 0 && bytes > MOVED_BYTES_MAX)) break
    moved.push(content)
  }
  const last = moved.at(-1)
  if (last === undefined) return false
  appendContents(database, moved)
  database.prepare('DELETE FROM contents WHERE arrival <= ?').run(last.arrival)
  return true
}

/** Makes the document of a stored record, which is also given as its text. */
export type DocumentOf = (record: EntryRecord, source: string) => EntryDocument

/** Maximum characters of the sources of a turn (except for a single longer one): a few tens of milliseconds. */
const SOURCES_LENGTH_MAX = 1_000_000

interface State {
  readonly renewed: number
  readonly until: number
  /** The number of the table whose entries are in RENEWED_TABLE; 0 if there is none. */
  readonly number: number
}

function readState(database: Database): State {
  const { renewed, until, number } = database.prepare('SELECT * FROM renewal_state').get() ?? {}
  return { renewed: Number(renewed), until: Number(until), number: Number(number) }
}

function setState(database: Database, { renewed, until, number }: State): void {
  database.prepare('UPDATE renewal_state SET renewed = ?, until = ?, number = ?').run(renewed, until, number)
  // Many entries were counted before they had fingerprints.
  if (renewed >= until) database.exec(RECOUNT)
}

/** Replaces the table with this number by the new one; drops the new one if that table no longer exists. */
function replace(database: Database, number: number): void {
  if (number === 0) return
  const isThere = database.prepare('SELECT 1 FROM text_tables WHERE number = ?').get(number) !== undefined
  if (isThere) database.exec(`DROP TABLE ${nameOf(number)}; ALTER TABLE ${RENEWED_TABLE} RENAME TO ${nameOf(number)}`)
  else database.exec(`DROP TABLE ${RENEWED_TABLE}`)
}

/** Renews some entries of one full-text table. Returns whether there may be more. */
export function renewMore({ database, contents, limits }: StoreContext, documentOf: DocumentOf): boolean {
  const { renewed, until, number } = readState(database)
  if (renewed >= until) return false
  const arrivals = database
    .prepare('SELECT arrival FROM entries WHERE arrival > ? AND arrival <= ? ORDER BY arrival LIMIT ?')
    .all(renewed, until, limits.renewedOfATurn)
    .map(({ arrival }) => Number(arrival))
  const [first] = arrivals
  const table = first === undefined ? undefined : tableOf(database, first)
  if (table === undefined) {
    replace(database, number)
    setState(database, { renewed: until, until, number: 0 })
    return false
  }
  if (number !== table.number) {
    replace(database, number)
    database.exec(textTableSchema(RENEWED_TABLE))
  }
  const isLast = table.nextArrival === NO_END
  const next = isLast ? lastArrival(database) + 1 : table.nextArrival
  if (isLast) beginTextTable(database, table.number + 1, next)
  let [last, length] = [renewed, 0]
  for (const arrival of arrivals) {
    const source = contents.source(arrival)
    length += source.length
    if (last > renewed && (length > SOURCES_LENGTH_MAX || arrival >= next)) break
    renewOne(database, arrival, documentOf(JSON.parse(source) as EntryRecord, source))
    last = arrival
  }
  // Entries of this version may have been added to the table before the next one was begun.
  const end = Math.max(until, next - 1)
  const more = database.prepare('SELECT 1 FROM entries WHERE arrival > ? AND arrival < ? LIMIT 1').get(last, next)
  if (more === undefined) replace(database, table.number)
  setState(
    database,
    more === undefined
      ? { renewed: next - 1, until: end, number: 0 }
      : { renewed: last, until: end, number: table.number },
  )
  return true
}

function renewOne(database: Database, arrival: number, document: EntryDocument): void {
  const { template, exceptionGroup } = document
  database
    .prepare('UPDATE entries SET template = ?, exception_group = ? WHERE arrival = ?')
    .run(storedFingerprint(template), storedFingerprint(exceptionGroup), arrival)
  database.prepare(insertTexts(RENEWED_TABLE)).run(arrival, ...indexedTexts(document))
}
