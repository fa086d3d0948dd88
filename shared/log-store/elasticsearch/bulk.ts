import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import type { Span, Tracer } from '../../runtime/tracing.ts'
import { StoreHaltError, type WriteOutcome } from '../log-store.ts'
import { type Chunk, type ChunkLimits, createChunkSource, createRooms, halve, type Lines, pick } from './bulk-chunks.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { type BulkItem, classifyItem, classifyRequest, errorAt } from './outcome.ts'
import { backoffMs, createTroubleReport, pauseUnlessAborted, persist } from './retrying.ts'

export interface BulkLimits extends ChunkLimits {
  /** Maximum requests at once, over all writes. */
  readonly bulksInFlightMax: number
}

/** The version of a document that a write builds on (`if_seq_no`, `if_primary_term`). */
export interface Version {
  readonly seqNo: number
  readonly term: number
}

/** The outcome of one operation; `duplicate` is Elasticsearch's version conflict. A stored document may come with its version. */
export type Settled = WriteOutcome & { readonly version?: Version }

export interface Bulk {
  /**
   * Sends one operation per item, with the lines that `linesOf` returns for it, and returns one outcome each, in order. Takes items only
   * when they can be sent. Retries until the signal aborts; rejects with its reason, or with a `StoreHaltError`. `versioned`: stored
   * documents come with their versions. `deletes`: all operations are deletions, which have nothing to do where the index is gone.
   * `untilBlocked`: rejects if nothing is written until somebody acts.
   */
  run<Item>(
    items: Iterable<Item>,
    linesOf: (item: Item) => Lines,
    signal: AbortSignal,
    options?: { readonly versioned?: boolean; readonly deletes?: boolean; readonly untilBlocked?: boolean },
  ): Promise<readonly Settled[]>
  /** Repeats what a write depends on, as the function `persist` does; `documents` wait for it. */
  persist<T>(task: () => Promise<T>, documents: number, signal: AbortSignal): Promise<T>
  /** The reason why no documents are written until somebody acts; null if they are. */
  problem(): string | null
}

/** The options of all requests of one run. */
interface Way {
  readonly signal: AbortSignal
  readonly versioned: boolean
  readonly deletes: boolean
  readonly untilBlocked: boolean
}

interface Deps {
  /** A connection that does not retry. */
  readonly connection: Connection
  readonly limits: BulkLimits
  readonly logger: Logger
  readonly metrics: Metrics
  readonly tracer?: Tracer | null | undefined
}

/** Attempts after which an index that is missing is gone: a rebuild gives its name to another, which a node may not know at once. */
const GONE_AFTER = 3

const OUTCOMES: readonly (Settled['outcome'] | 'retried')[] = ['stored', 'duplicate', 'refused', 'retried']

/** Writes with `_bulk`, several requests in flight, each document retried individually. */
export function createBulk({ connection, limits, logger, metrics, tracer = null }: Deps): Bulk {
  const semaphore = createSemaphore(limits.bulksInFlightMax)
  const rooms = createRooms(limits.bulksInFlightMax)
  const trouble = createTroubleReport(logger, metrics)
  const seconds = metrics.histogram('sluice_store_bulk_seconds')
  const counted = metrics.counter('sluice_store_bulk_items_total', { outcome: OUTCOMES })
  const inFlight = metrics.gauge('sluice_store_bulks_in_flight')

  const post = async (chunk: Chunk, way: Way): Promise<BulkAnswer> => {
    const measured = seconds.startTimer()
    const span = tracer === null ? undefined : spanOfBulk(tracer, chunk)
    let failure: string | undefined = 'no_answer'
    inFlight.inc()
    try {
      const answer = await postBulk(connection, chunk, way)
      failure = answer.verdict === 'answered' ? undefined : answer.verdict
      return answer
    } finally {
      inFlight.dec()
      measured()
      span?.end({ failure })
    }
  }

  /** Resends operations until each has its outcome. */
  async function settle(chunk: Chunk, first: BulkAnswer, settled: Settled[], way: Way): Promise<void> {
    const ticket = trouble.open()
    let pending: Chunk | null = chunk
    let answer = first
    let attempt = 0
    try {
      for (;;) {
        if (answer.verdict === 'halt') throw new StoreHaltError(`Elasticsearch takes no documents: ${answer.reason}`)
        if (answer.verdict === 'split') {
          await settleHalves(pending, answer.reason, settled, way)
          pending = null
          return
        }
        const goneIsDone = way.deletes && attempt >= GONE_AFTER
        const round: Round =
          answer.verdict === 'retry' ? { again: pending, ...answer } : sort(pending, answer.items, goneIsDone, settled)
        const before = pending.positions.length
        pending = round.again
        if (pending === null) return
        if (round.blocked && way.untilBlocked) throw new Error(`Elasticsearch takes no writes: ${round.reason}`)
        const waiting = pending
        attempt = waiting.positions.length < before ? 1 : attempt + 1
        counted.inc({ outcome: 'retried' }, waiting.positions.length)
        trouble.report(ticket, round.reason, round.blocked, waiting.positions.length)
        await pauseUnlessAborted(backoffMs(attempt), way.signal)
        answer = await semaphore.run(() => post(waiting, way), way.signal)
      }
    } finally {
      trouble.close(ticket, pending === null)
    }
  }

  async function settleHalves(chunk: Chunk, reason: string, settled: Settled[], way: Way): Promise<void> {
    const [position, ...others] = chunk.positions
    if (position !== undefined && others.length === 0) {
      settled[position] = { outcome: 'refused', reason: `Elasticsearch answered ${reason}` }
      return
    }
    for (const half of halve(chunk))
      await settle(half, await semaphore.run(() => post(half, way), way.signal), settled, way)
  }

  return {
    async run(items, linesOf, signal, { versioned = false, deletes = false, untilBlocked = false } = {}) {
      const settled: Settled[] = []
      const stop = new AbortController()
      const way = { signal: AbortSignal.any([signal, stop.signal]), versioned, deletes, untilBlocked }
      const source = createChunkSource(items, linesOf, limits, rooms)
      await runWorkers(limits.bulksInFlightMax, stop, async (more) => {
        while (!source.isEmpty()) {
          // A chunk is made only when there is a slot to send it, so that no more are in memory than are sent.
          const sent = await semaphore.run(async () => {
            const chunk = source.take()
            if (!source.isEmpty()) more()
            return chunk === null ? null : { chunk, answer: await post(chunk, way) }
          }, way.signal)
          if (sent === null) continue
          await settle(sent.chunk, sent.answer, settled, way)
          // Without an answer for each document, the request may still be in progress.
          if (sent.answer.verdict === 'answered') rooms.giveBack(sent.chunk.body)
        }
      })
      for (const [outcome, count] of countBy(settled)) counted.inc({ outcome }, count)
      return settled
    },
    persist: (task, documents, signal) => persist(task, documents, trouble, signal),
    problem: trouble.problem,
  }
}

