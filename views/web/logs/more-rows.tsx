import { useInView } from './use-in-view.ts'
import type { LogRows, Side } from './use-rows.ts'

/** How far below the screen the next rows are read already. */
const AHEAD = '600px'

/** Reads on when one comes near the end; a button for when one is there already. */
export function MoreRows({
  list: { rows, fetching, fetchMore },
  side,
}: {
  readonly list: LogRows
  readonly side: Side
}) {
  const more = side === 'after' ? rows.moreAfter : rows.moreBefore
  const ref = useInView<HTMLDivElement>(
    (inView) => {
      if (inView && more) fetchMore(side)
    },
    AHEAD,
    rows,
  )
  const older = (side === 'after') === (rows.order === 'desc')
  return (
    <div ref={ref} class="more">
      {more && (
        <button type="button" class="button small" disabled={fetching !== undefined} onClick={() => fetchMore(side)}>
          {fetching === side ? 'Loading…' : `Load ${older ? 'older' : 'newer'}`}
        </button>
      )}
      {!more && side === 'after' && rows.entries.length > 0 && (
        <span class="muted small">{older ? 'No older logs in this time' : 'No newer logs in this time'}</span>
      )}
    </div>
  )
}
