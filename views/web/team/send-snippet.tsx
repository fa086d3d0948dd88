import { useState } from 'preact/hooks'
import { KEY_PLACEHOLDER as KEY } from '../../details/placeholders.ts'
import type { Snippets } from '../../schemas/team.ts'
import { Failed } from '../api/failed.tsx'
import { heldKey } from '../api/session.ts'
import { useFetch } from '../api/use-fetch.ts'
import { GATEWAY_KNOWN, withGateway } from '../ui/base.ts'
import { Copy } from '../ui/copy.tsx'
import { keep, kept } from '../ui/keep.ts'
import { useStore } from '../ui/store.ts'
import { Tabs } from '../ui/tabs.tsx'

const PREFERENCE = 'language'

/**
 * Code that sends a log, with the real address, in the last chosen language. The copied code contains the key, which the page never shows.
 */
export function SendSnippet({ path }: { readonly path: string }) {
  const key = useStore(heldKey)
  const [chosen, setChosen] = useState(kept(PREFERENCE))
  const { data, problem, reload } = useFetch<Snippets>(path)
  const { snippets = [] } = data ?? {}
  const shown = snippets.find(({ id }) => id === chosen) ?? snippets[0]
  const codeWith = (text: string): string => withGateway(shown?.code ?? '').replace(KEY, () => text)
  return (
    <>
      <Failed problem={problem} reload={reload} instead={data === undefined} />
      {shown && (
        <div class="snippet">
          <Tabs
            label="Send a log"
            tabs={snippets}
            tab={shown.id}
            onTab={(id) => {
              keep(PREFERENCE, id)
              setChosen(id)
            }}
            end={<Copy label="Copy" named text={() => codeWith(key || KEY)} />}
          >
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
            <pre class="code" tabIndex={0}>
              {codeWith(key === '' ? KEY : `${key.slice(0, 6)}${'•'.repeat(8)}`)}
            </pre>
          </Tabs>
        </div>
      )}
      {!GATEWAY_KNOWN && <p class="hint">The address is a placeholder, as GATEWAY_URL is not set.</p>}
    </>
  )
}
