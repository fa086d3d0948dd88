import { useMemo, useState } from 'preact/hooks'
import { countText, cut, visible } from '../../flow-layout/format.ts'
import { foundBy, type Sought, soughtBy, soughtInFlow } from '../lib/found.ts'
import { Button } from './button.tsx'
import { useAddress } from './use-address.ts'

interface LogTextProps {
  readonly text: string
  /** Characters shown before a button for more. */
  readonly most?: number
  readonly class?: string
}

/** Maximum number of characters rendered; the full text can only be copied. */
const DRAWN_MAX = 200_000

/** Characters shown from the first match on, if it is near the limit or beyond it. */
const AFTER_MATCH = 500

/**
 * Renders log text, which may be hostile: as plain text with isolated direction, visible control characters, and a length limit. What the
 * page's search finds in it is marked. If the first match is beyond the limit, most of what is before it is left out, so that it is in sight.
 */
export function LogText({ text, most = 2_000, class: look = 'mono wrap' }: LogTextProps) {
  const [all, setAll] = useState(false)
  const found = useFound()
  const at = found === undefined || all ? -1 : text.slice(0, DRAWN_MAX).search(found)
  const isFar = at >= most
  const limit = at === -1 ? most : Math.max(most, at + AFTER_MATCH)
  const shown = cut(text, all ? DRAWN_MAX : isFar ? most / 4 : limit)
  const around = isFar ? text.slice(at - most / 4, limit).replace(/^[\udc00-\udfff]/, '') : ''
  const more = countText(shown.more - around.length)
  return (
    <bdi class={look}>
      <Marked text={shown.text} found={found} />
      {shown.more > around.length && (
        <>
          {'… '}
          {all ? (
            <span class="muted">{more} more characters, not drawn here; copy the text to have them</span>
          ) : (
            <Button label={`Show ${more} more characters`} class="small" onClick={() => setAll(true)} />
          )}
        </>
      )}
      {around && (
        <>
          {' …'}
          <Marked text={around} found={found} />
          {text.length > limit && '…'}
        </>
      )}
    </bdi>
  )
}

/** The words, phrases and leaves of the page's search, or of the find of a flow. */
export function useSought(): readonly Sought[] {
  const { path, params } = useAddress()
  const [q, isFind] = [params['q'] ?? '', path[0] === 'flows']
  return useMemo(() => (isFind ? soughtInFlow : soughtBy)(q), [q, isFind])
}

/** The pattern of what is looked for in texts; see `foundBy`. */
export function useFound(): RegExp | undefined {
  const sought = useSought()
  return useMemo(() => foundBy(sought), [sought])
}

/** With more matches than this, none is marked: each is an element of its own. */
const MARKS_MAX = 1_000

/** A text made safe to show, with what a search finds in it marked; see `useFound`. A text of blanks alone, which nobody sees, is named. */
export function Marked({ text, found }: { readonly text: string; readonly found: RegExp | undefined }) {
  if (/^\s+$/.test(text)) return <span class="muted">(blank)</span>
  const parts = found === undefined ? [] : text.split(found)
  if (parts.length <= 1 || parts.length > 2 * MARKS_MAX) return <>{visible(text)}</>
  return <>{parts.map((part, index) => (index % 2 === 0 ? visible(part) : <mark key={index}>{visible(part)}</mark>))}</>
}
