import { visible } from '../lib/format.ts'
import { LEVEL_LOOKS, LEVELS, shapePath } from '../lib/levels.ts'
import type { Drawing } from './drawing.ts'
import { heightOf, type Row } from './rows.ts'
import type { Tick } from './ticks.ts'
import type { PlacedSegment, TimeScale } from './time-scale.ts'

/** Colours of a stand-alone drawing, as any CSS colour. `levels` are those of Trace to Critical. */
export interface Palette {
  readonly back: string
  readonly band: string
  readonly line: string
  readonly text: string
  readonly muted: string
  readonly levels: readonly string[]
}

export interface SvgInput {
  readonly title: string
  readonly subtitle: string
  readonly rows: readonly Row[]
  readonly drawing: Drawing
  readonly scale: TimeScale
  readonly ticks: readonly Tick[]
  readonly palette: Palette
  /** How long a folded stretch is, in words. */
  readonly foldLabel: (segment: PlacedSegment) => string
}

/** Half a mark's width. */
export const MARK_PX = 5

const GUTTER_PX = 220
const HEAD_PX = 84
const LABEL_MAX = 34

/** The drawing as an SVG file of its own: no style sheet, script, font or address outside of it. */
export function svgText(input: SvgInput): string {
  const { title, subtitle, rows, drawing, scale, ticks, palette } = input
  const width = GUTTER_PX + scale.width
  const height = HEAD_PX + heightOf(rows) + 12
  const text = (x: number, y: number, content: string, more = ''): string =>
    `<text x="${x}" y="${y}" ${more}>${escapeXml(content)}</text>`
  const path = (d: string, more: string): string => (d === '' ? '' : `<path d="${d}" ${more}/>`)
  const muted = `fill="${palette.muted}"`

  const bands = rows.map(
    ({ kind, top, height: tall }) =>
      `<rect x="0" y="${top}" width="${width}" height="${tall}" fill="${kind === 'group' ? palette.band : palette.back}"/>`,
  )
  const labels = rows.map(({ kind, label, count, top, height: tall }) => {
    const y = top + tall / 2 + 4
    const indent = kind === 'group' ? 12 : 26
    const unseen = count === 0
    const name = text(indent, y, shorten(label), kind === 'group' ? 'font-weight="600"' : unseen ? muted : '')
    return name + text(GUTTER_PX - 12, y, unseen ? 'not seen' : String(count), `text-anchor="end" ${muted}`)
  })
  const folds = scale.segments
    .filter(({ folded }) => folded)
    .map((segment) => {
      const middle = (segment.x0 + segment.x1) / 2
      return (
        path(zigzag(segment, heightOf(rows)), `fill="none" stroke="${palette.muted}" stroke-dasharray="3 2"`) +
        text(middle, -24, input.foldLabel(segment), `text-anchor="middle" ${muted}`)
      )
    })
  const grid = ticks.map(
    ({ x, label }) => path(`M${x} -18V${heightOf(rows)}`, `stroke="${palette.line}"`) + text(x + 4, -8, label, muted),
  )
  const marks = drawing.marks.map(({ x, y, rank, logs }) => {
    const colour = palette.levels[rank] ?? palette.text
    const level = LEVELS[rank] ?? 'Information'
    const { shape } = LEVEL_LOOKS[level]
    const fill = shape === 'ring' ? `fill="${palette.back}" stroke="${colour}" stroke-width="1.5"` : `fill="${colour}"`
    const count = logs.length > 1 ? text(x + 9, y + 4, String(logs.length), 'font-size="10"') : ''
    const says = logs.length > 1 ? `${logs.length} logs, at worst ${level}` : `${level}: ${logs[0]?.text ?? ''}`
    return `<path d="${shapePath(shape, MARK_PX)}" transform="translate(${x} ${y})" ${fill}><title>${escapeXml(says)}</title></path>${count}`
  })

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ` font-family="system-ui, sans-serif" font-size="12" fill="${palette.text}">`,
    `<title>${escapeXml(title)}</title><rect width="100%" height="100%" fill="${palette.back}"/>`,
    text(12, 24, title, 'font-size="15" font-weight="600"'),
    text(12, 42, subtitle, muted),
    `<g transform="translate(0 ${HEAD_PX})">${bands.join('')}${labels.join('')}`,
    `<g transform="translate(${GUTTER_PX} 0)">${grid.join('')}${folds.join('')}`,
    path(drawing.thread, `fill="none" stroke="${palette.muted}" stroke-opacity="0.5"`),
    path(drawing.spans, `fill="none" stroke="${palette.muted}" stroke-width="2" stroke-opacity="0.35"`),
    path(drawing.visits, `fill="none" stroke="${palette.levels[2]}" stroke-width="3" stroke-opacity="0.5"`),
    path(drawing.lasting, `fill="none" stroke="${palette.levels[2]}" stroke-width="10" stroke-opacity="0.35"`),
    `${marks.join('')}</g></g></svg>\n`,
  ].join('')
}

/** Two torn edges, drawn along the sides of a folded stretch. */
export function zigzag({ x0, x1 }: PlacedSegment, height: number): string {
  const edge = (x: number): string => {
    const teeth = Math.max(2, Math.ceil(height / 7))
    return `M${x} 0${Array.from({ length: teeth }, (_, index) => `l${index % 2 === 0 ? 4 : -4} ${(height / teeth).toFixed(2)}`).join('')}`
  }
  const inset = Math.min(10, (x1 - x0) / 4)
  return edge(Math.round(x0 + inset)) + edge(Math.round(x1 - inset - 4))
}

const shorten = (label: string): string => {
  const characters = [...label]
  return characters.length > LABEL_MAX ? `${characters.slice(0, LABEL_MAX - 1).join('')}…` : label
}

/** Text as XML may hold it: what is markup is escaped, what no XML may hold is made visible. */
export const escapeXml = (text: string): string =>
  visible(text)
    .toWellFormed()
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
