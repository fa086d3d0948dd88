// biome-ignore-all lint/a11y/noRedundantRoles: a table that is not laid out as one keeps its roles in every browser only where they are written
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { type FlowLog, lineOf } from '../../flow-layout/flow-log.ts'
import { countText, plural, shortCategory, visible } from '../../flow-layout/format.ts'
import { clockText, dayText, durationText, timeText } from '../../flow-layout/times.ts'
import { excerptOf } from '../logs/excerpt.ts'
import { Payload, type RowSearch, WithExcerpt } from '../logs/log-row.tsx'
import { Button } from '../ui/button.tsx'
import { LevelTag } from '../ui/level.tsx'
import { Marked, useFound, useSought } from '../ui/log-text.tsx'
import { roomOf, useWidth } from '../ui/use-width.ts'
import { keepInView } from './element-hooks.ts'
import { type FlowData, LOGS_MAX } from './use-flow.ts'
import type { FlowView } from './use-flow-view.ts'
import { plusText } from './words.ts'

/** Rows drawn at a time. */
const ROWS = 200

const HEADS: readonly (readonly [name: string, look?: string])[] = [
  ['Time'],
  ['Since start', 'num'],
  ['In lane', 'num flow-wide'],
  ['Level'],
  ['Where'],
  ['What'],
]

/** The drawing as text: the same logs in order of time, with the same selection. */
export function FlowList({ view, data }: { readonly view: FlowView; readonly data: FlowData }) {
  const { listed, selected, logs, brief } = view
  const { total } = brief.summary
  const index = selected === undefined ? -1 : listed.indexOf(selected)
  const sought = useSought()
  const found = useFound()
  const [scroller, width] = useWidth<HTMLElement>()
  const [room, setRoom] = useState(0)
  useLayoutEffect(() => {
    const cell = scroller.current?.querySelector('td:last-child')
    if (cell) setRoom(roomOf(cell))
  }, [width, listed])
  const find = useMemo(() => ({ sought, found, room }), [sought, found, room])
  const [page, setPage] = useState(0)
  useEffect(() => {
    if (index >= 0) setPage(Math.floor(index / ROWS))
  }, [index])
  useEffect(() => keepInView(scroller.current, '[aria-selected=true]', HEAD_PX), [selected, page])

  // A clock time alone says little in a flow that takes days.
  const [first, last] = [logs[0], logs.at(-1)].map((log) => dayText(log?.at ?? 0, view.utc))
  const days = first !== last
  const start = Math.min(page, Math.floor(Math.max(0, listed.length - 1) / ROWS)) * ROWS
  const turn = (to: number, text: string) => {
    const isEnd = to < 0 || to >= listed.length
    return (
      // Not `disabled`, which would take the focus from it.
      <Button label={text} class="small" aria-disabled={isEnd} onClick={() => !isEnd && setPage(to / ROWS)} />
    )
  }
  return (
    <section class="panel flow-list" aria-label="List">
      <div class="head">
        <h2 aria-live="polite">
          {listed.length !== total && `${countText(listed.length)} of `}
          {plural(total, 'log')}
        </h2>
        <span class="grow" />
        {listed.length > ROWS && (
          <>
            <span class="muted num">
              {countText(start + 1)} to {countText(Math.min(start + ROWS, listed.length))}
            </span>
            {turn(start - ROWS, 'Earlier')}
            {turn(start + ROWS, 'Later')}
          </>
        )}
      </div>
      {data.more && !data.loading && (
        <p class="notice">
          The first {countText(logs.length)} logs were read
          {logs.length > LOGS_MAX && `, of which ${countText(LOGS_MAX)} are drawn`}.
          <Button label="Read more" class="small" onClick={data.more} />
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <section class="scroll" ref={scroller} tabIndex={0} aria-label="Logs in order of time">
        <table role="table" class={`table ${days ? 'days' : ''}`} aria-rowcount={listed.length + 1}>
          <thead role="rowgroup">
            <tr role="row" aria-rowindex={1}>
              {HEADS.map(([name, look]) => (
                <th key={name} role="columnheader" scope="col" class={look}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {listed.slice(start, start + ROWS).map((log, at) => (
              <LogRow key={log.entry.id} log={log} view={view} find={find} days={days} index={start + at + 2} />
            ))}
          </tbody>
        </table>
        {listed.length === 0 && (
          <div class="empty">
            <p>No log of this flow has these levels and lies in this lane and time.</p>
            <Button
              label="Show all"
              onClick={() => {
                view.set({ level: undefined, lane: undefined })
                view.setWindow(undefined)
              }}
            />
          </div>
        )}
      </section>
    </section>
  )
}

interface RowProps {
  readonly log: FlowLog
  readonly view: FlowView
  readonly find: RowSearch
  /** Whether the flow spans more than one day. */
  readonly days: boolean
  readonly index: number
}

function LogRow({ log, view, find, days, index }: RowProps) {
  const { utc, selected, matches } = view
  const { entry, at, duration, skew, sinceStart, sincePrevious, where } = log
  const isFound = matches?.has(log)
  const { sought, room } = find
  const found = isFound ? find.found : undefined
  const line = lineOf(entry)
  const [group = '', lane] = where.map(visible)
  return (
    <tr
      role="row"
      class={isFound === false ? 'dim' : undefined}
      aria-rowindex={index}
      aria-selected={log === selected}
      onClick={() => view.select(log)}
    >
      <td role="cell" class="time">
        <button type="button" title={timeText(at, utc)}>
          {days && <span class="muted">{dayText(at, utc).slice(5)} </span>}
          {clockText(at, utc)}
        </button>
      </td>
      <td role="cell" class="time num">
        {plusText(sinceStart)}
      </td>
      <td role="cell" class="time num flow-wide muted">
        {sincePrevious !== undefined && plusText(sincePrevious)}
      </td>
      <td role="cell">
        <LevelTag level={entry.level} />
      </td>
      <td role="cell" class="cut" title={where.map(visible).join(' › ')}>
        <bdi class={lane && 'muted'}>{group}</bdi>
        {lane && (
          <>
            <span class="muted"> › </span>
            <bdi>{entry.kind === 'application' ? shortCategory(lane) : lane}</bdi>
          </>
        )}
      </td>
      <td role="cell" class="cut">
        <WithExcerpt
          excerpt={isFound ? excerptOf(entry, sought, room, [line.slice(0, room), ...where]) : undefined}
          found={found}
        >
          <span class="mono">
            {entry.kind === 'event' ? (
              <Payload text={entry.payload} found={found} />
            ) : (
              <bdi>
                <Marked text={line || entry.message} found={found} />
              </bdi>
            )}
          </span>
        </WithExcerpt>
        {duration !== undefined && <span class="badge">took {durationText(duration)}</span>}
        {skew > 0 && (
          <span class="badge warn" title="Received before it was written">
            clock {durationText(skew)} ahead
          </span>
        )}
      </td>
    </tr>
  )
}

/** Height of the table's head, in pixels. */
const HEAD_PX = 32
