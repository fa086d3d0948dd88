import { KEY_PLACEHOLDER as KEY } from '../logs/curl.ts'
import { GATEWAY, GATEWAY_KNOWN } from '../ui/base.ts'
import { Snippet } from '../ui/snippet.tsx'
import { createStore, useStore } from '../ui/store.ts'
import { snippetsOf, type Target } from './snippets.ts'

/** A key that was entered or made on this page: in this tab's memory alone, until it is loaded again. */
export const heldKey = createStore('')

/** Code that sends a log to the target, with the real address; what is copied has the key in it, what is shown never. */
export function SendSnippet({ target }: { readonly target: Target }) {
  const key = useStore(heldKey)
  const masked = key === '' ? KEY : `${key.slice(0, 6)}${'•'.repeat(8)}`
  return (
    <>
      <Snippet
        label="Send a log"
        snippets={snippetsOf(GATEWAY, target).map((one) => ({ ...one, code: one.code.replace(KEY, () => masked) }))}
        reveal={(code) => code.replace(masked, () => key || KEY)}
      />
      {!GATEWAY_KNOWN && (
        <p class="hint">The address is a placeholder: the operator has not set GATEWAY_URL for this page.</p>
      )}
    </>
  )
}
