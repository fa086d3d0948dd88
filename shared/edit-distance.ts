/**
 * How many letters have to be put in, left out or replaced to come from one text to the other (Levenshtein); Infinity where it is
 * more than `limit`. The work grows with the length and the limit, not with the square of the length.
 */
export function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return Infinity
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    // What lies further from the diagonal than the limit costs more than it.
    const first = Math.max(1, row - limit)
    const last = Math.min(to.length, row + limit)
    const current = Array<number>(to.length + 1).fill(Infinity)
    if (first === 1) current[0] = row
    let least = current[0] ?? Infinity
    for (let column = first; column <= last; column += 1) {
      const replaced = (previous[column - 1] ?? Infinity) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const cost = Math.min((previous[column] ?? Infinity) + 1, (current[column - 1] ?? Infinity) + 1, replaced)
      current[column] = cost
      least = Math.min(least, cost)
    }
    if (least > limit) return Infinity
    previous = current
  }
  const distance = previous[to.length] ?? Infinity
  return distance > limit ? Infinity : distance
}
