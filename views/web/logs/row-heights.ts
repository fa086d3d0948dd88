/** Where the rows of a list are, in pixels below its first row's top. */
export interface RowHeights {
  /** The top of a row; of the one after the last, the height of all. */
  readonly topOf: (index: number) => number
  /** The row at a place; the first for places above it, and the last for those below. */
  readonly indexAt: (px: number) => number
}

/** The places of so many rows that have the same height, but for a few: `extra` has the pixels more of these, by index. */
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

/** The indexes where a value differs from the one before, the first one included; equal values stand together. */
export function changesOf<T>(count: number, read: (index: number) => T): readonly number[] {
  const changes: number[] = []
  for (let from = 0; from < count; ) {
    changes.push(from)
    const value = read(from)
    from = firstIndex(count, (index) => read(index) !== value, from + 1)
  }
  return changes
}

/** The first index that `is`, where all after it are as well; `count` where there is none. */
function firstIndex(count: number, is: (index: number) => boolean, from = 0): number {
  let [low, high] = [from, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (is(middle)) high = middle
    else low = middle + 1
  }
  return low
}
