/** Two torn edges along the sides of a folded stretch, as an SVG path. */
export function zigzag(x0: number, x1: number, height: number): string {
  const teeth = 'l4 7l-4 7'.repeat(Math.ceil(height / 14))
  const inset = Math.min(10, (x1 - x0) / 4)
  return `M${Math.round(x0 + inset)} 0${teeth}M${Math.round(x1 - inset - 4)} 0${teeth}`
}
