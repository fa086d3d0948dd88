import { headerText, type Journal, type JournalRecord } from '../shared/journal/journal.ts'
import { DLQ_HEADERS } from './dead-letters.ts'

/**
 * How one knows what was replayed. No dead letter is ever removed; instead a replay of all that is pending ends by appending a
 * mark to each partition of the dead letters, which says up to which position its records are done with. A mark stands after all
 * that it speaks of, so retention removes it no sooner than them.
 */
const MARK_HEADER = 'x-dlq-replayed-up-to'

/** Marks the dead letters before the positions, one a partition, as done with. */
export async function appendMarks(
  journal: Journal,
  topic: string,
  positions: ReadonlyMap<number, number>,
): Promise<void> {
  for (const [partition, position] of positions) {
    const headers = { 'content-type': 'application/json', [MARK_HEADER]: String(position) }
    await journal.append({ topic, partition, records: [{ key: null, value: '{}', headers }] })
  }
}

/** The position that the record marks, or undefined where it is no mark. */
export function replayMark({ headers }: JournalRecord): number | undefined {
  // A dead letter carries the headers of its record, whatever they are.
  if (headers[DLQ_HEADERS.topic] !== undefined) return undefined
  const text = headerText(headers, MARK_HEADER)
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** For each partition with a mark, the position up to which its dead letters were replayed or refused for good. */
export async function replayedUpTo(journal: Journal, topic: string): Promise<ReadonlyMap<number, number>> {
  const positions = new Map<number, number>()
  for await (const record of journal.scan(topic)) {
    const mark = replayMark(record)
    if (mark !== undefined) positions.set(record.partition, Math.max(mark, positions.get(record.partition) ?? 0))
  }
  return positions
}
