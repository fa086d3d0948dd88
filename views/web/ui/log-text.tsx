import { useState } from 'preact/hooks'
import { countText, cut, visible } from '../../flow-layout/format.ts'

interface LogTextProps {
  readonly text: string
  /** Characters shown before a button for more. */
  readonly most?: number
  readonly class?: string
}

/** Maximum number of characters rendered; the full text can only be copied. */
const DRAWN_MAX = 200_000

/** Renders log text, which may be hostile: as plain text with isolated direction, visible control characters, and a length limit. */
export function LogText({ text, most = 2_000, class: look = 'mono wrap' }: LogTextProps) {
  const [all, setAll] = useState(false)
  const shown = cut(text, all ? DRAWN_MAX : most)
  return (
    <bdi class={look}>
      {visible(shown.text)}
      {shown.more > 0 && (
        <>
          {'… '}
          {all ? (
            <span class="muted">
              {countText(shown.more)} more characters, not drawn here; copy the text to have them
            </span>
          ) : (
            <button type="button" class="button small" onClick={() => setAll(true)}>
              Show {countText(shown.more)} more characters
            </button>
          )}
        </>
      )}
    </bdi>
  )
}
