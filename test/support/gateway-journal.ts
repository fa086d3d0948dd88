import {
  type AppendBatch,
  AppendError,
  type Journal,
  type NewRecord,
  type UnconfirmedOutcome,
} from '../../shared/journal/journal.ts'

/** A publisher's journal under test control: it can fail, and hold appends until they are released. */
export interface GatewayJournal extends Pick<Journal, 'append' | 'partitionCount'> {
  /** Every batch that became durable, in that order. */
  readonly batches: AppendBatch[]
  /** The records of these batches. */
  readonly records: readonly NewRecord[]
  /** Every attempted batch, whatever its outcome. */
  readonly attempts: AppendBatch[]
  /** Fails appends with this outcome until called with null; `partition` limits it to one. */
  fail(outcome: UnconfirmedOutcome | null, partition?: number): void
  /** Appends do not settle until `release`. */
  hold(): void
  release(): void
  /** Sets the topics' number of partitions, or the error on reading it. */
  repartition(partitions: number | Error): void
}

export function createGatewayJournal(atFirst = 12): GatewayJournal {
  const batches: AppendBatch[] = []
  const records: NewRecord[] = []
  const attempts: AppendBatch[] = []
  let partitions: number | Error = atFirst
  let failing: { readonly outcome: UnconfirmedOutcome; readonly partition: number | undefined } | null = null
  let gate: PromiseWithResolvers<void> | null = null
  return {
    batches,
    records,
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
      for (const record of batch.records) records.push(record)
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
