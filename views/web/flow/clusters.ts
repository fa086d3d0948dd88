/** A log's place in its lane. */
export interface Mark {
  readonly x: number
  /** Severity, 0 to 5. */
  readonly rank: number
}

/** Marks of a lane that are drawn as one: those from `start` up to, not including, `end`. */
export interface Cluster {
  readonly x: number
  readonly rank: number
  readonly start: number
  readonly end: number
}

/** Marks closer than this are drawn as one. */
export const CLUSTER_PX = 6

/** Half a mark, and what the count beside a cluster takes. */
const HALF_PX = 6
const LABEL_PX = 3
const DIGIT_PX = 6

/**
 * Gathers marks (ascending by x) so that no two drawn ones are closer than `gapPx` and none stands on the count beside another.
 * A cluster is at the place of its first mark and has the level of its worst.
 */
export function clusterMarks(marks: readonly Mark[], gapPx = CLUSTER_PX): readonly Cluster[] {
  const clusters: Cluster[] = []
  let current: Cluster | undefined
  marks.forEach(({ x, rank }, index) => {
    if (current !== undefined && x - current.x < Math.max(gapPx, reachOf(current))) {
      current = { ...current, rank: Math.max(current.rank, rank), end: index + 1 }
      clusters[clusters.length - 1] = current
    } else {
      current = { x, rank, start: index, end: index + 1 }
      clusters.push(current)
    }
  })
  return clusters
}

/** How far right of its place the next mark may stand. */
function reachOf({ start, end }: Cluster): number {
  const count = end - start
  return count === 1 ? 0 : HALF_PX + LABEL_PX + DIGIT_PX * String(count).length + HALF_PX
}
