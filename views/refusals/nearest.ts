import { editDistance } from '../../shared/edit-distance.ts'

/** Most slips, however long the text is: beyond, it is another word. */
const SLIPS_MAX = 6

/** The known text that a mistyped one most likely stands for; undefined where none is near. Case is a slip, but a small one. */
export function nearestOf<Known>(
  text: string,
  known: Iterable<Known>,
  textOf: (one: Known) => string,
): Known | undefined {
  const lower = text.toLowerCase()
  let best: Known | undefined
  let bestCost = Infinity
  // About one slip in four letters; two at least, so that letters swapped in a short word are recognised.
  let limit = Math.min(SLIPS_MAX, Math.max(2, Math.floor(text.length / 4)))
  for (const one of known) {
    const candidate = textOf(one)
    const slips = editDistance(lower, candidate.toLowerCase(), limit)
    const cost = candidate === text ? -1 : slips
    if (cost >= bestCost) continue
    best = one
    bestCost = cost
    limit = Math.min(limit, slips)
  }
  return best
}

/** How many known texts are looked at for one answer: beyond, nobody would wait for it. */
const COMPARISONS_MAX = 100_000

/** The same for the texts of one answer: each is looked for once, and no more is done than an answer may cost. */
export function createNearest<Known>(
  known: () => readonly Known[],
  textOf: (one: Known) => string,
): (text: string) => Known | undefined {
  const found = new Map<string, Known | undefined>()
  let all: readonly Known[] | undefined
  let left = COMPARISONS_MAX
  return (text) => {
    if (found.has(text)) return found.get(text)
    all ??= known()
    const some = all.slice(0, Math.max(0, left))
    left -= some.length
    const nearest = nearestOf(text, some, textOf)
    found.set(text, nearest)
    return nearest
  }
}
