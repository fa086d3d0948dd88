import { useEffect, useRef, useState } from 'preact/hooks'
import { useAddress } from '../ui/use-address.ts'
import { useKeys } from '../ui/use-keys.ts'

const TYPING_MS = 250

/** Narrows the list while one types; Enter opens exactly what was typed, listed or not. */
export function KeyBox() {
  const [{ params }, go] = useAddress()
  const { q = '' } = params
  const [text, setText] = useState(q)
  const timer = useRef(0)
  const input = useRef<HTMLInputElement>(null)
  const focus = { what: 'Find or open a flow', run: () => input.current?.focus() }
  useKeys({ '/': focus, g: focus })
  useEffect(() => setText(q), [q])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <form
      class="flows-box"
      onSubmit={(event) => {
        event.preventDefault()
        if (text !== '') go({ path: ['flows', text] })
      }}
    >
      <input
        ref={input}
        class="input mono"
        type="search"
        placeholder="Part of a correlationKey"
        aria-label="Part of a correlationKey"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setText(value)
          clearTimeout(timer.current)
          timer.current = window.setTimeout(() => go({ params: { q: value } }, 'replace'), TYPING_MS)
        }}
      />
      <button type="submit" class="button" disabled={text === ''} title="Open the flow with exactly this key">
        Open <kbd>↵</kbd>
      </button>
    </form>
  )
}
