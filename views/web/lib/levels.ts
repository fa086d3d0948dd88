import { LEVELS, type Level, levelRank } from '../../../shared/contract/levels.ts'

export { LEVELS, type Level, levelRank }

/** Each level has a shape of its own group, so that colour is never all that tells it. */
export type Shape = 'ring' | 'circle' | 'triangle' | 'square' | 'diamond'

export interface LevelLook {
  /** The short word of a row. */
  readonly tag: string
  readonly shape: Shape
  /** Colour of text and marks. */
  readonly colour: string
  /** Colour of areas, such as a histogram's bars. */
  readonly fill: string
}

const look = (tag: string, shape: Shape): LevelLook => ({
  tag,
  shape,
  colour: `var(--level-${tag})`,
  fill: `var(--level-${tag}-fill)`,
})

/** How each level looks wherever it is shown. */
export const LEVEL_LOOKS: Readonly<Record<Level, LevelLook>> = {
  Trace: look('trace', 'ring'),
  Debug: look('debug', 'ring'),
  Information: look('info', 'circle'),
  Warning: look('warn', 'triangle'),
  Error: look('error', 'square'),
  Critical: look('crit', 'diamond'),
}

/** The outline of a shape around (0, 0) as an SVG path; `r` is half its width. All shapes of one `r` look equally large. */
export function shapePath(shape: Shape, r: number): string {
  switch (shape) {
    case 'ring':
    case 'circle':
      return `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`
    case 'triangle':
      return `M0 ${-r * 1.1}L${r * 1.15} ${r * 0.9}H${-r * 1.15}z`
    case 'square':
      return `M${-r * 0.9} ${-r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}z`
    case 'diamond':
      return `M0 ${-r * 1.3}L${r * 1.3} 0L0 ${r * 1.3}L${-r * 1.3} 0z`
  }
}
