import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { EntryRow } from '../../shared/contract/rows.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { LeafField } from '../../shared/query/ast.ts'
import { findField } from '../../shared/query/fields.ts'
import { createCooperative, inOneStep } from '../../shared/runtime/cooperative.ts'
import { isJson, valuesAt } from '../details/json-text.ts'

/** A value inside payloads or scope data that each item of a list should have: `payload.order.id`, `scope.tenant`. */
export interface RowField {
  /** The field's name as given in the request. */
  readonly name: string
  readonly field: LeafField
  readonly path: string
}

/** Maximum number of such fields in a list. */
export const ROW_FIELDS_MAX = 8
/** Maximum length of a value. */
export const ROW_VALUE_CHARACTERS_MAX = 256
/** A page ends early once this many characters of full entries were read for it; rows hold only the beginning of long texts. */
const READ_CHARACTERS_MAX = 8 * 1024 * 1024

/** A list row with the requested values. */
export type ValuedRow = EntryRow & { readonly fields?: Readonly<Record<string, string>> }

/** Parses comma-separated field names; undefined if one is not such a field, or there are too many. */
export function parseRowFields(text: string): readonly RowField[] | undefined {
  const names = [...new Set(text.split(','))]
  const fields = names.flatMap((name) => {
    const found = findField(name)
    return found?.kind === 'leaf' ? [{ name, field: found.field, path: searchText(found.path) }] : []
  })
  return fields.length === names.length && names.length <= ROW_FIELDS_MAX ? fields : undefined
}

/**
 * Adds the values to the rows; stops once too much was read, but returns at least one row. A row with a truncated text is read in full, one
 * at a time. Each value is cut at `charactersMax`.
 */
export async function withValues(
  rows: readonly EntryRow[],
  fields: readonly RowField[],
  { store, team, signal }: { readonly store: LogStoreReader; readonly team: string; readonly signal: AbortSignal },
  charactersMax = ROW_VALUE_CHARACTERS_MAX,
): Promise<readonly ValuedRow[]> {
  if (fields.length === 0) return rows
  const valued: ValuedRow[] = []
  let read = 0
  for (const row of rows) {
    if (read > READ_CHARACTERS_MAX) break
    const { kind, id } = row
    const [field, member] = kind === 'event' ? (['payload', 'payload'] as const) : (['scope', 'scopeData'] as const)
    const own = fields.filter((one) => one.field === field)
    const isCut = own.length > 0 && row.truncated?.includes(member)
    const entry = (isCut && (await store.get(team, kind, id, signal))) || row
    // A page has up to 2 MiB of texts, which take a second to parse.
    const { length, values } = await byTurns.run(
      team,
      inOneStep(() => valuesOf(entry, own, charactersMax)),
    )
    if (isCut) read += length
    valued.push({ ...row, fields: values })
  }
  return valued
}

const byTurns = createCooperative()

/** The values of an entry, and the length of the text that was searched for them. */
function valuesOf(
  entry: EntryRecord,
  fields: readonly RowField[],
  charactersMax: number,
): { readonly length: number; readonly values: Readonly<Record<string, string>> } {
  if (fields.length === 0) return { length: 0, values: {} }
  const text = entry.kind === 'event' ? entry.payload : JSON.stringify(entry.scopeData)
  const { length } = text
  if (entry.kind === 'event' ? !isJson(text) : entry.scopeData === null) return { length, values: {} }
  const found = valuesAt(text, new Set(fields.map(({ path }) => path)), charactersMax)
  const values = fields.flatMap(({ name, path }) => {
    const value = found.get(path)
    return value === undefined ? [] : [[name, value]]
  })
  return { length, values: Object.fromEntries(values) }
}
