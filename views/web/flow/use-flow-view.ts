import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { parseTime } from '../../../shared/query/time.ts'
import { type FlowLog, readLogs } from '../../flow-layout/flow-log.ts'
import { findGaps, type Gap, segmentsOf } from '../../flow-layout/gaps.ts'
import { type Row, rowsOf } from '../../flow-layout/rows.ts'
import { activeMs, createTimeScale, type Segment, type TimeScale } from '../../flow-layout/time-scale.ts'
import { type Visit, visitsOf } from '../../flow-layout/visits.ts'
import type { Entry, Flow } from '../../schemas/answers.ts'
import { iso } from '../lib/times.ts'
import { useUtc } from '../ui/time.tsx'
import { go, useAddress } from '../ui/use-address.ts'
import { listOf, toggled } from './flow-address.ts'
import { type TimeWindow, windowAt, zoomed } from './time-window.ts'
import { LOGS_MAX } from './use-flow.ts'
import { createMatcher } from './words.ts'

/** The state shared by the parts of a flow's page, and its setters; all but transient state is kept in the address. */
export interface FlowView {
  readonly brief: Flow
  readonly params: Readonly<Record<string, string>>
  readonly utc: boolean
  /** All loaded logs in order of time; the first `LOGS_MAX` are drawn. */
  readonly logs: readonly FlowLog[]
  /** The logs that pass the level and lane filters; `shown` also lie in the window, and `listed` in the address's window. */
  readonly passing: readonly FlowLog[]
  readonly shown: readonly FlowLog[]
  readonly listed: readonly FlowLog[]
  readonly rows: readonly Row[]
  readonly visits: readonly Visit[]
  readonly gaps: readonly (Gap & { readonly id: string; readonly folded: boolean })[]
  readonly segments: readonly Segment[]
  /** The scale of the whole flow, the basis for zooming. */
  readonly fit: TimeScale
  /** The time that is not idle, in milliseconds. */
  readonly active: number
  /** The zoomed time range; undefined for the whole flow. */
  readonly window: TimeWindow | undefined
  readonly selected: FlowLog | undefined
  /** The logs that match the search; undefined without a search. */
  readonly matches: ReadonlySet<FlowLog> | undefined
  /** The lane or group that the logs are filtered by. */
  readonly lane: Row | undefined
  readonly setWindow: (window: TimeWindow | undefined) => void
  /** Selects the log in the drawing and the list, and moves the window to it if necessary. */
  select(log: FlowLog | undefined): void
  set(params: Readonly<Record<string, string | undefined>>): void
  /** Adds a value to a list parameter of the address, or removes it. */
  toggle(name: string, value: string): void
}

/** The width of the whole flow's scale; any value will do. */
const FIT_PX = 1_000

export function useFlowView(brief: Flow, entries: readonly Entry[]): FlowView {
  const { params } = useAddress()
  const { id, q, level, fold, optional, gaps: unlike, idle, order, lane: laneId } = params
  const set: FlowView['set'] = (patch) => go({ params: patch }, 'replace')
  const [window, setWindow, rested] = useWindow()

  const logs = useMemo(() => readLogs(entries, order === 'received' ? 'receivedAt' : 'timestamp'), [entries, order])
  const drawn = useMemo(() => {
    const some = logs.slice(0, LOGS_MAX)
    const times = some.map(({ at }) => at)
    const others = listOf(unlike)
    const gaps = findGaps(times).map((gap) => {
      const name = Math.round(gap.from).toString(36)
      return { ...gap, id: name, folded: (idle !== 'show') !== others.has(name) }
    })
    const cut = (by: readonly Gap[]): readonly Segment[] => segmentsOf(times[0] ?? 0, times.at(-1) ?? 0, by)
    const segments = cut(gaps.filter(({ folded }) => folded))
    return {
      rows: rowsOf(some, brief.steps, listOf(fold), listOf(optional)),
      visits: visitsOf(some),
      gaps,
      segments,
      fit: createTimeScale(segments, FIT_PX),
      active: activeMs(cut(gaps)),
    }
  }, [logs, brief.steps, fold, optional, unlike, idle])
  const lane = drawn.rows.find((row) => row.id === laneId)
  const passing = useMemo(() => {
    const levels = listOf(level)
    const own = lane && new Set(lane.all)
    return logs.filter((log) => (levels.size === 0 || levels.has(log.entry.level)) && own?.has(log) !== false)
  }, [logs, level, lane])
  const inWindow = (span: TimeWindow | undefined): readonly FlowLog[] =>
    span === undefined ? passing : passing.filter(({ at }) => at >= span.from && at <= span.to)

  return {
    ...drawn,
    ...{ brief, params, logs, passing, window, lane, set, setWindow },
    utc: useUtc(),
    shown: useMemo(() => inWindow(window), [passing, window]),
    listed: useMemo(() => inWindow(rested), [passing, rested]),
    matches: useMemo(() => (q === undefined ? undefined : new Set(passing.filter(createMatcher(q)))), [passing, q]),
    selected: useMemo(() => logs.find(({ entry }) => entry.id === id), [logs, id]),
    select: (log) => {
      set({ id: log?.entry.id })
      if (log === undefined || window === undefined || (log.at >= window.from && log.at <= window.to)) return
      const [x0, x, x1] = [window.from, log.at, window.to].map(drawn.fit.project) as [number, number, number]
      setWindow(windowAt(drawn.fit, x - (x1 - x0) / 2, x + (x1 - x0) / 2))
    },
    toggle: (name, value) => set({ [name]: toggled(params[name], value) }),
  }
}

/** How long a changing window, as during zooming with a wheel, has to rest before it is written to the address; in milliseconds. */
const REST_MS = 250

/** The window, its setter, and the window in the address. */
function useWindow() {
  const { params } = useAddress()
  const { from, to } = params
  const kept = useMemo(() => {
    const [start = '', end = ''] = [from, to].map((time) => parseTime(time ?? '', 0))
    return start === '' || end === '' ? undefined : { from: Date.parse(start), to: Date.parse(end) }
  }, [from, to])
  const [window, setWindow] = useState(kept)
  const written = useRef(`${from} ${to}`)
  // An address written by this page may be older than the current window.
  useEffect(() => {
    if (written.current !== `${from} ${to}`) setWindow(kept)
  }, [kept])
  useEffect(() => {
    const timer = setTimeout(() => {
      const range = { from: window && iso(window.from), to: window && iso(Math.ceil(window.to)) }
      written.current = `${range.from} ${range.to}`
      go({ params: range }, 'replace')
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [window])
  return [window, setWindow, kept] as const
}

/** The share of the time that remains after zooming in by one step. */
export const ZOOM = 0.6

/** Zooms around a time; by default around the selection, or else the middle. */
export function zoomBy(view: FlowView, factor: number, around?: number): void {
  const shown = shownOf(view)
  const at = view.selected?.at ?? Number.NaN
  const middle = at >= shown.from && at <= shown.to ? at : (shown.from + shown.to) / 2
  view.setWindow(zoomed(view.fit, shown, factor, around ?? middle))
}

/** The drawn time range. */
export const shownOf = ({ window, logs }: FlowView) => window ?? { from: logs[0]?.at ?? 0, to: logs.at(-1)?.at ?? 0 }
