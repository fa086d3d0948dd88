import { useLayoutEffect, useRef } from 'preact/hooks'
import { Dialog } from '../ui/dialog.tsx'
import { createStore, useStore } from '../ui/store.ts'
import { toggleUtc } from '../ui/time.tsx'
import { go } from '../ui/use-address.ts'
import { keysInUse, useKeys } from '../ui/use-keys.ts'

const helpShown = createStore(false)
const goToFlowShown = createStore(false)

/** The keys that work on every page. */
export function useGoKeys(): void {
  useKeys({
    e: { what: 'Event logs', run: () => go({ path: ['event-logs'] }) },
    a: { what: 'Application logs', run: () => go({ path: ['application-logs'] }) },
    g: { what: 'A flow by its key', run: () => goToFlowShown.set(true) },
    u: { what: 'UTC or local time', run: toggleUtc },
  })
}

export const openHelp = (): void => helpShown.set(true)

/** The keys that do something on this page, on `?`. */
export function Help() {
  useKeys({ '?': { what: 'Keyboard help', run: openHelp } })
  if (!useStore(helpShown)) return null
  const actions = new Map<string, string[]>()
  for (const [key, what] of keysInUse()) actions.set(what, [...(actions.get(what) ?? []), key])
  return (
    <Dialog title="Keyboard" onClose={() => helpShown.set(false)}>
      <dl class="keys">
        {[...actions].map(([what, keys]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key === 'Escape' ? 'Esc' : key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="hint">Keys do nothing while you type; Esc leaves the field.</p>
    </Dialog>
  )
}

/** Any flow by its key, from any page, on `g`. */
export function GoToFlow() {
  const input = useRef<HTMLInputElement>(null)
  const shown = useStore(goToFlowShown)
  useLayoutEffect(() => input.current?.focus(), [shown])
  if (!shown) return null
  const submit = (event: Event): void => {
    event.preventDefault()
    const key = input.current?.value.trim() ?? ''
    if (key === '') return
    goToFlowShown.set(false)
    go({ path: ['flows', key] })
  }
  return (
    <Dialog title="Go to a flow" onClose={() => goToFlowShown.set(false)}>
      <form class="bar" onSubmit={submit}>
        <input ref={input} class="input mono grow" aria-label="correlationKey" placeholder="correlationKey" />
        <button type="submit" class="button primary">
          Open
        </button>
      </form>
    </Dialog>
  )
}
