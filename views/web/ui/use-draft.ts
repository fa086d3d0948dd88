import { useLayoutEffect, useState } from 'preact/hooks'

/** What is typed into a box: `value` until something is, and again whenever that changes. */
export function useDraft(value: string): readonly [string, (text: string) => void] {
  const [draft, setDraft] = useState(value)
  // As soon as it is drawn, or it would take back what is typed meanwhile.
  useLayoutEffect(() => setDraft(value), [value])
  return [draft, setDraft]
}