/**
 * Runs `work`, and once more in parallel whenever it asks for that, at most `max` at a time. If one fails, `stop` is aborted, which has to
 * end the others; rejects with the first failure when all have ended.
 */
async function runWorkers(
  max: number,
  stop: AbortController,
  work: (more: () => void) => Promise<void>,
): Promise<void> {
  const workers: Promise<void>[] = []
  const more = (): void => {
    if (workers.length < max) workers.push(work(more).catch((error: unknown) => stop.abort(error)))
  }
  more()
  for (const worker of workers) await worker
  stop.signal.throwIfAborted()
}

function countBy(settled: readonly Settled[]): ReadonlyMap<Settled['outcome'], number> {
  const counts = new Map<Settled['outcome'], number>()
  for (const { outcome } of settled) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return counts
}

/** Starts a span if the write that this belongs to is traced. */
const spanOfBulk = (tracer: Tracer, { positions }: Chunk): Span | undefined => {
  const parent = tracer.current()?.traceparent
  const attributes = {
    'db.system.name': 'elasticsearch',
    'db.operation.name': 'bulk',
    'db.operation.batch.size': positions.length,
  }
  return parent === undefined ? undefined : tracer.start('bulk', { kind: 'client', parent, attributes })
}

type BulkAnswer =
  | { readonly verdict: 'answered'; readonly items: readonly BulkItem[] }
  | ReturnType<typeof classifyRequest>

/** The parts of an answer that `classifyItem` reads. */
const JUDGED = `items.*.status,items.*.result,${errorAt('items.*.error')},items.*.failure_store`

/** How long Elasticsearch waits for a shard: less than the time limit of a request, so that its answer says which one is missing. */
export const SHARD_WAIT = '20s'

async function postBulk(connection: Connection, chunk: Chunk, { signal, versioned }: Way): Promise<BulkAnswer> {
  try {
    const answer = await connection.send<{ items?: readonly Record<string, BulkItem>[] }>({
      method: 'POST',
      path: '/_bulk',
      query: {
        timeout: SHARD_WAIT,
        filter_path: versioned ? `${JUDGED},items.*._seq_no,items.*._primary_term` : JUDGED,
      },
      lines: chunk.body,
      signal,
    })
    const items = (answer.items ?? [])
      .flatMap((item) => Object.values(item))
      .filter(({ status }) => status !== undefined)
    // An answer that does not match the request says nothing about any document.
    if (items.length !== chunk.positions.length) {
      const reason = `${items.length} outcomes for ${chunk.positions.length} documents`
      return { verdict: 'retry', blocked: false, reason }
    }
    return { verdict: 'answered', items }
  } catch (error) {
    if (error instanceof ElasticsearchError) return classifyRequest(error.status, error.body, chunk.positions.length)
    throw error
  }
}

interface Round {
  /** The operations to resend, or null. */
  readonly again: Chunk | null
  readonly reason: string
  readonly blocked: boolean
}

const STORED: Settled = { outcome: 'stored' }
const storedAs = ({ _seq_no: seqNo, _primary_term: term }: BulkItem): Settled =>
  seqNo === undefined || term === undefined ? STORED : { outcome: 'stored', version: { seqNo, term } }
const DUPLICATE: Settled = { outcome: 'duplicate' }

/** Records the final outcomes; returns what to resend. `goneIsDone`: nothing is left to do in an index that is gone. */
function sort(chunk: Chunk, items: readonly BulkItem[], goneIsDone: boolean, settled: Settled[]): Round {
  const again: number[] = []
  let reason = ''
  let blocked = false
  for (const [index, position] of chunk.positions.entries()) {
    const verdict = classifyItem(items[index] as BulkItem)
    switch (verdict.verdict) {
      case 'stored':
        settled[position] = storedAs(items[index] as BulkItem)
        break
      case 'duplicate':
        settled[position] = DUPLICATE
        break
      case 'refused':
        settled[position] = { outcome: 'refused', reason: verdict.reason }
        break
      case 'gone':
        if (goneIsDone) {
          settled[position] = DUPLICATE
          break
        }
        again.push(index)
        reason = verdict.reason
        break
      case 'retry':
        again.push(index)
        reason = verdict.reason
        blocked ||= verdict.blocked
        break
      case 'halt':
        throw new StoreHaltError(`Elasticsearch takes no documents: ${verdict.reason}`)
    }
  }
  return { again: again.length === 0 ? null : pick(chunk, again), reason, blocked }
}
