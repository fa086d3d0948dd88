import { useEffect, useState } from 'preact/hooks'
import { systemClock } from '../../../shared/clock.ts'

const REDRAW_MS = 5_000

/** The present in milliseconds since 1970, for what is told as "3 m ago". */
export function useNow(): number {
  const [now, setNow] = useState(systemClock.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(systemClock.now()), REDRAW_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
