import { useState } from 'preact/hooks'
import { Copy } from './copy.tsx'
import { keep, kept } from './keep.ts'
import { Tabs } from './tabs.tsx'

export interface CodeSnippet {
  /** Remembered as the reader's language. */
  readonly id: string
  readonly name: string
  readonly code: string
}

export interface SnippetProps {
  /** What the snippets do: "Send a log". */
  readonly label: string
  /** The same in several languages. */
  readonly snippets: readonly CodeSnippet[]
  /** What the copy has in place of what is shown, such as a key that is masked on the page. */
  readonly reveal?: (code: string) => string
}

const PREFERENCE = 'language'

/** Code to paste, in the language that was chosen last, wherever that was. */
export function Snippet({ label, snippets, reveal = (code) => code }: SnippetProps) {
  const [chosen, setChosen] = useState(kept(PREFERENCE))
  const shown = snippets.find(({ id }) => id === chosen) ?? snippets[0]
  if (shown === undefined) return null
  return (
    <div class="snippet">
      <Tabs
        label={label}
        tabs={snippets}
        tab={shown.id}
        onTab={(id) => {
          keep(PREFERENCE, id)
          setChosen(id)
        }}
        end={<Copy label="Copy" named text={() => reveal(shown.code)} />}
      >
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
        <pre class="code" tabIndex={0}>
          {shown.code}
        </pre>
      </Tabs>
    </div>
  )
}
