/**
 * How long the oldest record that a projection has not stored has been waiting. What a batch at hand says counts; where there is
 * none, a position that does not move tells when the waiting was first seen.
 */
export interface Lag {
  /** The oldest record at hand that is not stored: its position, and when it was appended (milliseconds since 1970). */
  reading(place: string, position: number, appendedAt: number): void
  /** Nothing of the partition is at hand. */
  idle(place: string): void
  /** What the journal says of a partition: the group's position, how many records come after it, and the time. */
  observed(place: string, position: number, behind: number, now: number): void
  /** The longest wait in seconds; 0 where nothing waits. */
  seconds(now: number): number
}

interface Wait {
  readonly position: number
  readonly since: number
}

/** A place is a topic and partition as one text. */
export function createLag(): Lag {
  const atHand = new Map<string, Wait>()
  const seen = new Map<string, Wait>()
  return {
    reading: (place, position, appendedAt) => void atHand.set(place, { position, since: appendedAt }),
    idle: (place) => void atHand.delete(place),
    observed: (place, position, behind, now) => {
      const here = atHand.get(place)
      // Another member of the group has gone past what was at hand here.
      if (here !== undefined && position > here.position) atHand.delete(place)
      if (behind === 0) seen.delete(place)
      else if (seen.get(place)?.position !== position) seen.set(place, { position, since: now })
    },
    seconds: (now) => {
      const waits = [...new Map([...seen, ...atHand]).values()]
      return waits.reduce((most, { since }) => Math.max(most, (now - since) / 1_000), 0)
    },
  }
}
