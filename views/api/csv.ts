import type { EntryKind } from '../../shared/contract/records.ts'
import type { Entry } from '../flow-layout/types.ts'

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
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A spreadsheet runs text that begins like a formula; an apostrophe before it makes it text again. */
const harmless = (text: string): string => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text)
