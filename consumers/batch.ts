import type { JournalRecord, PartitionBatch } from '../shared/journal/journal.ts'
import type { LogStoreWriter, WriteOutcome } from '../shared/log-store/log-store.ts'
import type { Logger } from '../shared/runtime/logger.ts'
import { type ChunkLimits, chunksOf } from './chunks.ts'
import { commitPatiently } from './commit.ts'
import type { Measures } from './consumer-metrics.ts'
import {
  DeadLetterFloodError,
  type DeadLetterHistory,
  type DeadLetterLimits,
  isClean,
  judgeDeadLetters,
  NO_HISTORY,
} from './dead-letter-limits.ts'
import { attemptsOf, type BadRecord, type DeadLetterWriter } from './dead-letters.ts'
import type { Lag } from './lag.ts'
import { type DeadLetter, deadLetter } from './outcome.ts'
import type { Projection, Projector } from './projection.ts'
import { createWatermark } from './watermark.ts'

export interface BatchDeps {
  readonly store: LogStoreWriter
  readonly deadLetters: DeadLetterWriter
  readonly deadLetterLimits: DeadLetterLimits
  readonly chunkLimits: ChunkLimits
  readonly lag: Lag
  readonly measures: Measures
  readonly logger: Logger
}

/** What became of one record. */
type Settled = 'stored' | 'duplicate' | 'skipped' | DeadLetter

/**
 * Handles the batches of a projection: decode, project, write, dead-letter, commit, chunk after chunk. A position is committed only
 * when every record before it has its document or its dead letter acknowledged. Data never makes it throw; what it throws
 * (the store halts, a dead letter cannot be written, too many of them) must end the subscription.
 */
export function createBatchHandler<Item>(
  projection: Projection<Item>,
  projectorOf: (topic: string) => Projector<Item>,
  deps: BatchDeps,
): (batch: PartitionBatch) => Promise<void> {
  const { deadLetters, deadLetterLimits, measures, lag, logger } = deps
  /** Of each partition, up to which position. */
  const histories = new Map<string, { readonly history: DeadLetterHistory; readonly position: number }>()
  /** Records that come again, after a rebalance for example, were counted before; what was counted since then is not known any more. */
  const historyOf = (place: string, offset: number): DeadLetterHistory => {
    const known = histories.get(place)
    return known !== undefined && known.position <= offset ? known.history : NO_HISTORY
  }

  const settleChunk = async (chunk: readonly JournalRecord[], batch: PartitionBatch): Promise<void> => {
    const settled = await writeChunk(projection, chunk, projectorOf(batch.topic), batch.signal, deps)
    const place = placeOf(batch)
    const bad = badRecords(chunk, settled)
    const before = historyOf(place, chunk[0]?.offset ?? 0)
    // A replayed record says nothing about the records that arrive now. Where all is good none need be told apart, which is most of the time.
    const arrived =
      bad.length === 0 && isClean(before) ? settled : settled.filter((_, index) => !isReplayed(chunk[index]))
    const { history, flood } = judgeDeadLetters(
      before,
      arrived.map((outcome) => typeof outcome === 'object'),
      deadLetterLimits,
    )
    if (flood !== null) throw new DeadLetterFloodError(describeFlood(place, flood, bad))
    if (bad.length > 0) {
      batch.signal.throwIfAborted()
      await deadLetters.append(bad)
      logger.warn({ view: projection.name, place, reasons: reasonsOf(bad) }, 'records became dead letters')
    }
    histories.set(place, { history, position: (chunk.at(-1)?.offset ?? -1) + 1 })
    count(settled, measures)
  }

  return async (batch) => {
    const place = placeOf(batch)
    const watermark = createWatermark(batch.records.map(({ offset }) => offset))
    let position = batch.records[0]?.offset ?? batch.endPosition
    try {
      for (const chunk of chunksOf(batch.records, valueBytes, deps.chunkLimits)) {
        lag.reading(place, position, chunk[0]?.appendedAt ?? 0)
        await settleChunk(chunk, batch)
        for (const { offset } of chunk) watermark.settle(offset)
        position = watermark.position() ?? position
        await commitPatiently(batch, position, logger)
      }
      if (position < batch.endPosition) lag.reading(place, position, batch.records.at(-1)?.appendedAt ?? 0)
      else lag.idle(place)
    } catch (error) {
      if (!batch.signal.aborted) throw error
      // The partition has another reader now, who reads from what was committed; a failure that lasts will meet that one too.
      lag.idle(place)
      logger.info({ view: projection.name, place, err: error }, 'a batch was given up, its partition was taken away')
    }
  }
}

