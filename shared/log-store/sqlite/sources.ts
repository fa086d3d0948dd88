import type { EntryDocument } from '../../contract/documents.ts'
import { LEVELS } from '../../contract/levels.ts'
import type { EntryRecord } from '../../contract/records.ts'
import { fromNanoDigits, parseTimestamp } from '../../contract/timestamp.ts'
import type { Database } from './database.ts'
import { idText } from './ids.ts'
import { columnsOf, entriesBy } from './names.ts'
import { KINDS } from './schema.ts'
import { digitsOf } from './sql.ts'

/**
 * Values that are almost unique to an entry and that its row has, too: they take almost half of a compressed source. In the stored source a
 * control character stands for the first occurrence of each; the text of a record is JSON, which has none.
 */
const PLACEHOLDERS = { id: '\u0001', receivedAt: '\u0002', timestamp: '\u0003', correlationKey: '\u0004' } as const

/** The values in the row of an entry that its stored source may lack. */
export type RowValues = Pick<EntryDocument, keyof typeof PLACEHOLDERS>

const NAMES = Object.keys(PLACEHOLDERS) as readonly (keyof RowValues)[]

/** Texts whose JSON is the same text in quotation marks. */
const PLAIN = /^[ !#-[\]-~]+$/

/** The source without the values of its row. */
export function storedSource(document: RowValues & Pick<EntryDocument, 'source'>): string {
  const { source, receivedAt, timestamp } = document
  if (!isExact(receivedAt) || !isExact(timestamp)) return source
  return NAMES.reduce((text, name) => {
    const value = document[name]
    return value !== null && PLAIN.test(value) ? text.replace(`"${value}"`, PLACEHOLDERS[name]) : text
  }, source)
}

/** Whether the nanoseconds in the row give back the same text, as those of every canonical timestamp do; a projection lets no others pass. */
const isExact = (timestamp: string): boolean => parseTimestamp(timestamp) === timestamp

/** The source of an entry as it was before `storedSource`. */
export function wholeSource(stored: string, rowValues: () => RowValues): string {
  if (!NAMES.some((name) => stored.includes(PLACEHOLDERS[name]))) return stored
  const values = rowValues()
  return NAMES.reduce((text, name) => text.replace(PLACEHOLDERS[name], () => JSON.stringify(values[name])), stored)
}

/**
 * The time at which an entry was received as it is stored: as its difference to `timestamp`, which takes four bytes less up to two seconds, and
 * no byte if there is none. From 2^40 ns (18 minutes) on it is the time itself, as in all rows of older versions.
 */
export const storedReceived = (timestamp: bigint, received: bigint): bigint =>
  received - timestamp < DIFFERENCES_END ? received - timestamp : received

const DIFFERENCES_END = 2n ** 40n

/** The time at which an entry was received, in SQL. */
export const RECEIVED = `iif(received < ${DIFFERENCES_END}, timestamp + received, received)`

const SELECT_VALUES = `SELECT id, ${digitsOf('timestamp')} AS timestamp, ${digitsOf(RECEIVED)} AS received, correlation_key
  FROM entries WHERE arrival = ?`

export function valuesOfRow(database: Pick<Database, 'prepare'>, arrival: number): RowValues {
  const row = database.prepare(SELECT_VALUES).get(arrival) ?? {}
  const time = (column: string): string => fromNanoDigits(String(row[column] ?? 0))
  return {
    id: idText(row['id']),
    receivedAt: time('received'),
    timestamp: time('timestamp'),
    correlationKey: row['correlation_key'] == null ? null : String(row['correlation_key']),
  }
}

const NOTICE = 'The text of this log was in a block that is damaged in the file of the log store.'

const RECORD_COLUMNS = [
  ...['team', 'kind', 'level', 'environment', 'event', 'step', 'project', 'category', 'event_id', 'event_name'],
]

/** The record of an entry whose block is damaged, made from its row. */
export function recordOfRow(database: Database, arrival: number): EntryRecord {
  const row = database
    .prepare(`SELECT ${columnsOf(RECORD_COLUMNS)} FROM ${entriesBy('')} WHERE e.arrival = ?`)
    .get(arrival)
  const text = (column: string): string | null => (row?.[column] == null ? null : String(row[column]))
  const common = {
    ...valuesOfRow(database, arrival),
    level: LEVELS[Number(row?.['level'])] ?? 'Information',
    environment: text('environment') ?? '',
    team: text('team') ?? '',
  }
  if (row?.['kind'] === KINDS.event)
    return { kind: 'event', ...common, event: text('event'), step: text('step'), payload: NOTICE }
  return {
    kind: 'application',
    ...common,
    project: text('project') ?? '',
    categoryName: text('category') ?? '',
    eventId: Number(row?.['event_id']),
    eventName: text('event_name') ?? '',
    message: NOTICE,
    exception: null,
    scopeData: null,
  }
}
