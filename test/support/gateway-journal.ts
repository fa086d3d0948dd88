import {
  type AppendBatch,
  AppendError,
  type Journal,
  type NewRecord,
  type UnconfirmedOutcome,
} from '../../shared/journal/journal.ts'

/** A publisher's journal with levers: it can fail, and it can hold appends until it is told to go on. */
export interface GatewayJournal extends Pick<Journal, 'append' | 'partitionCount'> {
  /** Every batch that became durable, in the order in which it did. */
  readonly batches: AppendBatch[]
  /** Every batch that was handed over, whatever became of it. */
  readonly attempts: AppendBatch[]
  /** Fails appends with this outcome until it is called with null; `partition` limits it to one. */
  fail(outcome: UnconfirmedOutcome | null, partition?: number): void
  /** Appends do not settle until `release`. */
  hold(): void
  release(): void
  /** From now on the topics have so many partitions, or their number cannot be read. */
  repartition(partitions: number | Error): void
}

export function createGatewayJournal(atFirst = 12): GatewayJournal {
  const batches: AppendBatch[] = []
  const attempts: AppendBatch[] = []
  let partitions: number | Error = atFirst
  let failing: { readonly outcome: UnconfirmedOutcome; readonly partition: number | undefined } | null = null
  let gate: PromiseWithResolvers<void> | null = null
  return {
    batches,
    attempts,
    partitionCount: async () => {
      if (partitions instanceof Error) throw partitions
      return partitions
    },
    repartition: (given) => {
      partitions = given
    },
    append: async (given) => {
      const batch = { ...given, records: given.records.map(withAllHeaders) }
      attempts.push(batch)
      await (gate?.promise ?? new Promise<void>((resolve) => setImmediate(resolve)))
      if (failing !== null && (failing.partition ?? batch.partition) === batch.partition)
        throw new AppendError('made to fail', failing.outcome)
      batches.push(batch)
    },
    fail: (outcome, partition) => {
      failing = outcome === null ? null : { outcome, partition }
    },
    hold: () => {
      gate = Promise.withResolvers()
    },
    release: () => {
      gate?.resolve()
      gate = null
    },
  }
}

const withAllHeaders = ({ commonHeaders, headers, ...record }: NewRecord): NewRecord => ({
  ...record,
  headers: { ...commonHeaders, ...headers },
})
