import { Dialog } from '../ui/dialog.tsx'
import { createStore, useStore } from '../ui/store.ts'
import { toggleUtc } from '../ui/time.tsx'
import { go } from '../ui/use-address.ts'
import { keyName, keysInUse, useKeys } from '../ui/use-keys.ts'

const helpShown = createStore(false)

/** The keys that work on every page. */
export function useGoKeys(): void {
  useKeys({
    e: { what: 'Event logs', run: () => go({ path: ['event-logs'] }) },
    a: { what: 'Application logs', run: () => go({ path: ['application-logs'] }) },
    u: { what: 'UTC or local time', run: toggleUtc },
  })
}

export const openHelp = (): void => helpShown.set(true)

/** The keys available on this page, shown on `?`. */
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
                <kbd key={key}>{keyName(key)}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="hint">Keys do nothing while you type; Esc leaves the field.</p>
    </Dialog>
  )
}
