import type { FlowLog } from './flow-log.ts'
import type { Row } from './rows.ts'
import type { TimeScale } from './time-scale.ts'
import type { Visit } from './visits.ts'

/** A shape in the drawing, for one log or several. */
export interface DrawnMark {
  readonly x: number
  readonly y: number
  readonly row: Row
  /** The worst severity, 0 to 5. */
  readonly rank: number
  readonly logs: readonly FlowLog[]
}

/** The drawing over the rows, in pixels. `spans`, `stays`, `lasting` and `thread` are SVG paths. */
export interface Drawing {
  readonly marks: readonly DrawnMark[]
  /** The mark that shows a log. */
  readonly markOf: ReadonlyMap<FlowLog, DrawnMark>
  /** From the first to the last log of each group. */
  readonly spans: string
  /** From the first to the last log of each visit to a Step. */
  readonly stays: string
  /** Durations that logs report. */
  readonly lasting: string
  /** The marks joined in order of time; empty when there are too many to follow. */
  readonly thread: string
}

/** A thread through more logs than this is a tangle. */
export const THREAD_MAX = 200

/** Maximum number of marks; above it, the clustering distance grows so that the page stays fast. */
export const MARKS_MAX = 2_400

/** Draws the rows' logs that are in `shown`. */
export function drawFlow(
  rows: readonly Row[],
  visits: readonly Visit[],
  scale: TimeScale,
  shown: ReadonlySet<FlowLog>,
): Drawing {
  const marks = drawMarks(rows, scale, shown)
  const markOf = new Map(marks.flatMap((mark) => mark.logs.map((log) => [log, mark] as const)))
  const bar = (row: Row | undefined, from: number, to: number): string => {
    const [x0, x1] = [round(scale.project(from)), round(scale.project(to))]
    return row === undefined || x1 - x0 < 1 ? '' : `M${x0} ${middleOf(row)}H${x1}`
  }
  const groups = rows.filter(({ kind }) => kind !== 'lane')
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  const lasting = marks.flatMap(({ logs, row }) =>
    logs.map(({ at, duration }) => (duration === undefined ? '' : bar(row, at - duration, at))),
  )
  return {
    marks,
    markOf,
    spans: groups.map((row) => bar(row, row.all[0]?.at ?? 0, row.all.at(-1)?.at ?? 0)).join(''),
    stays: visits.map(({ lane, from, to }) => bar(rowOf.get(lane), from, to)).join(''),
    lasting: lasting.join(''),
    thread: markOf.size > THREAD_MAX ? '' : threadOf(markOf),
  }
}

function drawMarks(rows: readonly Row[], scale: TimeScale, shown: ReadonlySet<FlowLog>): readonly DrawnMark[] {
  const placed = rows.map((row) => {
    const logs = row.logs.filter((log) => shown.has(log))
    return { row, logs, places: logs.map(({ at, rank }) => ({ x: round(scale.project(at)), rank })) }
  })
  const marksOf = (gapPx: number): readonly DrawnMark[] =>
    placed.flatMap(({ row, logs, places }) =>
      clusterMarks(places, gapPx).map(({ x, rank, start, end }) => ({
        x,
        y: middleOf(row),
        row,
        rank,
        logs: logs.slice(start, end),
      })),
    )
  let gapPx = CLUSTER_PX
  let marks = marksOf(gapPx)
  while (marks.length > MARKS_MAX && gapPx < scale.width) {
    gapPx *= 1.5
    marks = marksOf(gapPx)
  }
  return marks
}

/** Marks closer than this are drawn as one. */
const CLUSTER_PX = 6

/** A log's place in its lane. */
type Place = Pick<DrawnMark, 'x' | 'rank'>

/** Logs of a lane that are drawn as one: indexes `start` (inclusive) to `end` (exclusive). */
interface Cluster extends Place {
  readonly start: number
  readonly end: number
}

/** The width of a mark, with the room around it, and of one character of the count beside it. */
const MARKS_PX = 16
const CHARACTER_PX = 7
/** From a thousand on, a count is short: 12.3k. */
const SHORT_LENGTH = 5

/**
 * Merges places (ascending by x) so that no two marks are closer than `gapPx` and no mark covers another's count. A cluster has the
 * position of its first log and the level of its worst.
 */
export function clusterMarks(places: readonly Place[], gapPx: number): readonly Cluster[] {
  const clusters: Cluster[] = []
  places.forEach(({ x, rank }, index) => {
    const last = clusters.at(-1)
    const count = last === undefined ? 0 : last.end - last.start
    const length = count < 1_000 ? String(count).length : SHORT_LENGTH
    const room = count > 1 ? MARKS_PX + CHARACTER_PX * length : 0
    if (last === undefined || x - last.x >= Math.max(gapPx, room))
      clusters.push({ x, rank, start: index, end: index + 1 })
    else clusters[clusters.length - 1] = { ...last, rank: Math.max(last.rank, rank), end: index + 1 }
  })
  return clusters
}

/** Joins the marks in order of time; curves leave and enter each mark horizontally. */
function threadOf(markOf: ReadonlyMap<FlowLog, DrawnMark>): string {
  let from: DrawnMark | undefined
  let path = ''
  for (const [, mark] of [...markOf].sort(([a], [b]) => a.sinceStart - b.sinceStart)) {
    const half = round(((from?.x ?? 0) + mark.x) / 2)
    if (from === undefined) path = `M${mark.x} ${mark.y}`
    else if (from !== mark) path += `C${half} ${from.y} ${half} ${mark.y} ${mark.x} ${mark.y}`
    from = mark
  }
  return path
}

const middleOf = ({ top, height }: Row): number => top + height / 2

const round = (value: number): number => Math.round(value * 10) / 10
