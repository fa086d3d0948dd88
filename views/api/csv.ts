import type { EntryKind } from '../../shared/contract/records.ts'
import type { Entry } from '../schemas/answers.ts'
import { FAMILIES } from './grouping.ts'
import { invalidParameters } from './problems.ts'
import { parseRowFields, ROW_FIELDS_MAX, type RowField } from './row-values.ts'

/** Without a BOM, Excel decodes UTF-8 as the machine's code page. */
const BYTE_ORDER_MARK = '\uFEFF'

const COMMON = ['id', 'kind', 'receivedAt', 'timestamp', 'level', 'environment', 'correlationKey']

const OWN: Readonly<Record<EntryKind, readonly string[]>> = {
  event: ['event.identifier', 'event.name', 'step.identifier', 'step.name', 'payload'],
  application: [
    'project.id',
    'project.name',
    'categoryName',
    'eventId',
    'eventName',
    'message',
    'exception',
    'scopeData',
    'originalLevel',
  ],
}

/** The columns chosen for a file. */
export interface CsvColumns {
  readonly names: readonly string[]
  /** The columns that are values inside payloads or scope data; the items need them as `fields`. */
  readonly fields: readonly RowField[]
}

/** Parses comma-separated column names, without duplicates. Throws an `invalid_request` that lists the known columns. */
export function csvColumnsOf(kind: EntryKind, text: string): CsvColumns {
  const own = [...COMMON, ...OWN[kind]]
  const names = [...new Set(text.split(','))]
  const values = names.filter((name) => !own.includes(name))
  const fields = values.length === 0 ? [] : parseRowFields(values.join(','))
  if (fields?.every(({ field }) => field === FAMILIES[kind])) return { names, fields }
  const such = kind === 'event' ? 'payload.order.id' : 'scope.tenant'
  const message = `must be names of ${own.join(', ')}, and at most ${ROW_FIELDS_MAX} of values such as ${such}, with commas between them`
  throw invalidParameters([{ path: 'columns', message }])
}

/** A CSV file (RFC 4180) of entries of these kinds; its columns are the paths of an item's values, all of them unless some are chosen. */
interface CsvTable {
  readonly head: string
  line(item: Entry): string
}

export function createCsvTable(kinds: readonly EntryKind[], chosen?: CsvColumns): CsvTable {
  const columns = chosen?.names ?? [...COMMON, ...kinds.flatMap((kind) => OWN[kind])]
  const isValue = (column: string): boolean => chosen?.fields.some(({ name }) => name === column) === true
  const paths = columns.map((column) => (isValue(column) ? ['fields', column] : column.split('.')))
  return {
    head: `${BYTE_ORDER_MARK}${columns.map(cell).join(',')}\r\n`,
    line: (item) => `${paths.map((path) => cell(valueAt(item, path))).join(',')}\r\n`,
  }
}

const valueAt = (item: Entry, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], item)

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = harmless(typeof value === 'string' ? value : JSON.stringify(value))
  return SEPARATING.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The characters at which some spreadsheet, in some locale, starts a new cell or row. */
const SEPARATING = /[",;\t\r\n\v\f\x85\u2028\u2029]/

/**
 * A prefix that a spreadsheet may take for a formula: leading blanks, quotes and invisible characters do not prevent that, and East Asian
 * input has full-width signs. A formula after an apostrophe matches as well, so that the stored text can be told from the added apostrophe.
 */
const FORMULA = /^'*[\t\r\n]|^[\s\p{Cc}\p{Cf}'"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u

/** A negative number as JSON writes it: values inside payloads and scope data are texts, and a spreadsheet should be able to sum them. */
const NEGATIVE_NUMBER = /^-\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** Prefixes formula-like text with an apostrophe, which makes it plain text. */
const harmless = (text: string): string => (FORMULA.test(text) && !NEGATIVE_NUMBER.test(text) ? `'${text}` : text)
