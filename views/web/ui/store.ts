import { useEffect, useState } from 'preact/hooks'

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
  useEffect(() => {
    let seen = store.get()
    const check = (): void => {
      const now = store.get()
      if (Object.is(now, seen)) return
      seen = now
      redraw({})
    }
    return store.subscribe(check)
  }, [store])
  return store.get()
}
