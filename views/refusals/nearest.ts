import { editDistance, type Room } from '../../shared/edit-distance.ts'

/** Most slips, however long the text is: beyond, it is another word. */
const SLIPS_MAX = 6

/** The known text that a mistyped one most likely stands for; undefined where none is near. Case is a slip, but a small one. */
export function nearestOf<Known>(
  text: string,
  known: Iterable<Known>,
  textOf: (one: Known) => string,
  room: Room = { cells: Infinity },
): Known | undefined {
  const lower = text.toLowerCase()
  let best: Known | undefined
  let bestCost = Infinity
  // About one slip in four letters; two at least, so that letters swapped in a short word are recognised.
  let limit = Math.min(SLIPS_MAX, Math.max(2, Math.floor(text.length / 4)))
  for (const one of known) {
    if (room.cells < 0) break
    room.cells -= 1
    const candidate = textOf(one)
    // Before it is made small: most are of another length.
    if (Math.abs(candidate.length - text.length) > limit) continue
    const slips = editDistance(lower, candidate.toLowerCase(), limit, room)
    const cost = candidate === text ? -1 : slips
    if (cost >= bestCost) continue
    best = one
    bestCost = cost
    limit = Math.min(limit, slips)
  }
  return best
}

/** How much is compared for one answer, some 20 ms: beyond, those that come later are not looked for. */
const CELLS_MAX = 5_000_000

/** The same for the texts of one answer: each is looked for once, and no more is done than an answer may cost. */
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
    const nearest = nearestOf(text, all, textOf, room)
    found.set(text, nearest)
    return nearest
  }
}
