import { Dialog } from '../ui/dialog.tsx'
import { createStore, useStore } from '../ui/store.ts'
import { keysInUse, useKeys } from '../ui/use-keys.ts'

const open = createStore(false)

export const openHelp = (): void => open.set(true)

/** The keys that do something on this page, on `?`. */
export function Help() {
  useKeys({ '?': { what: 'Keyboard help', run: openHelp } })
  if (!useStore(open)) return null
  const actions = new Map<string, string[]>()
  for (const [key, what] of keysInUse()) actions.set(what, [...(actions.get(what) ?? []), key])
  return (
    <Dialog title="Keyboard" onClose={() => open.set(false)}>
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
