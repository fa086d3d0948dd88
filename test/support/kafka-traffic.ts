import { AppendError, type Journal, type Subscription } from '../../shared/journal/journal.ts'
import { eventually } from './eventually.ts'
import { createLedger, type Ledger, type LedgerResult } from './ledger.ts'

/** Continuous writers and one reading group member, while something happens to the brokers. */
export interface Traffic {
  readonly ledger: Ledger
  /** Marks that were delivered to the group, including repeats. */
  readonly read: readonly string[]
  /** Failed appends by outcome, and the longest duration of an append in milliseconds. */
  failures(): { readonly not_written: number; readonly unknown: number; readonly longestMs: number }
  /** Stops the writers and compares the acknowledged records with the topic. */
  settle(): Promise<LedgerResult>
  subscription: Subscription
}

const RECORDS = 20
/** How long acknowledged records may take to become visible. */
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
      // A leader that was frozen resumes its old state until it learns that it was replaced, and reports an outdated end.
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