async function writeChunk<Item>(
  projection: Projection<Item>,
  chunk: readonly JournalRecord[],
  project: Projector<Item>,
  signal: AbortSignal,
  { store, measures }: BatchDeps,
): Promise<readonly Settled[]> {
  const { items, known, receivedAt } = projectLazily(chunk, project)
  const first = items.next()
  const written =
    first.done === true
      ? []
      : await measures.timed(() => projection.write(startingWith(first.value, items), store, signal))
  if (known.length !== chunk.length) throw new Error('the log store did not take all documents')
  if (written.length !== receivedAt.length) {
    throw new Error(`the log store gave ${written.length} outcomes for ${receivedAt.length} documents`)
  }
  const stored = receivedAt.filter((_, index) => written[index]?.outcome === 'stored')
  measures.searchable(stored, store.searchableWithinMs)
  const outcomes = written.values()
  return known.map((outcome) => outcome ?? ofWrite(outcomes.next().value))
}

/**
 * Projects a record when its item is asked for, so that an item need not live longer than the store needs it. `known` has an entry for
 * each record gone through, null for one with an item; `receivedAt` one for each item.
 */
function projectLazily<Item>(chunk: readonly JournalRecord[], project: Projector<Item>) {
  const known: (Settled | null)[] = []
  const receivedAt: string[] = []
  function* items(): Generator<Item, void> {
    for (const record of chunk) {
      const projected = project(record)
      if (projected.outcome === 'ok') {
        known.push(null)
        receivedAt.push(projected.receivedAt)
        yield projected.item
      } else known.push(projected.outcome === 'skip' ? 'skipped' : projected)
    }
  }
  return { items: items(), known, receivedAt }
}

function* startingWith<Item>(first: Item, rest: Iterable<Item>): Generator<Item, void> {
  yield first
  yield* rest
}

function ofWrite(written: WriteOutcome | undefined): Settled {
  if (written === undefined) throw new Error('the log store gave no outcome for a document')
  return written.outcome === 'refused' ? deadLetter('refused_by_store', written.reason) : written.outcome
}

const isReplayed = (record: JournalRecord | undefined): boolean =>
  record !== undefined && attemptsOf(record.headers) > 0

const badRecords = (chunk: readonly JournalRecord[], settled: readonly Settled[]): readonly BadRecord[] =>
  chunk.flatMap((record, index) => {
    const letter = settled[index]
    return typeof letter === 'object' ? [{ record, letter }] : []
  })

function count(settled: readonly Settled[], measures: Measures): void {
  const counts = { stored: 0, duplicate: 0, skipped: 0, dead_letter: 0 }
  for (const outcome of settled) counts[typeof outcome === 'object' ? 'dead_letter' : outcome] += 1
  measures.outcomes(counts)
  measures.deadLetters(settled.flatMap((outcome) => (typeof outcome === 'object' ? [outcome.reason] : [])))
}

function reasonsOf(bad: readonly BadRecord[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(bad, ({ letter }) => letter.reason)
  return Object.fromEntries([...groups].map(([reason, letters]) => [reason, letters.length]))
}

/** These records are not among the dead letters, so this is where an operator learns what is wrong with them. */
function describeFlood(place: string, flood: string, bad: readonly BadRecord[]): string {
  const reasons = Object.entries(reasonsOf(bad)).map(([reason, count]) => `${count} ${reason}`)
  const first = bad[0]
  const example = first === undefined ? '' : `; the first, at offset ${first.record.offset}: ${first.letter.message}`
  return `${place}: ${flood} (${reasons.join(', ')}${example})`
}

const valueBytes = ({ value }: JournalRecord): number => value?.length ?? 0

const placeOf = ({ topic, partition }: PartitionBatch): string => `${topic}/${partition}`
