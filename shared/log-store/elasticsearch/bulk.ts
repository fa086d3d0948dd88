import type { Logger } from '../../logger.ts'
import type { Metrics } from '../../metrics.ts'
import { StoreHaltError } from '../log-store.ts'
import { backoffMs, pause } from './backoff.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { type BulkItem, classifyItem, classifyRequest } from './outcome.ts'
import { createSlots } from './slots.ts'
import { createTroubleReport } from './trouble-report.ts'

export interface BulkLimits {
  /** Most bytes of one request; a larger document goes alone. */
  readonly bulkBytesMax: number
  readonly bulkDocumentsMax: number
  /** Most requests at once, over all writes. */
  readonly bulksInFlightMax: number
}

/** How one operation ended; `duplicate` is Elasticsearch's version conflict. */
export type Settled =
  | { readonly outcome: 'stored' }
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'refused'; readonly reason: string }

export interface Bulk {
  /**
   * Sends one operation an item, as the lines that `linesOf` gives for it (each ended by a newline), and returns one
   * outcome each, in order. Retries until the signal aborts; rejects with its reason, or with a `StoreHaltError`.
   */
  run<Item>(items: readonly Item[], linesOf: (item: Item) => string, signal: AbortSignal): Promise<readonly Settled[]>
  /** What keeps documents from being written until somebody acts, or null. */
  problem(): string | null
}

interface Operation {
  readonly position: number
  readonly lines: string
}

interface Deps {
  /** One that does not retry. */
  readonly connection: Connection
  readonly limits: BulkLimits
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Writes by `_bulk`, several requests in flight, each document retried on its own. */
export function createBulk({ connection, limits, logger, metrics }: Deps): Bulk {
  const slots = createSlots(limits.bulksInFlightMax)
  const trouble = createTroubleReport(logger, metrics)
  const seconds = metrics.histogram('sluice_store_bulk_seconds')
  const counted = metrics.counter('sluice_store_bulk_items_total')
  const inFlight = metrics.gauge('sluice_store_bulks_in_flight')

  const request = (operations: readonly Operation[], signal: AbortSignal): Promise<BulkAnswer> =>
    slots.run(async () => {
      const measured = seconds.startTimer()
      inFlight.inc()
      try {
        return await postBulk(connection, operations, signal)
      } finally {
        inFlight.dec()
        measured()
      }
    }, signal)

  /** Repeats what is to be repeated until every operation has its outcome. */
  async function settle(operations: readonly Operation[], settled: Settled[], signal: AbortSignal): Promise<void> {
    const ticket = trouble.open()
    let pending = operations
    let attempt = 0
    try {
      while (pending.length > 0) {
        const answer = await request(pending, signal)
        if (answer.verdict === 'halt') throw new StoreHaltError(`Elasticsearch takes no documents: ${answer.reason}`)
        if (answer.verdict === 'split') {
          await halve(pending, answer.reason, settled, signal)
          return
        }
        const round = answer.verdict === 'retry' ? { again: pending, ...answer } : sort(pending, answer.items, settled)
        attempt = round.again.length < pending.length ? 1 : attempt + 1
        pending = round.again
        if (pending.length === 0) return
        counted.inc({ outcome: 'retried' }, pending.length)
        trouble.report(ticket, round.reason, round.blocked, pending.length)
        await pause(backoffMs(attempt), signal)
      }
    } finally {
      trouble.close(ticket, pending.length === 0)
    }
  }

  async function halve(operations: readonly Operation[], reason: string, settled: Settled[], signal: AbortSignal) {
    const [first, ...others] = operations
    if (first !== undefined && others.length === 0) {
      settled[first.position] = { outcome: 'refused', reason: `Elasticsearch answered ${reason}` }
      return
    }
    const middle = Math.ceil(operations.length / 2)
    await settle(operations.slice(0, middle), settled, signal)
    await settle(operations.slice(middle), settled, signal)
  }

  return {
    async run(items, linesOf, signal) {
      const settled: Settled[] = new Array(items.length)
      const stop = new AbortController()
      const either = AbortSignal.any([signal, stop.signal])
      const chunks = chunksOf(items, linesOf, limits)
      // Each worker makes its next chunk when it has sent the one before, so that few are in memory at a time.
      const worker = async (): Promise<void> => {
        for (const chunk of chunks) await settle(chunk, settled, either)
      }
      const workers = Array.from({ length: limits.bulksInFlightMax }, () =>
        worker().catch((error: unknown) => {
          stop.abort(error)
          throw error
        }),
      )
      const results = await Promise.allSettled(workers)
      const failure = results.find((result) => result.status === 'rejected')
      if (failure !== undefined) throw failure.reason
      for (const { outcome } of settled) counted.inc({ outcome })
      return settled
    },
    problem: trouble.problem,
  }
}

function* chunksOf<Item>(
  items: readonly Item[],
  linesOf: (item: Item) => string,
  { bulkBytesMax, bulkDocumentsMax }: BulkLimits,
): Generator<Operation[], void> {
  let chunk: Operation[] = []
  let bytes = 0
  for (const [position, item] of items.entries()) {
    const lines = linesOf(item)
    const size = Buffer.byteLength(lines)
    if (chunk.length > 0 && (bytes + size > bulkBytesMax || chunk.length >= bulkDocumentsMax)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push({ position, lines })
    bytes += size
  }
  if (chunk.length > 0) yield chunk
}

type BulkAnswer =
  | { readonly verdict: 'answered'; readonly items: readonly BulkItem[] }
  | ReturnType<typeof classifyRequest>

async function postBulk(
  connection: Connection,
  operations: readonly Operation[],
  signal: AbortSignal,
): Promise<BulkAnswer> {
  try {
    const answer = await connection.send<{ items?: readonly Record<string, BulkItem>[] }>({
      method: 'POST',
      path: '/_bulk',
      query: { filter_path: 'items.*.status,items.*.error.type,items.*.error.reason,items.*.failure_store' },
      lines: operations.map(({ lines }) => lines).join(''),
      signal,
    })
    const items = (answer.items ?? []).flatMap((item) => Object.values(item))
    // An answer that does not fit the question says nothing about any document.
    if (items.length !== operations.length) {
      const reason = `${items.length} outcomes for ${operations.length} documents`
      return { verdict: 'retry', blocked: false, reason }
    }
    return { verdict: 'answered', items }
  } catch (error) {
    if (error instanceof ElasticsearchError) return classifyRequest(error.status, error.body)
    throw error
  }
}

/** Notes the outcomes that are final; what is to be sent again comes back. */
function sort(operations: readonly Operation[], items: readonly BulkItem[], settled: Settled[]) {
  const again: Operation[] = []
  let reason = ''
  let blocked = false
  for (const [index, operation] of operations.entries()) {
    const verdict = classifyItem(items[index] as BulkItem)
    switch (verdict.verdict) {
      case 'stored':
      case 'duplicate':
        settled[operation.position] = { outcome: verdict.verdict }
        break
      case 'refused':
        settled[operation.position] = { outcome: 'refused', reason: verdict.reason }
        break
      case 'retry':
        again.push(operation)
        reason = verdict.reason
        blocked ||= verdict.blocked
        break
      case 'halt':
        throw new StoreHaltError(`Elasticsearch takes no documents: ${verdict.reason}`)
    }
  }
  return { again, reason, blocked }
}
