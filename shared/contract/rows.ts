import { parseKeepingDigits } from './exact-json.ts'
import type { EntryRecord } from './records.ts'

/** Maximum characters of each long text of a row; scope data counts as JSON. */
export const ROW_TEXT_CHARACTERS_MAX = 4_096

export const LONG_FIELDS = ['payload', 'message', 'exception', 'scopeData'] as const

export type LongField = (typeof LONG_FIELDS)[number]

/** An entry as a list shows it: `truncated` names the long texts that are cut to their beginning. */
export type EntryRow = EntryRecord & { readonly truncated?: readonly LongField[] }

/** The row of an entry; an entry without long texts is its own row. Scope data keeps the first members that fit. */
export function rowOf(entry: EntryRecord): EntryRow {
  const truncated: LongField[] = []
  const cut = (name: LongField, text: string): string => {
    if (text.length <= ROW_TEXT_CHARACTERS_MAX) return text
    truncated.push(name)
    return beginningOf(text, ROW_TEXT_CHARACTERS_MAX)
  }
  const row =
    entry.kind === 'event'
      ? { ...entry, payload: cut('payload', entry.payload) }
      : {
          ...entry,
          message: cut('message', entry.message),
          exception: entry.exception === null ? null : cut('exception', entry.exception),
          scopeData: fittingMembers(entry.scopeData, () => truncated.push('scopeData')),
        }
  return truncated.length === 0 ? entry : { ...row, truncated }
}

/** The record of a text; numbers that would lose digits stay as they are written. */
export const parseRecord = (source: string): EntryRecord => parseKeepingDigits(source) as EntryRecord

/** Whether the entry of a record's text can have a long text at all. */
export const mayBeLong = (source: string): boolean => source.length > ROW_TEXT_CHARACTERS_MAX

/** The beginning of a text, at most `length` UTF-16 units of it; never cuts a surrogate pair in half. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

type Scope = Readonly<Record<string, unknown>> | null

function fittingMembers(scope: Scope, onCut: () => void): Scope {
  if (scope === null || JSON.stringify(scope).length <= ROW_TEXT_CHARACTERS_MAX) return scope
  onCut()
  const kept: [string, unknown][] = []
  let left = ROW_TEXT_CHARACTERS_MAX
  for (const [name, member] of Object.entries(scope)) {
    left -= JSON.stringify(name).length + JSON.stringify(member).length + 2
    if (left < 0) break
    kept.push([name, member])
  }
  return Object.fromEntries(kept)
}
