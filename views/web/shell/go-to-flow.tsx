import { useLayoutEffect, useRef } from 'preact/hooks'
import { Dialog } from '../ui/dialog.tsx'
import { createStore, useStore } from '../ui/store.ts'
import { go } from '../ui/use-address.ts'

const open = createStore(false)

export const openGoToFlow = (): void => open.set(true)

/** Any flow by its key, from any page, on `g`. */
export function GoToFlow() {
  const input = useRef<HTMLInputElement>(null)
  const shown = useStore(open)
  useLayoutEffect(() => input.current?.focus(), [shown])
  if (!shown) return null
  const submit = (event: Event): void => {
    event.preventDefault()
    const key = input.current?.value.trim() ?? ''
    if (key === '') return
    open.set(false)
    go({ path: ['flows', key] })
  }
  return (
    <Dialog title="Go to a flow" onClose={() => open.set(false)}>
      <form class="bar" onSubmit={submit}>
        <input ref={input} class="input mono grow" aria-label="correlationKey" placeholder="correlationKey" />
        <button type="submit" class="button primary">
          Open
        </button>
      </form>
    </Dialog>
  )
}
