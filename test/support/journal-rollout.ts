import type { Journal, PartitionBatch, Subscription } from '../../shared/journal/journal.ts'
import { eventually } from './eventually.ts'
import { positionAfter, recordsOf } from './journal-fixture.ts'

export interface ReplacedGroup {
  /** Appends the load. */
  readonly journal: Journal
  readonly topic: string
  readonly group: string
  /** The number of partitions, which is also the number of members. */
  readonly partitions: number
  /** Time limit of each step, in milliseconds. */
  readonly patienceMs: number
}

const RECORDS = 7

/**
 * Starts a group's members on the first journal, then replaces them one by one with members on each next journal, under load. Rejects if a
 * record is lost, or handled out of order, by two members at a time, or again after it was committed.
 */
export async function replaceMembers(
  { journal, topic, group, partitions, patienceMs }: ReplacedGroup,
  [first, ...others]: readonly Journal[],
): Promise<void> {
  const [next, committed] = [Array<number>(partitions).fill(0), Array<number>(partitions).fill(0)]
  const busy = new Set<number>()
  let appended = 0
  const appendRound = async (): Promise<void> => {
    appended += RECORDS
    for (let partition = 0; partition < partitions; partition++)
      await journal.append({ topic, partition, records: recordsOf('a', RECORDS) })
  }
  const handle = async (batch: PartitionBatch): Promise<void> => {
    const { partition } = batch
    const [begin, end] = [batch.records[0]?.offset ?? -1, positionAfter(batch)]
    if (busy.has(partition)) throw new Error(`two at a time for partition ${partition}`)
    if (begin > (next[partition] ?? 0)) throw new Error(`a gap in partition ${partition} before ${begin}`)
    if (begin < (committed[partition] ?? 0)) throw new Error(`partition ${partition} repeats ${begin}`)
    busy.add(partition)
    next[partition] = Math.max(next[partition] ?? 0, end)
    try {
      await batch.commit(end)
      if (!batch.signal.aborted) committed[partition] = end
    } finally {
      busy.delete(partition)
    }
  }
  const join = async (from: Journal): Promise<Subscription> => {
    let batches = 0
    const subscription = await from.subscribe({ group, topics: [topic], recordsMax: 3 }, (batch) => {
      batches++
      return handle(batch)
    })
    await eventually(async () => {
      await appendRound()
      return batches > 0
    }, patienceMs)
    return subscription
  }
  const members: Subscription[] = []
  while (first && members.length < partitions) members.push(await join(first))
  for (const journalOfNext of others) {
    for (const member of members.splice(0)) {
      await Promise.all([appendRound(), member.close()])
      await member.done
      members.push(await join(journalOfNext))
    }
  }
  await eventually(() => next.every((end) => end === appended), patienceMs)
  await Promise.all(members.map((member) => member.close()))
  await Promise.all(members.map(({ done }) => done))
}
