import { useState } from 'preact/hooks'
import { visible } from '../lib/format.ts'
import { Copy } from '../ui/copy.tsx'
import { prettyJson } from './json-text.ts'

/** Characters before there is a button for more, and the most that are ever drawn. */
const SHOWN = 6_000
const DRAWN_MAX = 200_000

/** A JSON text, laid out. `copied` is what the button copies, where that is not the text itself. */
export function JsonBlock({ text, label }: { readonly text: string; readonly label: string }) {
  const [all, setAll] = useState(false)
  const { text: shown, cut } = prettyJson(text, all ? DRAWN_MAX : SHOWN)
  return (
    <div class="json">
      <Copy text={text} label={`Copy ${label}`} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre class="code wrap isolate" tabIndex={0}>
        {visible(shown)}
        {cut && '…'}
      </pre>
      {cut && (
        <p>
          {all ? (
            <span class="muted">The rest is not drawn here; copy the text to have it.</span>
          ) : (
            <button type="button" class="button small" onClick={() => setAll(true)}>
              Show more
            </button>
          )}
        </p>
      )}
    </div>
  )
}
