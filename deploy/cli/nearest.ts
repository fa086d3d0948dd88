import { editDistance } from '../../shared/edit-distance.ts'

/** The candidate that a mistyped word most likely stands for, or undefined where none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  // About one slip in three letters; two at least, so that letters swapped in a short word are recognised.
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = Math.min(
      editDistance(word, candidate, bestDistance - 1),
      candidate.startsWith(word) ? 1 : Infinity,
    )
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}
