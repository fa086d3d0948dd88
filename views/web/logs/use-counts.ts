import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { systemClock } from '../../../shared/clock.ts'
import type { EntryKind, Histogram } from '../api/types.ts'
import { iso } from '../lib/times.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { folderOf } from './facts.ts'
import { type AddressParams, filterOf } from './filters.ts'
import { useFacets } from './use-facets.ts'
import type { LogRows } from './use-rows.ts'

const BUCKETS = 80
/** How often the counts are read again while entries arrive. */
const RECOUNT_MS = 5_000

/** Counts over time and by value, for the time when the list was read; while entries arrive, again and again. */
export function useCounts(kind: EntryKind, params: AddressParams, list: LogRows) {
  const at = Math.max(list.askedAt, list.answeredAgainAt, useRecount(list))
  const filter = useMemo(() => filterOf(params, at), [list.filter, at])
  const path = `/api/${folderOf(kind)}`
  const { total, facets } = useFacets(`${path}/facets`, filter)
  const { data } = useFetch<Histogram>(`${path}/histogram`, {
    ...filter,
    // Without an end the drawing would end with the last log rather than now.
    to: filter['to'] ?? (filter['from'] && iso(at)),
    buckets: BUCKETS,
  })
  return { facets, total, histogram: data }
}

/** When to count again: some time after something arrived that is not counted yet. */
function useRecount({ live, arrived }: LogRows): number {
  const [at, setAt] = useState(0)
  const counted = useRef(0)
  const stale = live !== 'off' && arrived !== counted.current
  const latest = useRef(arrived)
  latest.current = arrived
  useEffect(() => {
    if (!stale) return
    const timer = setTimeout(() => {
      counted.current = latest.current
      setAt(systemClock.now())
    }, RECOUNT_MS)
    return () => clearTimeout(timer)
  }, [stale])
  return at
}
