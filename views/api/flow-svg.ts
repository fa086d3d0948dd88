import { drawFlow } from '../flow-layout/drawing.ts'
import { readLogs } from '../flow-layout/flow-log.ts'
import { countText, plural, shortCount, visible } from '../flow-layout/format.ts'
import { findGaps, segmentsOf } from '../flow-layout/gaps.ts'
import { heightOf, type Row, rowsOf } from '../flow-layout/rows.ts'
import { markPaths, zigzag } from '../flow-layout/shapes.ts'
import { ticksOf } from '../flow-layout/ticks.ts'
import { createTimeScale, type TimeScale } from '../flow-layout/time-scale.ts'
import { durationText, timeText } from '../flow-layout/times.ts'
import { visitsOf } from '../flow-layout/visits.ts'
import type { EntityRef, Entry, FlowStep } from '../schemas/answers.ts'

/** The content of a drawing of a flow. */
interface FlowPicture {
  readonly correlationKey: string
  readonly entries: readonly Entry[]
  /** Whether there are more entries than these. */
  readonly more: boolean
  readonly steps: readonly FlowStep[]
  /** The Steps expected next, among those not yet seen. */
  readonly nextSteps: readonly EntityRef[]
  /** The time of drawing, in milliseconds since 1970. */
  readonly now: number
}

/** Pixels: width of the row names, width of the lanes, height of the head. */
const GUTTER_PX = 230
const PLOT_PX = 1_200
const HEAD_PX = 92

/** Maximum length of a row's name. */
const LABEL_MAX = 34
/** Maximum number of rows; a flow may touch thousands of Steps, and nobody reads that many. */
const ROWS_MAX = 500

/** The page's light theme, because saved drawings are printed and put into documents. */
const STYLE = `
text{font:12px system-ui,sans-serif;fill:#1b1a21}
.title{font-size:15px}.title,.group{font-weight:600}
.quiet{fill:#5c5a67}.idle{text-anchor:middle;font-size:11px}
.tick{font:500 11px ui-monospace,monospace;fill:#5c5a67}
.wait,.count{font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:3px}
.wait{fill:#5c5a67}.wait.next{fill:#5044c0}.count{font-weight:600}
.back{fill:#fff}.band{fill:#f2f2f5}.fold{fill:#f6f6f8}
path{fill:none}.lines{stroke:#e5e4ea}.ticks{stroke:#8c8a97;stroke-dasharray:1 3;stroke-opacity:.5}
.unseen{fill:none;stroke:#8c8a97;stroke-dasharray:3 4;stroke-opacity:.55}.unseen.next{stroke:#5044c0;stroke-opacity:1}
.zigzag{stroke:#8c8a97;stroke-opacity:.6}.thread{stroke:#8b8996;stroke-opacity:.45}
.spans{stroke:#8b8996;stroke-opacity:.45;stroke-width:2}
.stays{stroke:#7fb0e3;stroke-opacity:.55;stroke-width:3;stroke-linecap:round}
.lasting{stroke:#7fb0e3;stroke-opacity:.5;stroke-width:10}
.mark{fill:#1668b8;stroke:#fff;stroke-width:1.5}.level-0,.level-1{fill:#fff;stroke:#56607a}
.level-3{fill:#8a5500}.level-4{fill:#c0263a}.level-5{fill:#99126f}
`

/** Draws a flow as a self-contained SVG file with times in UTC: no external style sheet, script, font or address. */
export function flowSvg(picture: FlowPicture): string {
  const { correlationKey, steps } = picture
  const logs = readLogs(picture.entries, 'timestamp')
  const times = logs.map(({ at }) => at)
  const gaps = findGaps(times)
  const scale = createTimeScale(segmentsOf(times[0] ?? 0, times.at(-1) ?? 0, gaps), PLOT_PX)
  const all = rowsOf(logs, steps, new Set(), new Set())
  const rows = all.slice(0, ROWS_MAX)
  const [wide, high] = [GUTTER_PX + PLOT_PX, HEAD_PX + heightOf(rows)]
  const drawing = drawFlow(rows, visitsOf(logs), scale, new Set(logs))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}">
