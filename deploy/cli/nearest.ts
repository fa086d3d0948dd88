/** The candidate that a mistyped word most likely stands for, or undefined where none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  // About one slip in three letters; two at least, so that letters swapped in a short word are recognised.
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = Math.min(editDistance(word, candidate), candidate.startsWith(word) ? 1 : Infinity)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** How many letters have to be put in, left out or replaced to come from one word to the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, replaced))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
