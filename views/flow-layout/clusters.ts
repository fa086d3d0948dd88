/** A log's place in its lane. */
export interface Place {
  readonly x: number
  /** Severity, 0 to 5. */
  readonly rank: number
}

/** Logs of a lane that are drawn as one: indexes `start` (inclusive) to `end` (exclusive). */
export interface Cluster extends Place {
  readonly start: number
  readonly end: number
}

/** The width of a mark and of one digit of the count beside it. */
const MARKS_PX = 15
const DIGIT_PX = 6

/**
 * Merges places (ascending by x) so that no two marks are closer than `gapPx` and no mark covers another's count. A cluster has the
 * position of its first log and the level of its worst.
 */
export function clusterMarks(places: readonly Place[], gapPx: number): readonly Cluster[] {
  const clusters: Cluster[] = []
  places.forEach(({ x, rank }, index) => {
    const last = clusters.at(-1)
    const count = last === undefined ? 0 : last.end - last.start
    const room = count > 1 ? MARKS_PX + DIGIT_PX * String(count).length : 0
    if (last === undefined || x - last.x >= Math.max(gapPx, room))
      clusters.push({ x, rank, start: index, end: index + 1 })
    else clusters[clusters.length - 1] = { ...last, rank: Math.max(last.rank, rank), end: index + 1 }
  })
  return clusters
}
