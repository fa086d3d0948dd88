/** A log's place in its lane. */
export interface Place {
  readonly x: number
  /** Severity, 0 to 5. */
  readonly rank: number
}

/** Logs of a lane that are drawn as one: those from `start` up to, not including, `end`. */
export interface Cluster extends Place {
  readonly start: number
  readonly end: number
}

/** The width of a mark and the count beside it, up to the next mark. */
const MARKS_PX = 15
const DIGIT_PX = 6

/**
 * Gathers places (ascending by x) so that no two marks are closer than `gapPx` and none stands on the count beside another. A
 * cluster is at the place of its first log and has the level of its worst.
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
