import { useState } from 'preact/hooks'
import { countText, cut, visible } from '../../flow-layout/format.ts'

interface LogTextProps {
  readonly text: string
  /** Most characters before there is a button for more. */
  readonly most?: number
  readonly class?: string
}

/** Most characters that are ever drawn; beyond, copying is the way to all of it. */
const DRAWN_MAX = 200_000

/** Text of a log, which may be hostile: as text alone, with a direction of its own, controls made visible, cut where it is long. */
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
