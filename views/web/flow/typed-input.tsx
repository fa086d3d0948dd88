import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface TypedInputProps {
  readonly label: string
  readonly value: string | undefined
  /** Called with the text once typing pauses. */
  readonly onRest: (text: string) => void
  readonly onEnter: (text: string, shift: boolean) => void
  readonly inputRef: RefObject<HTMLInputElement>
}

/** Debounces searches, as the searched flow may be large; in milliseconds. */
const REST_MS = 200

/** A search box that searches while the user types. */
export function TypedInput({ label, value = '', onRest, onEnter, inputRef }: TypedInputProps) {
  const [text, setText] = useState(value)
  const timer = useRef(0)
  // A layout effect: a later effect would overwrite what is typed in the meantime, as would a value without the space typed last.
  useLayoutEffect(() => setText((typed) => (typed.trim() === value ? typed : value)), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <input
      ref={inputRef}
      class="input"
      type="search"
      placeholder={label}
      aria-label={label}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value)
        clearTimeout(timer.current)
        timer.current = window.setTimeout(() => onRest(currentTarget.value), REST_MS)
      }}
      onKeyDown={({ key, shiftKey, isComposing }) => key === 'Enter' && !isComposing && onEnter(text, shiftKey)}
    />
  )
}
