import type { EntryKind } from '../../shared/contract/records.ts'
import type { Entry } from '../schemas/answers.ts'

/** Without it Excel reads UTF-8 as the machine's own code page. */
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

/** A CSV file (RFC 4180) of entries of these kinds: its columns are the paths of an item's values. */
export interface CsvTable {
  readonly head: string
  line(item: Entry): string
}

export function createCsvTable(kinds: readonly EntryKind[]): CsvTable {
  const columns = [...COMMON, ...kinds.flatMap((kind) => OWN[kind])]
  const paths = columns.map((column) => column.split('.'))
  return {
    head: `${BYTE_ORDER_MARK}${columns.join(',')}\r\n`,
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

/** The characters at which some spreadsheet, in some locale, begins a new cell or row. */
const SEPARATING = /[",;\t\r\n\v\f\x85\u2028\u2029]/

/**
 * The beginning of a text that a spreadsheet may take for a formula: blanks, quotes and invisible characters do not keep it from that, and in East Asia the signs
 * may be full-width. A formula with an apostrophe before it is one as well, so that what was stored can be told from what was added.
 */
const FORMULA = /^'*[\t\r\n]|^[\s\p{Cc}\p{Cf}'"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u

/** An apostrophe before what begins like a formula makes it text again. */
const harmless = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)
