import { KEY_PLACEHOLDER as KEY } from '../../details/placeholders.ts'
import { GATEWAY_KNOWN, withGateway } from '../ui/base.ts'
import { type CodeSnippet, Snippet } from '../ui/snippet.tsx'
import { useStore } from '../ui/store.ts'
import { useFetch } from '../ui/use-fetch.ts'
import { heldKey } from './held-key.ts'

/** Code that sends a log, from where the API has it, with the real address; what is copied has the key in it, what is shown never. */
export function SendSnippet({ path }: { readonly path: string }) {
  const key = useStore(heldKey)
  const { data } = useFetch<{ readonly snippets: readonly CodeSnippet[] }>(path)
  const masked = key === '' ? KEY : `${key.slice(0, 6)}${'•'.repeat(8)}`
  return (
    <>
      <Snippet
        label="Send a log"
        snippets={
          data?.snippets.map((one) => ({ ...one, code: withGateway(one.code).replace(KEY, () => masked) })) ?? []
        }
        reveal={(code) => code.replace(masked, () => key || KEY)}
      />
      {!GATEWAY_KNOWN && <p class="hint">The address is a placeholder, as GATEWAY_URL is not set.</p>}
    </>
  )
}
