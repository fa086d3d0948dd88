import { useEffect, useRef, useState } from 'preact/hooks'
import { countText, plural, visible } from '../lib/format.ts'
import { clockText, durationText, timeText } from '../lib/times.ts'
import { LevelTag } from '../ui/level.tsx'
import type { FlowLog } from './flow-log.ts'
import { skewOf } from './skew.ts'
import type { FlowData } from './use-flow.ts'
import type { FlowView } from './use-flow-view.ts'
import { placeOf, plusText } from './words.ts'

/** Rows that are drawn at once, and how many more each "show" brings. */
const ROWS_MAX = 300
const MORE = 200

/** The drawing in words: the same logs in order of time, with the same selection. */
export function FlowList({ view, data }: { readonly view: FlowView; readonly data: FlowData }) {
  const { listed, selected, window, logs } = view
  const index = selected === undefined ? -1 : listed.indexOf(selected)
  const [start, setStart] = useState(0)
  const [length, setLength] = useState(ROWS_MAX)
  const body = useRef<HTMLTableSectionElement>(null)
  useEffect(() => {
    if (index >= 0 && (index < start || index >= start + length)) {
      setStart(Math.max(0, index - 50))
      setLength(ROWS_MAX)
    }
  }, [index, start, length])
  useEffect(() => {
    if (selected !== undefined) showRow(body.current, selected.entry.id)
  }, [selected, start])

  // A list that became shorter starts no later than its end.
  const from = Math.min(start, Math.max(0, listed.length - 1))
  const rows = listed.slice(from, from + length)
  const later = listed.length - from - rows.length
  const { total } = view.brief.summary
  return (
    <section class="panel flow-list" aria-label="List">
      <div class="head">
        <h2 role="status">
          {listed.length === total ? plural(total, 'log') : `${countText(listed.length)} of ${plural(total, 'log')}`}
        </h2>
        {window !== undefined && (
          <button type="button" class="button quiet small" onClick={() => view.setWindow(undefined, 'push')}>
            Show the whole time
          </button>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="Logs in order of time">
        <table class="table" aria-rowcount={listed.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              <th scope="col">{view.order === 'received' ? 'Received' : 'Time'}</th>
              <th scope="col" class="num">
                Since start
              </th>
              <th scope="col" class="num flow-wide" title="Since the log before it in the same lane">
                In lane
              </th>
              <th scope="col">Level</th>
              <th scope="col">Where</th>
              <th scope="col">What</th>
            </tr>
          </thead>
          <tbody ref={body}>
            {from > 0 && (
              <MoreRow
                count={from}
                what="earlier"
                onClick={() => {
                  setStart(Math.max(0, from - MORE))
                  setLength(length + MORE)
                }}
              />
            )}
            {rows.map((log, at) => (
              <LogRow key={log.entry.id} log={log} view={view} index={from + at + 2} />
            ))}
            {later > 0 && <MoreRow count={later} what="later" onClick={() => setLength(length + MORE)} />}
          </tbody>
        </table>
        {listed.length === 0 && <NothingListed view={view} loading={data.loading} />}
      </section>
      {data.partial && !data.loading && (
        <div class="foot bar">
          <span class="muted">
            {countText(logs.length)} of {plural(total, 'log')} were read, from the first on
            {logs.length > view.drawn.length && `; the first ${countText(view.drawn.length)} are drawn`}.
          </span>
          <button type="button" class="button small" onClick={data.more}>
            Read 1,000 more
          </button>
        </div>
      )}
    </section>
  )
}

function LogRow({ log, view, index }: { readonly log: FlowLog; readonly view: FlowView; readonly index: number }) {
  const { order, utc, selected, matches } = view
  const { entry, text, duration } = log
  const relative = view.relative.get(log)
  const match = matches?.has(log)
  const skew = skewOf(log)
  return (
    <tr
      id={`row-${entry.id}`}
      class={matches === undefined || match ? undefined : 'dim'}
      aria-rowindex={index}
      aria-selected={log === selected}
      onClick={() => view.select(log)}
    >
      <td class="time" title={timeText(log[order], utc)}>
        <button type="button" class="flow-open" aria-label={`Show the log of ${timeText(log[order], utc)}`}>
          {clockText(log[order], utc)}
        </button>
      </td>
      <td class="time num">{plusText(relative?.sinceStart ?? 0)}</td>
      <td class="time num flow-wide muted">
        {relative?.sincePrevious === undefined ? '' : plusText(relative.sincePrevious)}
      </td>
      <td>
        <LevelTag level={entry.level} />
      </td>
      <td class="flow-where cut" title={visible(placeOf(entry).join(' › '))}>
        <Where names={placeOf(entry, true)} />
      </td>
      <td class="flow-what">
        <div class="cut">
          <bdi class="mono">{match ? <mark>{visible(text)}</mark> : visible(text)}</bdi>
          {duration !== undefined && <span class="badge">took {durationText(duration)}</span>}
          {skew > 0 && (
            <span class="badge warn" title="Received before it was written: its sender's clock is ahead">
              clock {durationText(skew)} ahead
            </span>
          )}
        </div>
      </td>
    </tr>
  )
}

const Where = ({ names }: { readonly names: readonly string[] }) => (
  <>
    {names.map((name, index) => (
      <>
        {index > 0 && <span class="muted"> › </span>}
        <bdi class={index < names.length - 1 ? 'muted' : undefined}>{visible(name)}</bdi>
      </>
    ))}
  </>
)

const MoreRow = ({
  count,
  what,
  onClick,
}: {
  readonly count: number
  readonly what: string
  readonly onClick: () => void
}) => (
  <tr class="flow-more">
    <td colSpan={6}>
      <button type="button" class="button small" onClick={onClick}>
        Show {what} ones ({countText(count)})
      </button>
    </td>
  </tr>
)

function NothingListed({ view, loading }: { readonly view: FlowView; readonly loading: boolean }) {
  if (loading) return <p class="empty muted">Reading…</p>
  const { lists, lane, window } = view
  return (
    <div class="empty">
      <p>
        No log of this flow{' '}
        {[lists.level.size > 0 && 'has these levels', lane && 'is in this lane', window && 'lies in this time']
          .filter(Boolean)
          .join(' and ') || 'can be shown'}
        .
      </p>
      <button
        type="button"
        class="button"
        onClick={() => {
          view.set({ level: undefined, lane: undefined })
          view.setWindow(undefined, 'push')
        }}
      >
        Show all logs of the flow
      </button>
    </div>
  )
}

/** Brings a row into view within the list alone. */
function showRow(body: HTMLElement | null, id: string): void {
  const row = body?.querySelector<HTMLElement>(`#${CSS.escape(`row-${id}`)}`)
  const scroller = body?.closest('.scroll')
  if (!row || !scroller) return
  const head = 32
  const { top, bottom } = row.getBoundingClientRect()
  const frame = scroller.getBoundingClientRect()
  if (top < frame.top + head) scroller.scrollTop -= frame.top + head - top
  else if (bottom > frame.bottom) scroller.scrollTop += bottom - frame.bottom
}
