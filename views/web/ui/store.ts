import { useEffect, useState } from 'preact/hooks'
import { useLatest } from './use-latest.ts'

/** A value shared by distant parts of the page. */
interface Store<Value> {
  get(): Value
  set(value: Value): void
  /** Calls `listener` on every change, until the returned function is called. */
  subscribe(listener: () => void): () => void
}

export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The store's value; rerenders the component whenever it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, redraw] = useState({})
  const value = store.get()
  const drawn = useLatest(value)
  useEffect(() => {
    const check = (): void => {
      if (!Object.is(store.get(), drawn.current)) redraw({})
    }
    // The value may have changed since rendering.
    check()
    return store.subscribe(check)
  }, [store])
  return value
}
