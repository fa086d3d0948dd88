import { visible } from '../lib/format.ts'
import { heightOf, type Row } from './rows.ts'

export interface SvgInput {
  readonly title: string
  readonly subtitle: string
  readonly rows: readonly Row[]
  /** SVG elements as XML: what is drawn above the rows and what is drawn on them. */
  readonly axis: string
  readonly plot: string
  /** What is written over folded stretches, by the middle of each in pixels. */
  readonly idle: readonly (readonly [x: number, text: string])[]
  /** The width of the plot in pixels. */
  readonly width: number
  /** CSS rules of the elements' classes. */
  readonly style: string
}

const GUTTER_PX = 230
const HEAD_PX = 92
const LABEL_MAX = 34

/** The drawing as an SVG file of its own: no style sheet, script, font or address outside of it. */
export function svgText({ title, subtitle, rows, axis, plot, idle, width, style }: SvgInput): string {
  const [wide, high] = [GUTTER_PX + width, HEAD_PX + heightOf(rows)]
  const labels = rows.map(({ kind, label, all, top, height }) => {
    const name = label.length > LABEL_MAX ? `${label.slice(0, LABEL_MAX)}…` : label
    const y = HEAD_PX + top + height / 2 + 4
    return (
      textAt(kind === 'lane' ? 28 : 12, y, name, kind === 'lane' ? 'flow-file-lane' : 'flow-file-group') +
      textAt(GUTTER_PX - 50, y, all.length === 0 ? '' : String(all.length), 'flow-file-lane')
    )
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" class="flow-file">
<title>${escapeXml(title)}</title><style>${escapeXml(style)}</style><rect width="100%" height="100%" class="flow-file-back"/>
${textAt(12, 24, title, 'flow-file-title')}${textAt(12, 42, subtitle, 'flow-file-lane')}
${labels.join('')}${idle.map(([x, text]) => textAt(GUTTER_PX + x, HEAD_PX - 24, text, 'flow-file-idle')).join('')}
<g transform="translate(${GUTTER_PX} ${HEAD_PX - 22})">${axis}</g>
<g transform="translate(${GUTTER_PX} ${HEAD_PX})">${plot}</g>
</svg>
`
}

const textAt = (x: number, y: number, text: string, look: string): string =>
  `<text x="${x}" y="${y}" class="${look}">${escapeXml(text)}</text>`

/** Text as XML may hold it: what is markup is escaped, what no XML may hold is made visible. */
export const escapeXml = (text: string): string =>
  visible(text)
    .toWellFormed()
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** Two torn edges, drawn along the sides of a folded stretch. */
export function zigzag(x0: number, x1: number, height: number): string {
  const teeth = 'l4 7l-4 7'.repeat(Math.ceil(height / 14))
  const inset = Math.min(10, (x1 - x0) / 4)
  return `M${Math.round(x0 + inset)} 0${teeth}M${Math.round(x1 - inset - 4)} 0${teeth}`
}
