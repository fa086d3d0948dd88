import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { FlowDetail } from '../api/types.ts'
import { LEVELS } from '../lib/levels.ts'
import { iso, timeOf } from '../lib/times.ts'
import { type How, useAddress } from '../ui/use-address.ts'
import { useUtc } from '../ui/use-utc.ts'
import { listOf, listText, toggled } from './flow-address.ts'
import { type FlowLog, sortLogs, type TimeOrder } from './flow-log.ts'
import { activeMs, findGaps, type Gap, segmentsOf } from './gaps.ts'
import { type Group, groupLanes, type Visit, visitsOf } from './lanes.ts'
import { type Relative, relativeTimes } from './relative.ts'
import { type Row, rowsOf } from './rows.ts'
import { createMatcher } from './search-logs.ts'
import { type Skew, skewOfFlow } from './skew.ts'
import type { Segment } from './time-scale.ts'
import { type TimeWindow, wholeOf, windowBetween } from './time-window.ts'
import { LOGS_MAX } from './use-flow.ts'

/** Lists of values that the address keeps, separated by commas. */
export type ListName = 'level' | 'fold' | 'optional' | 'gaps'

/** All that the parts of one flow's page show, and what they may change; kept in the address but for what lasts a moment. */
export interface FlowView {
  readonly brief: FlowDetail
  readonly order: TimeOrder
  readonly utc: boolean
  /** All that were read, in order of time, and how many of them are drawn. */
  readonly logs: readonly FlowLog[]
  readonly drawn: readonly FlowLog[]
  /** Those that level and lane let through; `listed` also lie in the window. */
  readonly passing: readonly FlowLog[]
  readonly listed: readonly FlowLog[]
  readonly relative: ReadonlyMap<FlowLog, Relative>
  readonly groups: readonly Group[]
  readonly rows: readonly Row[]
  readonly visits: readonly Visit[]
  readonly gaps: readonly Gap[]
  readonly isFolded: (gap: Gap) => boolean
  readonly segments: readonly Segment[]
  readonly activeMs: number
  /** What is zoomed to; undefined where all is shown. */
  readonly window: TimeWindow | undefined
  readonly skew: Skew
  readonly selected: FlowLog | undefined
  /** What the search finds; undefined where nothing is searched for. */
  readonly matches: ReadonlySet<FlowLog> | undefined
  /** What is searched for in the flow. */
  readonly query: string
  /** The only lane or group whose logs pass. */
  readonly lane: Row | undefined
  readonly lists: Readonly<Record<ListName, ReadonlySet<string>>>
  setWindow(window: TimeWindow | undefined, how?: How): void
  /** Makes it the one selection of drawing and list, and brings it into the window. */
  select(log: FlowLog | undefined): void
  set(params: Readonly<Record<string, string | undefined>>): void
  toggle(name: ListName, value: string): void
}

/** How long a window that changes all the time, as by a wheel, has to rest before the address has it. */
const REST_MS = 250

