import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { EntryRow } from '../../shared/contract/rows.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { LeafField } from '../../shared/query/ast.ts'
import { findField } from '../../shared/query/fields.ts'
import { createCooperative, inOneStep } from '../../shared/runtime/cooperative.ts'
import { isJson, valuesAt } from '../details/json-text.ts'

/** A value inside payloads or scope data that each item of a list is to have: `payload.order.id`, `scope.tenant`. */
export interface RowField {
  /** The field's name as the request has it. */
  readonly name: string
  readonly field: LeafField
  readonly path: string
}

/** Most fields of a list. */
export const ROW_FIELDS_MAX = 8
/** Most characters of a value. */
export const ROW_VALUE_CHARACTERS_MAX = 256
/** A page ends early once so many characters of whole entries were read for it, as rows do not have all of their texts. */
const READ_CHARACTERS_MAX = 8 * 1024 * 1024

/** An entry as a list shows it, with the values that were asked for. */
export type ValuedRow = EntryRow & { readonly fields?: Readonly<Record<string, string>> }

/** The fields of a list as a parameter names them, by commas; undefined where it names something else or too many. */
export function parseRowFields(text: string): readonly RowField[] | undefined {
  const names = [...new Set(text.split(','))]
  const fields = names.flatMap((name) => {
    const found = findField(name)
    return found?.kind === 'leaf' ? [{ name, field: found.field, path: searchText(found.path) }] : []
  })
  return fields.length === names.length && names.length <= ROW_FIELDS_MAX ? fields : undefined
}

/**
 * The rows with their values, up to the one before which too much was read, one at least. What a row has only the beginning of is read
 * whole, one after the other. Of each value there are so many characters.
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
    // A page has up to 2 MiB of texts, which take a second to look through.
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

/** The values of an entry, and how many characters the text has that may hold them. */
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
