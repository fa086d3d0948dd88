import type { SQLInputValue } from 'node:sqlite'
import type { EntryDocument } from '../../contract/documents.ts'
import { levelRank } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'
import { detailsText } from '../../query/details-text.ts'
import type { WriteOutcome } from '../log-store.ts'
import type { Content } from './block-codec.ts'
import { appendContents } from './contents.ts'
import type { StoreContext } from './context.ts'
import { HAS_ID, idParameters, storedFingerprint, storedId } from './ids.ts'
import { leafBytes } from './leaf-bytes.ts'
import { createNamesWriter, NAMED, type Names } from './names.ts'
import { countMany } from './rollups.ts'
import { KINDS, TEXT_BITS, TEXT_COLUMNS, type TextColumn } from './schema.ts'
import { storedReceived, storedSource } from './sources.ts'
import { createKeys } from './teams.ts'
import { currentTextTable, lastArrival, nameOf } from './text-tables.ts'
import { indexedText, valueWords } from './words-index.ts'

/** Stores documents, in one transaction; one outcome each, in order. */
export function createEntryWriter(
  context: StoreContext,
): (documents: readonly EntryDocument[]) => readonly WriteOutcome[] {
  const { database, limits } = context
  const names = createNamesWriter(database, limits.namesMax)

  function write(forms: readonly ReturnType<typeof storedForms>[]): readonly WriteOutcome[] {
    const table = currentTextTable(database, lastArrival(database) + 1, limits.textTableArrivals, () =>
      longestOf(forms),
    )
    const numberOf = names.begin(table)
    const keyOf = createKeys(database)
    const find = database.prepare(FIND)
    const insertNumbered = database.prepare(INSERT_NUMBERED)
    const insertNamed = database.prepare(INSERT_NAMED)
    const insertText = database.prepare(insertTexts(nameOf(table)))
    const stored: Content[] = []
    const outcomes = forms.map((form): WriteOutcome => {
      if ('refused' in form) return { outcome: 'refused', reason: form.refused }
      if (find.get(...idParameters(form.id)) !== undefined) return { outcome: 'duplicate' }
      const [key, number] = [keyOf(form.team), numberOf(form.names)]
      const { lastInsertRowid } =
        number === null
          ? insertNamed.run(key, form.id, ...form.entry, ...form.names)
          : insertNumbered.run(key, form.id, ...form.entry, number, NO_ENVIRONMENT)
      insertText.run(lastInsertRowid, ...form.texts)
      stored.push({ arrival: Number(lastInsertRowid), ...form.content })
      return { outcome: 'stored' }
    })
    appendContents(database, stored)
    countMany(context)
    return outcomes
  }

  return (documents) => {
    if (documents.length === 0) return []
    // Before the transaction, as others wait for its end.
    const forms = documents.map(storedForms)
    try {
      return database.write(() => write(forms))
    } catch (error) {
      names.forget()
      throw error
    }
  }
}

/** A document in the forms in which it is stored, without its arrival. */
interface StoredForms {
  readonly team: string
  readonly id: Uint8Array | string
  readonly entry: readonly SQLInputValue[]
  readonly names: Names
  readonly content: Omit<Content, 'arrival'>
  readonly texts: readonly (string | null)[]
}

const ENTRY_COLUMNS = [
  ...['team', 'id', 'kind', 'timestamp', 'received', 'level', 'texts', 'correlation_key'],
  ...['event_id', 'template', 'exception_group'],
]

const insertEntry = (columns: readonly string[]): string =>
  `INSERT INTO entries (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`

const FIND = `SELECT 1 FROM entries AS e INDEXED BY entries_by_id WHERE ${HAS_ID}`
/** The statements for an entry with its names in columns, and for one with the number of its names. */
const INSERT_NAMED = insertEntry([...ENTRY_COLUMNS, ...NAMED])
const INSERT_NUMBERED = insertEntry([...ENTRY_COLUMNS, 'names', 'environment'])
const NO_ENVIRONMENT = ''

/** The statement that takes an arrival and `indexedTexts`. */
export const insertTexts = (table: string): string =>
  `INSERT INTO ${table} (rowid, ${TEXT_COLUMNS.join(', ')}) VALUES (?, ?, ?, ?, ?)`

/** The texts of a document in the form that a full-text table takes, in the order of TEXT_COLUMNS. */
export const indexedTexts = (document: EntryDocument): readonly (string | null)[] => [
  ...[document.message, document.exception, document.payload].map(indexedText),
  `${indexedText(detailsText(document)) ?? ''}\n${valueWords(document)}`,
]

/** The column with the most text in these documents. */
function longestOf(forms: readonly ReturnType<typeof storedForms>[]): TextColumn {
  const lengths = TEXT_COLUMNS.map((_, index) =>
    forms.reduce((sum, form) => sum + ('refused' in form ? 0 : (form.texts[index]?.length ?? 0)), 0),
  )
  return TEXT_COLUMNS[lengths.indexOf(Math.max(...lengths))] ?? 'leaves'
}

/** SQLite's limit is 1,000,000,000 bytes; a UTF-16 unit takes at most 3. */
const SOURCE_LENGTH_MAX = 300_000_000

/** The forms, or why the document can never be stored. */
function storedForms(document: EntryDocument): StoredForms | { readonly refused: string } {
  const [timestamp, received] = [nanosOf(document.timestamp), nanosOf(document.receivedAt)]
  if (timestamp === null || received === null) return { refused: 'a time is no canonical timestamp' }
  if (levelRank(document.level) === -1) return { refused: 'the level is none' }
  if (document.source.length > SOURCE_LENGTH_MAX) return { refused: 'the source is too long' }
  const { id, team, kind, level, environment, correlationKey, event, step, project, category } = document
  const { eventId, eventName, template, exceptionGroup } = document
  return {
    team,
    id: storedId(id),
    entry: [
      ...[KINDS[kind], timestamp, storedReceived(timestamp, received), levelRank(level)],
      ...[textBits(document), correlationKey, eventId, storedFingerprint(template), storedFingerprint(exceptionGroup)],
    ],
    names: [environment, event, step, project, category, eventName],
    content: { leaves: leafBytes(document), source: Buffer.from(storedSource(document)) },
    texts: indexedTexts(document),
  }
}

function nanosOf(timestamp: string): bigint | null {
  try {
    return toNanos(timestamp)
  } catch {
    return null
  }
}

function textBits({ message, exception, payload }: EntryDocument): number {
  const bit = (text: string | null, value: number): number => (text === null || text === '' ? 0 : value)
  return bit(message, TEXT_BITS.message) + bit(exception, TEXT_BITS.exception) + bit(payload, TEXT_BITS.payload)
}
