import { useEffect } from 'preact/hooks'
import { useLatest } from './use-latest.ts'

/** Repeats a function while the page is visible. */
export function useEvery(ms: number, run: () => void, on = true): void {
  const latest = useLatest(run)
  useEffect(() => {
    if (!on) return
    const timer = setInterval(() => {
      if (!document.hidden) latest.current()
    }, ms)
    return () => clearInterval(timer)
  }, [ms, on])
}
