import { useMemo, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import type { Choices, Histogram } from '../../schemas/answers.ts'
import { useAnswers, useFetch } from '../api/use-fetch.ts'
import { iso } from '../lib/times.ts'
import { useEvery } from '../ui/use-every.ts'
import { folderOf } from './facts.ts'
import { type AddressParams, filterOf } from './filters.ts'
import type { LogRows } from './use-rows.ts'

/** Maximum number of spans in drawings over time. */
export const BUCKETS = 80
/** Interval of recounts while entries arrive, in milliseconds. */
const RECOUNT_MS = 5_000

/** Counts over time and by value, as of when the list was read; refreshed while entries arrive. */
export function useCounts(kind: EntryKind, params: AddressParams, list: LogRows) {
  const at = Math.max(list.askedAt, list.answeredAgainAt, useRecount(list))
  const filter = useMemo(() => filterOf(params, at), [list.filter, at])
  const path = `/api/${folderOf(kind)}`
  const choices = useFetch<Choices>(`${path}/choices`, filter)
  // Without an end, the drawing would end with the last log instead of now; but a range that is still to come does not end now.
  const { from = '', to = Date.parse(from) < at ? iso(at) : undefined } = filter
  const counted = { ...filter, to }
  const histogram = useFetch<Histogram>(`${path}/histogram`, { ...counted, buckets: BUCKETS })
  const areCurrent = [useAnswers(choices.data, list.filter), useAnswers(histogram.data, list.filter)].every(Boolean)
  return {
    choices: choices.data,
    histogram: histogram.problem === undefined ? histogram.data : undefined,
    counted,
    /** Whether the counts are of the list's filter, not of an earlier one. */
    areCurrent,
    problem: choices.problem ?? histogram.problem,
    reload: () => {
      choices.reload()
      histogram.reload()
    },
  }
}

/** The time of the last recount; it advances at intervals while new entries arrive. */
function useRecount({ live, arrived }: LogRows): number {
  const [counted, setCounted] = useState({ arrived: 0, at: 0 })
  const recount = (): void => {
    if (arrived !== counted.arrived) setCounted({ arrived, at: systemClock.now() })
  }
  useEvery(RECOUNT_MS, recount, live !== 'off')
  return counted.at
}
