import { editDistance, type Room } from './edit-distance.ts'

/** Most slips, however long the text is: beyond, it is another word. */
const SLIPS_MAX = 6

export interface NearestOptions {
  /** The most that may be compared; without it there is no bound. */
  readonly room?: Room
  /** Whether the beginning of a known text stands for it, as that of a command does. */
  readonly beginnings?: boolean
}

/** The known text that a mistyped one most likely stands for; undefined where none is near. Case makes no difference, but for ties. */
export function nearestOf<Known>(
  text: string,
  known: Iterable<Known>,
  textOf: (one: Known) => string,
  { room = { cells: Infinity }, beginnings = false }: NearestOptions = {},
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
    const isBegun = beginnings && candidate.startsWith(text)
    // Before it is made small: most are of another length.
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

/** The most that is compared for one answer, some 20 ms; texts that come later are not looked for. */
const CELLS_MAX = 5_000_000

/** `nearestOf` for the texts of one answer: each is looked for once, and all together have one bound. */
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
