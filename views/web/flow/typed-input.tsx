import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface TypedInputProps {
  readonly label: string
  readonly value: string | undefined
  /** Told what was typed once typing rests. */
  readonly onRest: (text: string) => void
  readonly onEnter: (text: string, shift: boolean) => void
  readonly inputRef: RefObject<HTMLInputElement>
}

/** Not at every letter: what is searched may be large. */
const REST_MS = 200

/** A box that searches while one types. */
export function TypedInput({ label, value = '', onRest, onEnter, inputRef }: TypedInputProps) {
  const [text, setText] = useState(value)
  const timer = useRef(0)
  // As soon as it is drawn, or it would take back what is typed meanwhile.
  useLayoutEffect(() => setText(value), [value])
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
      onKeyDown={({ key, shiftKey }) => key === 'Enter' && onEnter(text, shiftKey)}
    />
  )
}
