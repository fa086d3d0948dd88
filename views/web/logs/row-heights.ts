/** The positions of a list's rows, in pixels below the top of its first row. */
export interface RowHeights {
  /** The top of a row; for the index after the last, the total height. */
  readonly topOf: (index: number) => number
  /** The row at a position; the first above all rows, and the last below them. */
  readonly indexAt: (px: number) => number
}

/** The positions of `count` rows of equal height, except those in `extra`, which maps an index to its additional pixels. */
export function rowHeights(count: number, height: number, extra: ReadonlyMap<number, number>): RowHeights {
  const higher = [...extra].sort(([a], [b]) => a - b)
  const topOf = (index: number): number => {
    let top = index * height
    for (const [at, px] of higher) {
      if (at >= index) break
      top += px
    }
    return top
  }
  return {
    topOf,
    indexAt: (px) => Math.max(0, firstIndex(count, (index) => topOf(index) > px) - 1),
  }
}

/** The indexes where a value differs from the previous one, including the first; equal values are adjacent. */
export function changesOf<T>(count: number, read: (index: number) => T): readonly number[] {
  const changes: number[] = []
  for (let from = 0; from < count; ) {
    changes.push(from)
    const value = read(from)
    from = firstIndex(count, (index) => read(index) !== value, from + 1)
  }
  return changes
}

/** Binary search for the first index that satisfies `is`, as all later ones do; `count` if there is none. */
function firstIndex(count: number, is: (index: number) => boolean, from = 0): number {
  let [low, high] = [from, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (is(middle)) high = middle
    else low = middle + 1
  }
  return low
}
