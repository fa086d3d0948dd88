import { useEffect, useRef, useState } from 'preact/hooks'

/** A value that parts far from one another share. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  /** Calls `listener` on every change, until the function that is returned is called. */
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

/** The store's value, drawing the component again whenever it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, redraw] = useState({})
  const value = store.get()
  const drawn = useRef(value)
  drawn.current = value
  useEffect(() => {
    const check = (): void => {
      if (!Object.is(store.get(), drawn.current)) redraw({})
    }
    // It may have changed between the drawing and now.
    check()
    return store.subscribe(check)
  }, [store])
  return value
}
