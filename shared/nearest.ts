/** Maximum typos in a text of any length: beyond that, it is another word. */
const SLIPS_MAX = 6

interface NearestOptions {
  /** The limit of comparison work; unlimited if omitted. */
  readonly room?: Room
  /** Whether the beginning of a known text matches it, as for a command's name. */
  readonly beginnings?: boolean
}

/** The known text that a mistyped one most likely stands for; undefined if none is near. Case is ignored, except to break ties. */
export function nearestOf<Known>(
  text: string,
  known: Iterable<Known>,
  textOf: (one: Known) => string,
  { room = { cells: Infinity }, beginnings = false }: NearestOptions = {},
): Known | undefined {
  const lower = text.toLowerCase()
  let best: Known | undefined
  let bestCost = Infinity
  // About one typo in four letters, and at least two, so that swapped letters in a short word are recognised.
  let limit = Math.min(SLIPS_MAX, Math.max(2, Math.floor(text.length / 4)))
  for (const one of known) {
    if (room.cells < 0) break
    room.cells -= 1
    const candidate = textOf(one)
    const isBegun = beginnings && candidate.startsWith(text)
    // Checked before lower-casing: most candidates differ in length.
    if (!isBegun && Math.abs(candidate.length - text.length) > limit) continue
    const slips = isBegun ? 1 : editDistance(lower, candidate.toLowerCase(), limit, room)
    const cost = candidate === text ? -1 : slips
    if (cost >= bestCost) continue
    best = one
    bestCost = cost
    limit = Math.min(limit, slips)
  }
  return best
}

/** The limit of comparison work for one answer, about 20 ms; later texts are not looked up. */
const CELLS_MAX = 5_000_000

/** `nearestOf` for the texts of one answer: each is looked up once, and all share one limit. */
export function createNearest<Known>(
  known: () => readonly Known[],
  textOf: (one: Known) => string,
  room: Room = { cells: CELLS_MAX },
): (text: string) => Known | undefined {
  const found = new Map<string, Known | undefined>()
  let all: readonly Known[] | undefined
  return (text) => {
    if (found.has(text)) return found.get(text)
    all ??= known()
    const nearest = nearestOf(text, all, textOf, { room })
    found.set(text, nearest)
    return nearest
  }
}

/** The cells of comparison that are left, a few nanoseconds each; comparisons subtract theirs. */
interface Room {
  cells: number
}

/** The cost of a comparison before its first cell. */
const CELLS_BEFORE = 20

/**
 * The number of letters to insert, delete or replace to turn one text into the other (Levenshtein); Infinity if it exceeds `limit`, or if
 * there is not enough room to find out. The work grows with length times limit, not with the square of the length.
 */
export function editDistance(from: string, to: string, limit: number, room: Room = { cells: Infinity }): number {
  room.cells -= CELLS_BEFORE
  if (Math.abs(from.length - to.length) > limit) return Infinity
  const far = limit + 1
  let previous = new Int32Array(to.length + 2).fill(far)
  let current = previous.slice()
  for (let column = 0; column < far && column <= to.length; column += 1) previous[column] = column
  room.cells -= to.length
  for (let row = 1; row <= from.length; row += 1) {
    // Cells further from the diagonal than the limit exceed it, so only those near it are computed.
    const first = Math.max(1, row - limit)
    const last = Math.min(to.length, row + limit)
    let left = first === 1 ? Math.min(row, far) : far
    let least = left
    current[first - 1] = left
    current[last + 1] = far
    const letter = from.charCodeAt(row - 1)
    for (let column = first; column <= last; column += 1) {
      const replaced = (previous[column - 1] as number) + (letter === to.charCodeAt(column - 1) ? 0 : 1)
      left = Math.min(replaced, (previous[column] as number) + 1, left + 1)
      current[column] = left
      least = Math.min(least, left)
    }
    room.cells -= last - first + 1
    if (least > limit || room.cells < 0) return Infinity
    const done = current
    current = previous
    previous = done
  }
  const distance = previous[to.length] as number
  return distance > limit ? Infinity : distance
}
