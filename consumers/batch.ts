import { saysTraced, validTraceparent } from '../shared/contract/headers.ts'
import { type ChunkLimits, chunksOf } from '../shared/journal/batches.ts'
import { AppendError, headerOf, type JournalRecord, type PartitionBatch } from '../shared/journal/journal.ts'
import type { LogStoreWriter, WriteOutcome } from '../shared/log-store/log-store.ts'
import type { Logger } from '../shared/runtime/logger.ts'
import { LINKS_MAX, type Tracer, traced } from '../shared/runtime/tracing.ts'
import { insist, pause } from '../shared/runtime/waiting.ts'
import {
  attemptsOf,
  type BadRecord,
  type DeadLetter,
  DeadLetterFloodError,
  type DeadLetterHistory,
  type DeadLetterLimits,
  type DeadLetterWriter,
  deadLetter,
  isClean,
  judgeDeadLetters,
  LetterTooLargeError,
  NO_HISTORY,
} from './dead-letters.ts'
import type { Instruments, Lag } from './metrics.ts'
import type { Projection, Projector } from './projection.ts'

export interface BatchDeps {
  readonly store: LogStoreWriter
  readonly deadLetters: DeadLetterWriter
  readonly deadLetterLimits: DeadLetterLimits
  readonly chunkLimits: ChunkLimits
  /** Time to gather records of a partition whose last one was handled, in milliseconds. */
  readonly gatherMs: number
  readonly lag: Lag
  readonly instruments: Instruments
  readonly logger: Logger
  /** Called with the reason why a partition (topic and number as one text) waits for somebody to act, and with null once it goes on. */
  readonly onHeldUp: (place: string, reason: string | null) => void
  /** The tracer, and the group that its spans name; without it, nothing is traced. */
  readonly tracing?: { readonly tracer: Tracer; readonly group: string } | undefined
}

/** The outcome of one record. */
type Settled = 'stored' | 'duplicate' | 'skipped' | DeadLetter

/**
 * Handles the batches of a projection: decode, project, write, dead-letter, commit, chunk after chunk. The next chunk begins when every
 * record of the previous one has its document or its dead letter acknowledged, so the position after a chunk may be committed. A bad record
 * never makes it throw; its errors (the store halts, a dead letter cannot be written, too many of them) must end the subscription.
 */
export function createBatchHandler<Item>(
  projection: Projection<Item>,
  projectorOf: (topic: string) => Projector<Item>,
  deps: BatchDeps,
): (batch: PartitionBatch) => Promise<void> {
  const { deadLetters, deadLetterLimits, gatherMs, instruments, lag, logger, tracing } = deps
  /** The history of each partition, and the position up to which it goes. */
  const histories = new Map<string, { readonly history: DeadLetterHistory; readonly position: number }>()
  /** Redelivered records, after a rebalance for example, were counted before, so the partition starts again without a history. */
  const historyOf = (place: string, offset: number): DeadLetterHistory => {
    const known = histories.get(place)
    return known !== undefined && known.position <= offset ? known.history : NO_HISTORY
  }

  /** Returns the position after the chunk. */
  const settleChunk = async (chunk: readonly JournalRecord[], batch: PartitionBatch): Promise<number> => {
    const settled = await writeChunk(projection, chunk, projectorOf(batch.topic), batch.signal, deps)
    const place = placeOf(batch)
    const bad = badRecords(chunk, settled)
    const before = historyOf(place, chunk[0]?.offset ?? 0)
    // Replayed records say nothing about those arriving now. If all are good, as usual, they need not be told apart.
    const arrived =
      bad.length === 0 && isClean(before) ? settled : settled.filter((_, index) => !isReplayed(chunk[index]))
    const { history, flood } = judgeDeadLetters(
      before,
      arrived.map((outcome) => typeof outcome === 'object'),
      deadLetterLimits,
    )
    if (flood !== null) throw new DeadLetterFloodError(describeFlood(place, flood, bad))
    if (bad.length > 0) {
      await insist(
        () => deadLetters.append(bad),
        batch.signal,
        FIRST_PAUSE_MS,
        (err, isFirst) => {
          if (err instanceof LetterTooLargeError) deps.onHeldUp(place, `${place} waits: ${err.message}`)
          else if (isRefused(err)) throw err
          if (isFirst) logger.warn({ err, place }, 'dead letters cannot be written; retrying')
        },
      ).finally(() => deps.onHeldUp(place, null))
      logger.warn({ view: projection.name, place, reasons: reasonsOf(bad) }, 'records became dead letters')
    }
    const position = (chunk.at(-1)?.offset ?? -1) + 1
    histories.set(place, { history, position })
    count(settled, instruments)
    return position
  }

  const settle = tracing === undefined ? settleChunk : traceChunks(tracing, settleChunk)

  return async (batch) => {
    const place = placeOf(batch)
    let position = batch.records[0]?.offset ?? batch.endPosition
    try {
      for (const chunk of chunksOf(batch.records, valueBytes, deps.chunkLimits)) {
        lag.reading(place, position, chunk[0]?.appendedAt ?? 0)
        position = await settle(chunk, batch)
        await commitPatiently(batch, position, logger)
        instruments.committed()
      }
      if (position < batch.endPosition) {
        lag.reading(place, position, batch.records.at(-1)?.appendedAt ?? 0)
        return
      }
      lag.idle(place)
      // The journal hands over the records that arrive meanwhile in one batch. None is at hand, so nothing is held uncommitted.
      if (gatherMs > 0) await pause(gatherMs, batch.signal)
    } catch (error) {
      if (!batch.signal.aborted) throw error
      // The partition has another reader now, which begins at the committed position and will meet a lasting failure too.
      lag.idle(place)
      logger.info({ view: projection.name, place, err: error }, 'a batch was given up, its partition was taken away')
    }
  }
}

