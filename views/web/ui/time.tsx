import { useState } from 'preact/hooks'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { clockText, timeText } from '../../flow-layout/times.ts'
import { keep, kept } from './keep.ts'
import { currentAddress, go, useAddress } from './use-address.ts'
import { useEvery } from './use-every.ts'

/** A time in the reader's choice of UTC or local time, with the full time in UTC on hover. */
export function Time({ at, full = false }: { readonly at: string; readonly full?: boolean }) {
  const utc = useUtc()
  return (
    <time class="time" dateTime={at} title={at}>
      {full ? timeText(at, utc) : clockText(at, utc)}
    </time>
  )
}

const PREFERENCE = 'utc'

/** Whether times are shown in UTC: part of the address, so that a link shows the same to everyone. */
export const useUtc = (): boolean => useAddress().params['utc'] === '1'

export function toggleUtc(): void {
  const utc = currentAddress().params['utc'] === '1' ? undefined : '1'
  keep(PREFERENCE, utc)
  go({ params: { utc } }, 'replace')
}

if (kept(PREFERENCE) === '1' && currentAddress().params['utc'] === undefined) go({ params: { utc: '1' } }, 'replace')

const REDRAW_MS = 5_000

/** The current time in milliseconds since 1970, refreshed for texts such as "3 m ago". */
export function useNow(): number {
  const [, setRedrawn] = useState(0)
  useEvery(REDRAW_MS, () => setRedrawn(systemClock.now()))
  // The time of the last redrawing may be before the times of logs that were read since.
  return systemClock.now()
}
