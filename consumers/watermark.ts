/**
 * Which position of a partition may be committed while its records are settled in any order: the one after the longest run
 * of settled records from the first. Committing any other would skip a record that nobody stored.
 */
export interface Watermark {
  /** The record's document or dead letter was acknowledged. Throws for an offset that is not among those read. */
  settle(offset: number): void
  /** The position to commit, or null while the first record is not settled. */
  position(): number | null
}

/** `offsets` are those of the records read, ascending; they may have gaps where the journal has no record. */
export function createWatermark(offsets: readonly number[]): Watermark {
  const indexes = new Map(offsets.map((offset, index) => [offset, index]))
  const settled = new Array<boolean>(offsets.length).fill(false)
  let run = 0
  return {
    settle: (offset) => {
      const index = indexes.get(offset)
      if (index === undefined) throw new RangeError(`offset ${offset} is not among the records read`)
      settled[index] = true
      while (settled[run] === true) run += 1
    },
    position: () => {
      const last = run === 0 ? undefined : offsets[run - 1]
      return last === undefined ? null : last + 1
    },
  }
}
