import { useRef } from 'preact/hooks'

/** The value of the latest drawing, for what runs after it: timers, observers, listeners and requests. */
export function useLatest<Value>(value: Value): { readonly current: Value } {
  const ref = useRef(value)
  ref.current = value
  return ref
}
