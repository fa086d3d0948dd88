import type { Entry } from '../api/types.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { entryPath } from './links.ts'

/** The entry with all of its texts: the rest of one that a list has cut is read. */
export function useWhole(entry: Entry): Entry {
  const { data } = useFetch<Entry>(entry.truncated === undefined ? null : entryPath(entry))
  return data?.id === entry.id ? data : entry
}
