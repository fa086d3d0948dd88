import { clusterMarks } from './clusters.ts'
import type { FlowLog, TimeOrder } from './flow-log.ts'
import type { Visit } from './lanes.ts'
import type { Row } from './rows.ts'
import type { TimeScale } from './time-scale.ts'

/** A shape of the drawing: one log or several. */
export interface DrawnMark {
  readonly x: number
  readonly y: number
  readonly row: Row
  /** The worst severity, 0 to 5. */
  readonly rank: number
  readonly logs: readonly FlowLog[]
}

/** What is drawn over the rows; all in pixels. `spans`, `visits`, `lasting` and `thread` are SVG paths. */
export interface Drawing {
  readonly marks: readonly DrawnMark[]
  /** The mark that shows a log. */
  readonly markOf: ReadonlyMap<FlowLog, DrawnMark>
  /** From the first to the last log of each group. */
  readonly spans: string
  /** Visits to Steps. */
  readonly visits: string
  /** What a log says took time. */
  readonly lasting: string
  /** The marks joined in order of time; empty where there are too many to follow. */
  readonly thread: string
}

/** A thread through more logs than this is a tangle. */
export const THREAD_MAX = 200

/** Marks of a drawing: beyond it those further apart are gathered as well, so that the page stays quick. */
export const MARKS_MAX = 2_400

export interface DrawingInput {
  readonly rows: readonly Row[]
  readonly visits: readonly Visit[]
  readonly scale: TimeScale
  readonly order: TimeOrder
  /** Whether a log is to be drawn. */
  readonly shown: (log: FlowLog) => boolean
}

export function drawFlow(input: DrawingInput): Drawing {
  const marks = drawMarks(input)
  const markOf = new Map(marks.flatMap((mark) => mark.logs.map((log) => [log, mark] as const)))
  return { marks, markOf, ...drawBars(input), thread: drawThread(markOf, input.order) }
}

function drawMarks({ rows, scale, order, shown }: DrawingInput): readonly DrawnMark[] {
  const placed = rows.map((row) => {
    const logs = row.logs.filter(shown)
    return { row, logs, marks: logs.map((log) => ({ x: scale.project(log[order]), rank: log.rank })) }
  })
  for (let gapPx = 6; ; gapPx *= 1.5) {
    const clusters = placed.map(({ marks }) => clusterMarks(marks, gapPx))
    const count = clusters.reduce((total, { length }) => total + length, 0)
    if (count > MARKS_MAX && gapPx < scale.width) continue
    return placed.flatMap(({ row, logs }, index) =>
      (clusters[index] ?? []).map(({ x, rank, start, end }) => ({
        x: round(x),
        y: middleOf(row),
        row,
        rank,
        logs: logs.slice(start, end),
      })),
    )
  }
}

function drawBars({ rows, visits, scale, order, shown }: DrawingInput): Pick<Drawing, 'spans' | 'visits' | 'lasting'> {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const bar = (row: Row, from: number, to: number): string => {
    const x0 = scale.project(from)
    const x1 = scale.project(to)
    return x1 - x0 < 1 ? '' : `M${round(x0)} ${middleOf(row)}H${round(x1)}`
  }
  const spans = rows.map((row) => {
    const { logs } = row.group
    return row.kind === 'lane' ? '' : bar(row, logs[0]?.[order] ?? 0, logs.at(-1)?.[order] ?? 0)
  })
  const stays = visits.map(({ lane, from, to }) => {
    const row = byId.get(lane)
    return row === undefined ? '' : bar(row, from, to)
  })
  const lasting = rows.flatMap((row) =>
    row.logs.filter(shown).map((log) => {
      const end = log[order]
      return log.duration === undefined ? '' : bar(row, end - log.duration, end)
    }),
  )
  return { spans: spans.join(''), visits: stays.join(''), lasting: lasting.join('') }
}

/** Through the marks in order of time: level out of one, level into the next. */
function drawThread(markOf: ReadonlyMap<FlowLog, DrawnMark>, order: TimeOrder): string {
  if (markOf.size > THREAD_MAX) return ''
  const logs = [...markOf.keys()].sort((a, b) => a[order] - b[order] || a.received - b.received)
  let last: DrawnMark | undefined
  return logs
    .map((log) => {
      const mark = markOf.get(log)
      const from = last
      last = mark
      if (mark === undefined || mark === from) return ''
      if (from === undefined) return `M${mark.x} ${mark.y}`
      const half = round((from.x + mark.x) / 2)
      return from.y === mark.y ? `H${mark.x}` : `C${half} ${from.y} ${half} ${mark.y} ${mark.x} ${mark.y}`
    })
    .join('')
}

export const middleOf = ({ top, height }: Row): number => top + height / 2

const round = (value: number): number => Math.round(value * 10) / 10
