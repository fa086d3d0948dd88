import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { countText, plural, visible } from '../../flow-layout/format.ts'
import type { Absence } from '../../schemas/answers.ts'
import { Failed } from '../api/failed.tsx'
import { useFetch } from '../api/use-fetch.ts'
import { pick } from '../lib/address.ts'
import { agoText } from '../lib/times.ts'
import { RefusedNote } from '../refused/refused-note.tsx'
import { FirstMinute } from '../team/first-minute.tsx'
import { Busy } from '../ui/busy.tsx'
import { Button } from '../ui/button.tsx'
import { hrefTo, useAddress, useReturn } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { useLatest } from '../ui/use-latest.ts'
import { folderOf } from './facts.ts'
import type { AddressParams } from './filters.ts'
import { LogTable } from './log-table.tsx'
import { emptyTexts, wayText, wayValue } from './texts.ts'
import type { ChosenColumns } from './use-columns.ts'
import type { ListState } from './use-list-state.ts'
import type { LogRows } from './use-rows.ts'

interface ListProps {
  readonly kind: EntryKind
  readonly list: LogRows
  readonly state: ListState
  readonly columns: ChosenColumns
  readonly total: number | undefined
  readonly onChange: (params: AddressParams) => void
}

/** Excludes the part of the window that the page's and the table's head cover. */
const BELOW_HEAD = '-80px 0px 0px'

/** The rows and everything around them: tail news, a problem, the reason why the list is empty, and further rows. */
export function List({ kind, list, state, columns, total, onChange }: ListProps) {
  const { rows, answer, loading, fetching, problem } = list
  const top = useInView<HTMLDivElement>((inView) => state.setScrolled(!inView), BELOW_HEAD)
  useReturn(answer, state.point)
  return (
    <section class={`panel list grow ${problem === undefined && answer ? '' : 'stale'}`} aria-label="List">
      <div ref={top}>
        <Busy on={loading || fetching} />
      </div>
      <Failed problem={problem} reload={list.reload} instead={rows.entries.length === 0} />
      <TailNews list={list} state={state} />
      {rows.entries.length === 0 ? (
        answer !== undefined && !loading && <Empty kind={kind} filter={list.filter} onChange={onChange} />
      ) : (
        <>
          <LogTable
            kind={kind}
            rows={rows}
            total={total}
            state={state}
            columns={columns}
            onOrder={() => onChange({ order: rows.order === 'desc' ? 'asc' : undefined, live: undefined })}
          />
          <MoreRows list={list} />
        </>
      )}
    </section>
  )
}

interface TailNewsProps {
  readonly list: LogRows
  readonly state: ListState
}

/** Entries of the tail that are not in the list: held back, skipped by the server, or older than the visible ones. */
function TailNews({ list, state }: TailNewsProps) {
  const { live, heldCount, skipped, elsewhere } = list
  const atTop = (run: () => void) => () => {
    state.toTop()
    run()
  }
  return (
    <>
      <div class="news" role="status">
        {heldCount > 0 && (
          <Button label={`${countText(heldCount)} new`} class="primary small" onClick={atTop(list.release)} />
        )}
      </div>
      {skipped > 0 && (
        <div class="notice warn">
          <span>{plural(skipped, 'log')} came faster than this page could take them, and are not shown.</span>
          <Button label="Load them" class="small" onClick={atTop(list.reload)} />
        </div>
      )}
      {live !== 'off' && elsewhere > 0 && (
        <p class="muted small pad">{plural(elsewhere, 'log')} arrived with an older time than what is in sight.</p>
      )}
    </>
  )
}

/** How far below the screen further rows are loaded in advance. */
const AHEAD = '600px'

