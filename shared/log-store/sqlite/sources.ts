import type { SQLOutputValue } from 'node:sqlite'
import type { EntryDocument } from '../../contract/documents.ts'
import { LEVELS } from '../../contract/levels.ts'
import { fromNanoDigits, parseTimestamp } from '../../contract/timestamp.ts'
import type { Database } from './database.ts'
import { idText } from './ids.ts'
import { columnsOf, entriesBy } from './names.ts'
import { KINDS } from './schema.ts'
import { digitsOf } from './sql.ts'

/** The values with which a record begins and which the row of its entry has, too. */
export type RowValues = Pick<
  EntryDocument,
  'kind' | 'id' | 'receivedAt' | 'timestamp' | 'level' | 'environment' | 'correlationKey' | 'team' | OwnValues
>
type OwnValues = 'event' | 'step' | 'project' | 'category' | 'eventId' | 'eventName'

/**
 * Stands in a stored source for the beginning of the record, up to its texts: a third of a compressed source, and more of one that has to be
 * unpacked. The text of a record is JSON, which has no control characters.
 */
const BEGINNING = '\u0005'

/** The text of a record up to its texts, as the gateway writes it. */
function recordBeginning(values: RowValues): string {
  const { kind, id, receivedAt, timestamp, level, environment, correlationKey, team } = values
  const { event, step, project, category, eventId, eventName } = values
  const own =
    kind === 'event'
      ? { event, step }
      : { project, categoryName: category ?? '', eventId: eventId ?? 0, eventName: eventName ?? '' }
  const common = { kind, id, receivedAt, timestamp, level, environment, correlationKey, team }
  return JSON.stringify({ ...common, ...own }).slice(0, -1)
}

/** JSON escapes what SQLite might give back otherwise so: NUL and halves of characters. */
const ESCAPED = '\\u'

/** The source without the values of its row. */
export function storedSource(document: RowValues & Pick<EntryDocument, 'source'>): string {
  const { source, receivedAt, timestamp } = document
  if (!isExact(receivedAt) || !isExact(timestamp)) return source
  const beginning = recordBeginning(document)
  if (source.startsWith(beginning) && !beginning.includes(ESCAPED)) return BEGINNING + source.slice(beginning.length)
  return withPlaceholders(document)
}

/**
 * Values that are almost unique to an entry. Where a source begins otherwise, as one with a name that was shortened for searching, and in all
 * of version 8, a control character stands for the first occurrence of each.
 */
const PLACEHOLDERS = { id: '\u0001', receivedAt: '\u0002', timestamp: '\u0003', correlationKey: '\u0004' } as const

const NAMES = Object.keys(PLACEHOLDERS) as readonly (keyof typeof PLACEHOLDERS)[]

/** Texts whose JSON is the same text in quotation marks. */
const PLAIN = /^[ !#-[\]-~]+$/

/** The source with a placeholder for each value that the row has as well. */
export const withPlaceholders = (document: RowValues & Pick<EntryDocument, 'source'>): string =>
  NAMES.reduce((text, name) => {
    const value = document[name]
    return value !== null && PLAIN.test(value) ? text.replace(`"${value}"`, PLACEHOLDERS[name]) : text
  }, document.source)

/** Whether the nanoseconds in the row give back the same text, as those of every canonical timestamp do; a projection lets no others pass. */
const isExact = (timestamp: string): boolean => parseTimestamp(timestamp) === timestamp

/** The source of an entry as it was before `storedSource`. */
export function wholeSource(stored: string, rowValues: () => RowValues): string {
  if (stored.startsWith(BEGINNING)) return recordBeginning(rowValues()) + stored.slice(BEGINNING.length)
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

const SELECT_VALUES = `SELECT id, ${digitsOf('timestamp')}, ${digitsOf(RECEIVED)},
  coalesce((SELECT name FROM teams WHERE key = e.team), e.team), ${columnsOf([
    ...['kind', 'level', 'environment', 'correlation_key', 'event', 'step', 'project', 'category'],
    ...['event_id', 'event_name'],
  ])} FROM ${entriesBy('')} WHERE e.arrival = ?`

/** The values of the row of an entry that is stored. */
export function valuesOfRow(database: Pick<Database, 'prepare'>, arrival: number): RowValues {
  const statement = database.prepare(SELECT_VALUES)
  // An object with a name for each column would take longer than all else.
  statement.setReturnArrays(true)
  const row = (statement.get(arrival) ?? []) as unknown as readonly SQLOutputValue[]
  const [id, timestamp, received, team, kind, level, environment, correlationKey, event, step, project, ...others] = row
  const [category, eventId, eventName] = others
  return {
    kind: kind === KINDS.event ? 'event' : 'application',
    id: idText(id),
    receivedAt: fromNanoDigits(String(received ?? 0)),
    timestamp: fromNanoDigits(String(timestamp ?? 0)),
    level: LEVELS[Number(level)] ?? 'Information',
    environment: textOf(environment) ?? '',
    correlationKey: textOf(correlationKey),
    team: textOf(team) ?? '',
    event: textOf(event),
    step: textOf(step),
    project: textOf(project),
    category: textOf(category),
    eventId: eventId == null ? null : Number(eventId),
    eventName: textOf(eventName),
  }
}

const textOf = (value: SQLOutputValue | undefined): string | null => (value == null ? null : String(value))

const NOTICE = 'The text of this log was in a block that is damaged in the file of the log store.'

/** The text of a record whose block is damaged, made from the row of its entry. */
export function sourceOfRow(database: Database, arrival: number): string {
  const values = valuesOfRow(database, arrival)
  const texts = values.kind === 'event' ? { payload: NOTICE } : { message: NOTICE, exception: null, scopeData: null }
  return `${recordBeginning(values)},${JSON.stringify(texts).slice(1)}`
}
