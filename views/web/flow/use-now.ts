import { useState } from 'preact/hooks'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { useEvery } from '../ui/use-every.ts'

const REDRAW_MS = 5_000

/** The present in milliseconds since 1970, for what is told as "3 m ago". */
export function useNow(): number {
  const [now, setNow] = useState(systemClock.now)
  useEvery(REDRAW_MS, () => setNow(systemClock.now()))
  return now
}