/** Loads more rows when the end comes near; the button is for readers who are already there. */
function MoreRows({ list: { rows, fetching, fetchMore } }: Pick<ListProps, 'list'>) {
  const more = rows.next !== null
  const ref = useInView<HTMLDivElement>((inView) => inView && more && fetchMore(), AHEAD, rows)
  const older = rows.order === 'desc' ? 'older' : 'newer'
  return (
    <div ref={ref} class="more">
      {more ? (
        // Not `disabled`, which would take the focus from it.
        <Button
          label={fetching ? 'Loading…' : `Load ${older}`}
          class="small"
          aria-disabled={fetching}
          onClick={fetchMore}
        />
      ) : (
        <span class="muted small">No {older} logs in this time</span>
      )}
    </div>
  )
}

interface EmptyProps {
  readonly kind: EntryKind
  /** The parameters of the list. */
  readonly filter: AddressParams
  readonly onChange: (params: AddressParams) => void
}

/** Explains why the list is empty, and offers the changes that would show something. */
export function Empty({ kind, filter, onChange }: EmptyProps) {
  const { data, problem, reload } = useFetch<Absence>(`/api/${folderOf(kind)}/absence`, filter)
  if (problem !== undefined) return <Failed problem={problem} reload={reload} instead />
  if (data === undefined) return <p class="empty muted">Looking…</p>
  const elsewhere = (filter['q'] !== undefined || !data.kept) && <Elsewhere kind={kind} filter={filter} />
  if (!data.kept)
    return (
      <>
        {elsewhere}
        <FirstMinute kind={kind} />
      </>
    )
  const [title, reason] = emptyTexts(kind, data, systemClock.now())
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{reason}</p>
      {elsewhere}
      <div class="bar">
        {data.ways.map((way, index) => (
          <button
            key={wayText(way)}
            type="button"
            class={index === 0 ? 'button primary' : 'button'}
            onClick={() => onChange(way.params)}
          >
            <span class="cut">
              {wayText(way)} <bdi class="mono">{visible(wayValue(way)?.slice(0, 60) ?? '')}</bdi>
            </span>
            {way.total !== null && <span class="badge">{plural(way.total, 'log')}</span>}
          </button>
        ))}
      </div>
      <RefusedNote />
    </div>
  )
}

const LOOK_MS = 2_000

/** The way to the logs of the other kind, if any of them matches what both kinds can be selected by. */
function Elsewhere({ kind, filter }: Pick<EmptyProps, 'kind' | 'filter'>) {
  const { from, to } = useAddress().params
  const other = kind === 'event' ? 'application' : 'event'
  const selected = pick(filter, ['q', 'level', 'levelMax', 'environment'])
  const { data, reload } = useFetch<Absence>(`/api/${folderOf(other)}/absence`, selected)
  // A reader who waits for a first log may send one of the other kind.
  useEvery(LOOK_MS, reload, data?.kept === false)
  if (!data?.newestAt) return null
  const { newestAt, ways } = data
  const isInRange = newestAt >= (filter['from'] ?? '') && (filter['to'] === undefined || newestAt < filter['to'])
  const params = { ...selected, ...(isInRange ? { from, to } : ways[0]?.params) }
  return (
    <p class="notice">
      <a href={hrefTo({ path: [folderOf(other)], params })}>See the {other} logs</a>
      <span>
        The newest {filter['q'] !== undefined && 'that matches '}is from {agoText(newestAt, systemClock.now())}.
      </span>
    </p>
  )
}

/** Calls `onChange` when the element enters or leaves the view, or `about` changes; `margin` widens the view. */
function useInView<Node extends Element>(
  onChange: (inView: boolean) => unknown,
  margin = '0px',
  about?: unknown,
): RefObject<Node> {
  const ref = useRef<Node>(null)
  const latest = useLatest(onChange)
  useEffect(() => {
    if (ref.current === null) return
    // The browser batches changes; the last one is the current state.
    const observer = new IntersectionObserver((entries) => latest.current(entries.at(-1)?.isIntersecting === true), {
      rootMargin: margin,
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [about])
  return ref
}