<title>${escapeXml(correlationKey)}</title><style>${STYLE}</style><rect width="100%" height="100%" class="back"/>
${textAt(12, 24, correlationKey, 'title')}${textAt(12, 42, summaryOf(picture, times, all.length), 'quiet')}
${rows.map(labelOf).join('')}
<g transform="translate(${GUTTER_PX} ${HEAD_PX})">
${gaps.map(({ from, to }) => textAt((scale.project(from) + scale.project(to)) / 2, -24, durationText(to - from), 'quiet idle')).join('')}
${backdropOf(rows, scale)}
${pathOf('thread', drawing.thread)}
${rows.map((row) => waitOf(row, picture.nextSteps)).join('')}
${pathOf('spans', drawing.spans)}${pathOf('stays', drawing.stays)}${pathOf('lasting', drawing.lasting)}
${drawing.marks.map(({ x, y, logs: { length } }) => (length > 1 ? textAt(x + 9, y + 3.5, shortCount(length), 'count') : '')).join('')}
${drawing.marks.map(({ x, y, rank }) => `<path class="mark level-${rank}" d="${PATHS[rank]}" transform="translate(${x} ${y})"/>`).join('')}
</g>
</svg>
`
}

const PATHS = markPaths()

function summaryOf({ entries, more, now }: FlowPicture, times: readonly number[], rows: number): string {
  const [first, last] = [times[0], times.at(-1)]
  const span = first === undefined || last === undefined ? '' : `, ${timeText(first, true)} to ${timeText(last, true)}`
  const lanes = rows > ROWS_MAX ? `; ${countText(ROWS_MAX)} of ${plural(rows, 'lane')}` : ''
  return `${more ? 'the first ' : ''}${plural(entries.length, 'log')}${span}${lanes}; drawn ${timeText(now, true)}`
}

function labelOf({ kind, label, all, top, height }: Row): string {
  const name = label.length > LABEL_MAX ? `${label.slice(0, LABEL_MAX)}…` : label
  const y = HEAD_PX + top + height / 2 + 4
  const isLane = kind === 'lane'
  return (
    textAt(isLane ? 28 : 12, y, name, isLane ? 'quiet' : 'group') +
    (all.length === 0 ? '' : textAt(GUTTER_PX - 50, y, String(all.length), 'quiet'))
  )
}

/** The layer behind the marks: groups, lines, times and folds. */
function backdropOf(rows: readonly Row[], scale: TimeScale): string {
  const height = heightOf(rows)
  const ticks = ticksOf(scale, true)
  const bands = rows.filter(({ kind }) => kind !== 'lane')
  const folds = scale.segments.filter(({ folded }) => folded)
  return [
    ...bands.map((row) => `<rect class="band" y="${row.top}" width="${PLOT_PX}" height="${row.height}"/>`),
    pathOf('lines', rows.map(({ top }) => `M0 ${top - 0.5}H${PLOT_PX}`).join('')),
    pathOf('ticks', ticks.map(({ x }) => `M${Math.round(x) + 0.5} 0V${height}`).join('')),
    ...ticks.map(({ x, label }) => textAt(x + 3, -9, label, 'tick')),
    ...folds.map(
      ({ x0, x1 }) =>
        `<rect class="fold" x="${x0}" width="${x1 - x0}" height="${height}"/>${pathOf('zigzag', zigzag(x0, x1, height))}`,
    ),
  ].join('')
}

/** The empty lane of a Step that has not been seen. */
function waitOf({ all, hint, top }: Row, nextSteps: readonly EntityRef[]): string {
  if (all.length > 0) return ''
  const isNext = nextSteps.some(({ identifier }) => identifier === hint)
  const look = isNext ? ' next' : ''
  return (
    `<rect class="unseen${look}" x="3.5" y="${top + 5.5}" width="${PLOT_PX - 7}" height="14" rx="6"/>` +
    textAt(14, top + 16, isNext ? 'next, not seen' : 'not seen', `wait${look}`)
  )
}

const pathOf = (look: string, d: string): string => `<path class="${look}" d="${d}"/>`

const textAt = (x: number, y: number, text: string, look: string): string =>
  `<text x="${Math.round(x)}" y="${y}" class="${look}">${escapeXml(text)}</text>`

/** Escapes text for XML. Characters that XML does not allow become visible replacements. */
export const escapeXml = (text: string): string =>
  visible(text)
    .toWellFormed()
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