export function useFlowView(brief: FlowDetail, all: readonly FlowLog[]): FlowView {
  const [{ params }, go] = useAddress()
  const { id, q = '', lane: laneId, level, fold, optional, gaps: gapList, idle } = params
  const utc = useUtc()
  const order: TimeOrder = params['order'] === 'received' ? 'received' : 'written'
  const set: FlowView['set'] = (patch) => go({ params: patch }, 'replace')

  const logs = useMemo(() => sortLogs(all, order), [all, order])
  const drawn = useMemo(() => logs.slice(0, LOGS_MAX), [logs])
  const groups = useMemo(() => groupLanes(drawn, brief.steps), [drawn, brief.steps])
  const lists = useMemo(
    () => ({ level: listOf(level), fold: listOf(fold), optional: listOf(optional), gaps: listOf(gapList) }),
    [level, fold, optional, gapList],
  )
  const rows = useMemo(() => rowsOf(groups, { toggled: lists.fold, optional: lists.optional }), [groups, lists])

  const lane = rows.find((row) => row.id === laneId)

  const gaps = useMemo(() => findGaps(drawn.map((log) => log[order])), [drawn, order])
  const [first = 0, last = 0] = [drawn[0]?.[order], drawn.at(-1)?.[order]]
  const isFolded = (gap: Gap): boolean => (idle !== 'show') !== lists.gaps.has(gapId(gap))
  const segments = useMemo(() => segmentsOf(first, last, gaps, isFolded), [first, last, gaps, idle, lists])
  const [window, setWindow] = useWindow(segments)

  const passing = useMemo(() => {
    const inLane = logsOfLane(lane)
    return logs.filter((log) => (lists.level.size === 0 || lists.level.has(log.entry.level)) && inLane(log))
  }, [logs, lists, lane])
  const listed = useMemo(
    () =>
      window === undefined ? passing : passing.filter((log) => log[order] >= window.from && log[order] <= window.to),
    [passing, window, order],
  )
  const matches = useMemo(() => (q === '' ? undefined : new Set(passing.filter(createMatcher(q)))), [passing, q])

  const select = (log: FlowLog | undefined): void => {
    set({ id: log?.entry.id })
    if (log === undefined || window === undefined) return
    const at = log[order]
    if (at >= window.from && at <= window.to) return
    const half = (window.to - window.from) / 2
    setWindow(windowBetween(segments, at - half, at + half))
  }

  return {
    ...{
      brief,
      order,
      utc,
      logs,
      drawn,
      passing,
      listed,
      groups,
      rows,
      gaps,
      isFolded,
      segments,
      window,
      matches,
      query: q,
      lane,
      lists,
    },
    relative: useMemo(() => relativeTimes(logs, order), [logs, order]),
    visits: useMemo(() => visitsOf(drawn, order), [drawn, order]),
    activeMs: activeMs(segmentsOf(first, last, gaps, () => true)),
    skew: useMemo(() => skewOfFlow(logs), [logs]),
    selected: useMemo(() => (id === undefined ? undefined : logs.find(({ entry }) => entry.id === id)), [logs, id]),
    setWindow,
    select,
    set,
    toggle: (name, value) => set({ [name]: listText(toggled(lists[name], value)) }),
  }
}

/** What names a gap in the address. */
export const gapId = (gap: Gap): string => Math.round(gap.from).toString(36)

/** Levels in the order in which they are counted: the worst first. */
export const LEVELS_DOWN = LEVELS.toReversed()

function logsOfLane(row: Row | undefined): (log: FlowLog) => boolean {
  if (row === undefined) return () => true
  // A lane may stand for several categories.
  const own = new Set(row.logs)
  return (log) => log.group === row.id || log.lane === row.id || own.has(log)
}

/** The window of the address, and one that is ahead of it while it still changes. */
function useWindow(segments: readonly Segment[]): readonly [TimeWindow | undefined, FlowView['setWindow']] {
  const [{ params }, go] = useAddress()
  const { from, to } = params
  const [ahead, setAhead] = useState<{ readonly window: TimeWindow | undefined }>()
  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => setAhead(undefined), [from, to])

  const kept = useMemo(() => {
    if (from === undefined && to === undefined) return undefined
    const whole = wholeOf(segments)
    return windowBetween(segments, timeOf(from ?? '', whole.to) ?? whole.from, timeOf(to ?? '', whole.to) ?? whole.to)
  }, [segments, from, to])

  const write = (window: TimeWindow | undefined, how: How): void =>
    go({ params: window === undefined ? NO_RANGE : { from: iso(window.from), to: iso(Math.ceil(window.to)) } }, how)
  return [
    ahead === undefined ? kept : ahead.window,
    (window, how) => {
      clearTimeout(timer.current)
      setAhead({ window })
      if (how === 'push') write(window, how)
      else timer.current = globalThis.setTimeout(() => write(window, 'replace'), REST_MS)
    },
  ]
}

const NO_RANGE = { from: undefined, to: undefined }
