import type { EntryRecord } from '../../shared/contract/records.ts'
import { leaves } from '../../shared/query/leaves.ts'

/** How long a payload may be that is looked into, and how many names an entry has at most. */
const LENGTH_MAX = 20_000
const NAMES_MAX = 60
/** Members of objects and arrays, of all entries together, that are looked at. */
const MEMBERS_MAX = 20_000

/** Names of leaves that the entries have: `payload.order.id`, `scope.RequestId`. */
export function pathsOf(entries: readonly EntryRecord[]): readonly string[] {
  const names = new Set<string>()
  const room = { members: MEMBERS_MAX }
  for (const entry of entries) {
    const [family, value] = entry.kind === 'event' ? ['payload', parsed(entry.payload)] : ['scope', entry.scopeData]
    for (const [path] of leaves(value, room).slice(0, NAMES_MAX)) names.add(`${family}.${path}`)
  }
  return [...names]
}

/** The value of a JSON text that is not long; undefined for others. */
function parsed(text: string): unknown {
  try {
    return text.length > LENGTH_MAX ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
