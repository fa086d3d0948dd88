import type { Entry, EntryKind } from '../api/types.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { folderOf } from './facts.ts'

/** The entry with the id of the address: among those in the list, or else read by itself. */
export function useOpenEntry(kind: EntryKind, id: string | undefined, entries: readonly Entry[]): Entry | undefined {
  const listed = entries.find((entry) => entry.id === id)
  const path = id === undefined || listed !== undefined ? null : `/api/${folderOf(kind)}/${encodeURIComponent(id)}`
  const { data } = useFetch<Entry>(path)
  return listed ?? (data?.id === id ? data : undefined)
}
