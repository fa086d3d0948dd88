import { createStore, useStore } from './store.ts'

interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'good' | 'bad'
}

const toasts = createStore<readonly Toast[]>([])
let lastId = 0

const SHOWN_MS = { good: 3_500, bad: 9_000 } as const
const MOST = 4

/** Shows a message in the corner for a few seconds; essential information must be shown elsewhere too. */
export function toast(text: string, kind: Toast['kind'] = 'good'): void {
  lastId += 1
  const id = lastId
  toasts.set([...toasts.get(), { id, text, kind }].slice(-MOST))
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), SHOWN_MS[kind])
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {useStore(toasts).map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`}>
          {text}
        </div>
      ))}
    </div>
  )
}
