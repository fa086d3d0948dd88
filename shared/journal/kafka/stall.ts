/** An answer of the brokers that a partition cannot be read: none leads it, or its leader cannot. Any other connection would get the same. */
interface Refusal {
  /** `performance.now()`. */
  readonly at: number
  readonly reason: string
}

/** The state of one partition's reading. */
export interface PartitionState {
  readonly topic: string
  readonly partition: number
  /** The reason why it is not read, or not yet, though brokers answer; null if it is read. */
  readonly obstacle: string | null
  /** When a broker last answered for it, or, if it is not read yet, when reading was to begin (`performance.now()`). */
  readonly answeredAt: number
  /** The last such answer; null: none. */
  readonly refusal: Refusal | null
}

interface StallVerdict {
  /** The reason why the member is not ready, in the same words as long as the reason lasts; null if it is ready. */
  readonly reason: string | null
  /** The partitions that have been stuck long enough to warn about; empty if there are none. */
  readonly alarm: string
  /** The reason why the member has to be replaced; null if it need not be. */
  readonly remake: string | null
}

/**
 * A member is replaced for a partition that was read and is no longer answered for, in case its own connections are at fault. This is done
 * once: a partition that the next member cannot begin to read would stop the others again and again, so it is only reported. So is a
 * partition without a leader, or one that its leader cannot read, as no other member could read it either.
 */
export function judgeStall(states: readonly PartitionState[], now: number, stallTimeoutMs: number): StallVerdict {
  const isOver = (since: number): boolean => now - since > stallTimeoutMs
  const waiting = states.filter(
    (state) => state.obstacle !== null || (toldAt(state) > state.answeredAt && isOver(state.answeredAt)),
  )
  const silent = states.find((state) => state.obstacle === null && isOver(Math.max(state.answeredAt, toldAt(state))))
  return {
    reason: waiting.length === 0 ? null : sentenceOf(waiting),
    alarm: waiting
      .filter(({ answeredAt }) => isOver(answeredAt))
      .map(nameOf)
      .join(' '),
    remake: silent ? `no broker has answered for ${nameOf(silent)} for ${stallTimeoutMs} ms` : null,
  }
}

/** When the brokers last said why the partition is not read. */
const toldAt = ({ refusal }: PartitionState): number => refusal?.at ?? 0

const nameOf = ({ topic, partition }: PartitionState): string => `${topic}/${partition}`

const NAMED_MAX = 3

function sentenceOf(waiting: readonly PartitionState[]): string {
  const named = waiting
    .slice(0, NAMED_MAX)
    .map((state) => `${nameOf(state)} is not read: ${state.obstacle ?? state.refusal?.reason}`)
  const more = waiting.length - named.length
  return [...named, ...(more > 0 ? [`${more} more partition(s) are not read`] : [])].join('; ')
}
