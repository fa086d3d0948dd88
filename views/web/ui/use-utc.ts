import { keep, kept } from './keep.ts'
import { currentAddress, go, useAddress } from './use-address.ts'

const PREFERENCE = 'utc'

/** Whether times are shown in UTC: as the address says, so that a link shows the same to everyone. */
export const useUtc = (): boolean => useAddress()[0].params['utc'] === '1'

export function toggleUtc(): void {
  const utc = currentAddress().params['utc'] === '1' ? undefined : '1'
  keep(PREFERENCE, utc)
  go({ params: { utc } }, 'replace')
}

if (kept(PREFERENCE) === '1' && currentAddress().params['utc'] === undefined) go({ params: { utc: '1' } }, 'replace')
