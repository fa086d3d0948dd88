import { parseKeepingDigits } from '../../shared/contract/exact-json.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import type { LeafField, LeafName } from '../../shared/query/ast.ts'
import { leaves } from '../../shared/query/leaves.ts'
import type { FacetValue } from '../schemas/answers.ts'

/** Maximum length of a payload that is parsed, and maximum number of names taken from one entry. */
const LENGTH_MAX = 20_000
const NAMES_MAX = 60
/** Budget of object and array members visited, over all entries. */
const MEMBERS_MAX = 20_000

/** Names of leaves in the entries: `payload.order.id`, `scope.RequestId`; only those whose value is `wanted`. */
export function pathsOf(
  entries: readonly EntryRecord[],
  wanted: (value: string) => boolean = () => true,
): readonly string[] {
  const names = new Set<string>()
  const room = { members: MEMBERS_MAX }
  for (const entry of entries) {
    const [family, value] = searched(entry)
    const found = leaves(value, room).filter(([, text]) => wanted(text))
    for (const [path] of found.slice(0, NAMES_MAX)) names.add(`${family}.${path}`)
  }
  return [...names]
}

/** The values of a leaf in the entries with the number of entries each, most frequent first. */
export function leafValuesOf(entries: readonly EntryRecord[], { field, path }: LeafName): readonly FacetValue[] {
  const room = { members: MEMBERS_MAX }
  return counted(
    entries.flatMap((entry) => {
      const [family, value] = searched(entry)
      const own = family === field ? leaves(value, room).filter(([name]) => name === path) : []
      return [...new Set(own.map(([, text]) => text))]
    }),
  )
}

/** The event names of entries with the number of entries each, most frequent first. */
export const eventNamesOf = (entries: readonly EntryRecord[]): readonly FacetValue[] =>
  counted(entries.flatMap((entry) => (entry.kind === 'application' && entry.eventName !== '' ? [entry.eventName] : [])))

function counted(values: readonly string[]): readonly FacetValue[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count)
}

/** The entry's leaf family, and the value that contains its leaves. */
const searched = (entry: EntryRecord): readonly [LeafField, unknown] =>
  entry.kind === 'event' ? ['payload', parsed(entry.payload)] : ['scope', entry.scopeData]

/** Parses a JSON text with all digits of its numbers, as they are searched; undefined if it is too long or invalid. */
function parsed(text: string): unknown {
  try {
    return text.length > LENGTH_MAX ? undefined : parseKeepingDigits(text)
  } catch {
    return undefined
  }
}
