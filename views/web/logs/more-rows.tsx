import { countText } from '../lib/format.ts'
import { iso } from '../lib/times.ts'
import type { ListProps } from './list.tsx'
import { ROWS_MAX } from './rows.ts'
import { useInView } from './use-in-view.ts'

/** How far below the screen the next rows are read already. */
const AHEAD = '600px'

/** Reads on when one comes near the end; a button for when one is there already. Beyond the most rows another list goes on. */
export function MoreRows({
  list: { rows, filter, fetching, fetchMore },
  onChange,
}: Pick<ListProps, 'list' | 'onChange'>) {
  const { entries, order, next } = rows
  const last = entries.length < ROWS_MAX ? undefined : entries.at(-1)
  const more = next !== null && last === undefined
  const ref = useInView<HTMLDivElement>((inView) => inView && more && fetchMore(), AHEAD, rows)
  const older = order === 'desc' ? 'older' : 'newer'
  return (
    <div ref={ref} class="more">
      {more ? (
        <button type="button" class="button small" disabled={fetching} onClick={fetchMore}>
          {fetching ? 'Loading…' : `Load ${older}`}
        </button>
      ) : last === undefined ? (
        <span class="muted small">No {older} logs in this time</span>
      ) : (
        <>
          <span class="muted small">No more than {countText(ROWS_MAX)} logs are shown at once.</span>
          <button
            type="button"
            class="button small"
            onClick={() => {
              onChange(
                order === 'desc'
                  ? { from: filter['from'], to: iso(Date.parse(last.timestamp) + 1), live: undefined }
                  : { from: last.timestamp },
              )
              scrollTo(0, 0)
            }}
          >
            Go on from here
          </button>
        </>
      )}
    </div>
  )
}