type SettleChunk = (chunk: readonly JournalRecord[], batch: PartitionBatch) => Promise<number>

/**
 * Traces chunks with records of traced work: in a trace of their own, as a chunk belongs to many, with links to that work. A `traceparent`
 * header may be the sender's, so it is no more than a wish to be traced.
 */
function traceChunks({ tracer, group }: NonNullable<BatchDeps['tracing']>, settle: SettleChunk): SettleChunk {
  return (chunk, batch) => {
    const links = tracedWork(chunk)
    if (!tracer.sample(links.length > 0, chunk.length)) return settle(chunk, batch)
    const attributes = {
      'messaging.system.name': tracer.messagingSystem,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': batch.topic,
      'messaging.destination.partition.id': String(batch.partition),
      'messaging.consumer.group.name': group,
      'messaging.batch.message_count': chunk.length,
    }
    const span = tracer.start(`process ${batch.topic}`, { kind: 'consumer', links, attributes })
    return traced(span, () => tracer.within(span, () => settle(chunk, batch)))
  }
}

/**
 * The `traceparent`s of traced work in a chunk, at most `LINKS_MAX`. Records of one request are adjacent and share a header, so each is
 * compared with the one before.
 */
function tracedWork(chunk: readonly JournalRecord[]): readonly string[] {
  const found = new Set<string>()
  let last: string | undefined
  for (const record of chunk) {
    const traceparent = headerOf(record, 'traceparent')
    if (typeof traceparent !== 'string' || traceparent === last) continue
    last = traceparent
    if (validTraceparent(traceparent) !== undefined && saysTraced(traceparent)) found.add(traceparent)
    if (found.size === LINKS_MAX) break
  }
  return [...found]
}

async function writeChunk<Item>(
  projection: Projection<Item>,
  chunk: readonly JournalRecord[],
  project: Projector<Item>,
  signal: AbortSignal,
  { store, instruments }: BatchDeps,
): Promise<readonly Settled[]> {
  const { items, known, receivedAt } = projectLazily(chunk, project)
  const first = items.next()
  const written =
    first.done === true
      ? []
      : await instruments.timed(() => projection.write(startingWith(first.value, items), store, signal))
  if (known.length !== chunk.length) throw new Error('the log store did not take all documents')
  if (written.length !== receivedAt.length) {
    throw new Error(`the log store gave ${written.length} outcomes for ${receivedAt.length} documents`)
  }
  const stored = receivedAt.filter((_, index) => written[index]?.outcome === 'stored')
  instruments.searchable(stored, store.searchableWithinMs)
  const outcomes = written.values()
  return known.map((outcome) => outcome ?? ofWrite(outcomes.next().value))
}

/**
 * Projects each record when its item is requested, so that an item lives no longer than the store needs it. `known` has one element per
 * projected record, null for one with an item; `receivedAt` has one per item.
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

function count(settled: readonly Settled[], instruments: Instruments): void {
  const counts = { stored: 0, duplicate: 0, skipped: 0, dead_letter: 0 }
  for (const outcome of settled) counts[typeof outcome === 'object' ? 'dead_letter' : outcome] += 1
  instruments.outcomes(counts)
  instruments.deadLetters(settled.flatMap((outcome) => (typeof outcome === 'object' ? [outcome.reason] : [])))
}

function reasonsOf(bad: readonly BadRecord[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(bad, ({ letter }) => letter.reason)
  return Object.fromEntries([...groups].map(([reason, letters]) => [reason, letters.length]))
}

/** The text of the error: the records of a flood do not become dead letters, so nothing else tells an operator about them. */
function describeFlood(place: string, flood: string, bad: readonly BadRecord[]): string {
  const reasons = Object.entries(reasonsOf(bad)).map(([reason, count]) => `${count} ${reason}`)
  const first = bad[0]
  const example = first === undefined ? '' : `; the first, at offset ${first.record.offset}: ${first.letter.message}`
  return `${place}: ${flood} (${reasons.join(', ')}${example})`
}

const FIRST_PAUSE_MS = 100

/**
 * Commits a position. The records before it are stored already, so a journal that cannot write for a while (a full disk, say) is no reason
 * to halt. Rejects with the signal's reason.
 */
export const commitPatiently = (batch: PartitionBatch, position: number, logger: Pick<Logger, 'warn'>): Promise<void> =>
  insist(
    () => batch.commit(position),
    batch.signal,
    FIRST_PAUSE_MS,
    (err, isFirst) => {
      // A position that the journal will never take is a fault of ours.
      if (err instanceof RangeError) throw err
      if (isFirst) logger.warn({ err, topic: batch.topic }, 'a position cannot be committed; retrying')
    },
  )

/** Whether the journal will not take dead letters until somebody acts. */
const isRefused = (error: unknown): boolean => !(error instanceof AppendError) || error.isFinal

const valueBytes = ({ value }: JournalRecord): number => value?.length ?? 0

const placeOf = ({ topic, partition }: PartitionBatch): string => `${topic}/${partition}`
