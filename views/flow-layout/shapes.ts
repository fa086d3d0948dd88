/** Levels differ in shape, so that colour is never the only distinction. */
export type Shape = 'ring' | 'circle' | 'triangle' | 'square' | 'diamond'

/** The shape of each level, by its severity. */
export const SHAPES = ['ring', 'ring', 'circle', 'triangle', 'square', 'diamond'] as const

/** The outlines of a flow's marks by severity; a ring is smaller because its stroke is drawn around it. */
export const markPaths = (): readonly string[] => SHAPES.map((shape) => shapePath(shape, shape === 'ring' ? 4 : 5))

/** The outline of a shape around (0, 0) as an SVG path; `r` is half its width. Shapes with the same `r` look equally large. */
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

/** Two torn edges along the sides of a folded stretch, as an SVG path. */
export function zigzag(x0: number, x1: number, height: number): string {
  const teeth = 'l4 7l-4 7'.repeat(Math.ceil(height / 14))
  const inset = Math.min(10, (x1 - x0) / 4)
  return `M${Math.round(x0 + inset)} 0${teeth}M${Math.round(x1 - inset - 4)} 0${teeth}`
}
