import { AppendError, type Journal, type Subscription } from '../../shared/journal/journal.ts'
import { eventually } from './eventually.ts'
import { createLedger, type Ledger, type LedgerResult } from './ledger.ts'

/** Writers that never rest and one member of a group that reads, while something happens to the brokers. */
export interface Traffic {
  readonly ledger: Ledger
  /** Marks that the group was handed, repeats included. */
  readonly read: readonly string[]
  /** Errors of appends by outcome, and the longest time that one took in milliseconds. */
  failures(): { readonly not_written: number; readonly unknown: number; readonly longestMs: number }
  /** Stops the writers and compares what was acknowledged with what the topic holds. */
  settle(): Promise<LedgerResult>
  subscription: Subscription
}

const RECORDS = 20
/** How long what was acknowledged may take to be seen. */
const SETTLE_MS = 60_000

export async function startTraffic(journal: Journal, topic: string, group: string): Promise<Traffic> {
  const ledger = createLedger()
  const read: string[] = []
  const failed = { not_written: 0, unknown: 0, longestMs: 0 }
  let running = true
  let count = 0

  const write = async (partition: number): Promise<void> => {
    while (running) {
      const marks = Array.from({ length: RECORDS }, () => `${partition}-${count++}`)
      for (const mark of marks) ledger.sent(mark)
      const startedAt = performance.now()
      try {
        const records = marks.map((value) => ({ key: null, value, headers: { ce_id: value } }))
        await journal.append({ topic, partition, records })
        for (const mark of marks) ledger.answered(mark)
      } catch (error) {
        if (!(error instanceof AppendError)) throw error
        failed[error.outcome]++
      }
      failed.longestMs = Math.max(failed.longestMs, performance.now() - startedAt)
    }
  }
  const partitions = await journal.partitionCount(topic)
  const writers = Promise.all(Array.from({ length: partitions }, (_, partition) => write(partition)))
  const subscription = await journal.subscribe({ group, topics: [topic], recordsMax: 500 }, async (batch) => {
    read.push(...batch.records.map(({ value }) => String(value)))
    await batch.commit((batch.records.at(-1)?.offset ?? 0) + 1)
  })
  return {
    ledger,
    read,
    subscription,
    failures: () => failed,
    settle: async () => {
      running = false
      await writers
      let result: LedgerResult | undefined
      // A leader that was frozen goes on from where it was until it hears that it is none any more, and tells an end of long ago.
      await eventually(async () => {
        const stored: string[] = []
        for await (const { value } of journal.scan(topic)) stored.push(String(value))
        result = ledger.settle(stored)
        if (result.missing.length > 0) throw new Error(`${result.missing.length} records are missing`)
      }, SETTLE_MS).catch((error) => {
        if (result === undefined) throw error
      })
      return result as LedgerResult
    },
  }
}
