/** The state of one partition's reading. */
export interface PartitionState {
  /** `topic/partition`. */
  readonly partition: string
  /** The reason why it is not read yet; null: it is. */
  readonly waitsFor: string | null
  /** Of `performance.now()`: when a broker last answered for it; where it is not read yet, since when it was to be. */
  readonly answeredAt: number
  /** Of `performance.now()`: when the brokers last said that none of them leads it; 0: never. */
  readonly unledAt: number
}

export interface StallVerdict {
  /** The reason why the member is not ready, in the same words as long as it lasts; null: it is. */
  readonly reason: string | null
  /** The partitions for which that lasts so long that somebody should be told; empty: none. */
  readonly alarm: string
  /** The reason to make the member anew; null: there is none. */
  readonly remake: string | null
}

/**
 * A member is made anew for a partition that was read and is not answered for any more, in case its own connections are what is wrong.
 * That is done once: a partition that the next member cannot begin to read would stop the others again and again, so it is only told of. So
 * is a partition that no broker leads, which no other member could read either.
 */
export function judgeStall(states: readonly PartitionState[], now: number, stallTimeoutMs: number): StallVerdict {
  const isOver = (since: number): boolean => now - since > stallTimeoutMs
  const waiting = states.filter(
    ({ waitsFor, answeredAt, unledAt }) => waitsFor !== null || (unledAt > answeredAt && isOver(answeredAt)),
  )
  const silent = states.find(
    ({ waitsFor, answeredAt, unledAt }) => waitsFor === null && isOver(Math.max(answeredAt, unledAt)),
  )
  return {
    reason: waiting.length === 0 ? null : sentenceOf(waiting),
    alarm: waiting
      .filter(({ answeredAt }) => isOver(answeredAt))
      .map(({ partition }) => partition)
      .join(' '),
    remake: silent ? `no broker has answered for ${silent.partition} for ${stallTimeoutMs} ms` : null,
  }
}

const NAMED_MAX = 3

function sentenceOf(waiting: readonly PartitionState[]): string {
  const named = waiting
    .slice(0, NAMED_MAX)
    .map(({ partition, waitsFor }) => `${partition} is not read: ${waitsFor ?? 'no broker leads it'}`)
  const more = waiting.length - named.length
  return [...named, ...(more > 0 ? [`${more} more partition(s) are not read`] : [])].join('; ')
}
