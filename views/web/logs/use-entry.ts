import type { EntryKind } from '../../../shared/contract/records.ts'
import type { Entry } from '../../schemas/answers.ts'
import { type Fetched, useFetch } from '../api/use-fetch.ts'
import { folderOf } from './facts.ts'
import { entryPath } from './links.ts'

/** The entry with the id in the address: from the list, or else read by itself; `open` is null if there is none. */
export function useOpenEntry(
  kind: EntryKind,
  id: string | undefined,
  entries: readonly Entry[],
): Pick<Fetched<Entry>, 'problem' | 'reload'> & { readonly open: Entry | null | undefined } {
  const listed = entries.find((entry) => entry.id === id)
  const path = id === undefined || listed !== undefined ? null : `/api/${folderOf(kind)}/${encodeURIComponent(id)}`
  const { data, problem, reload } = useFetch<Entry>(path)
  if (path !== null && problem?.code === 'not_found') return { open: null, problem: undefined, reload }
  return { open: listed ?? (data?.id === id ? data : undefined), problem, reload }
}

/** The full entry: a truncated one from a list is read again. */
export function useWhole(entry: Entry): Entry {
  const { data } = useFetch<Entry>(entry.truncated === undefined ? null : entryPath(entry))
  return data?.id === entry.id ? data : entry
}
