import type { EntryKind } from '../../../shared/contract/records.ts'
import type { Entry } from '../../schemas/answers.ts'
import { useFetch } from '../api/use-fetch.ts'
import { folderOf } from './facts.ts'
import { entryPath } from './links.ts'

/** The entry with the id of the address: among those in the list, or else read by itself; null where there is none. */
export function useOpenEntry(
  kind: EntryKind,
  id: string | undefined,
  entries: readonly Entry[],
): Entry | null | undefined {
  const listed = entries.find((entry) => entry.id === id)
  const path = id === undefined || listed !== undefined ? null : `/api/${folderOf(kind)}/${encodeURIComponent(id)}`
  const { data, problem } = useFetch<Entry>(path)
  if (path !== null && problem?.code === 'not_found') return null
  return listed ?? (data?.id === id ? data : undefined)
}

/** The entry with all of its texts: the rest of one that a list has cut is read. */
export function useWhole(entry: Entry): Entry {
  const { data } = useFetch<Entry>(entry.truncated === undefined ? null : entryPath(entry))
  return data?.id === entry.id ? data : entry
}
