import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { pause } from '../../runtime/waiting.ts'
import { StoreHaltError } from '../log-store.ts'
import { AnswerTooLongError, type Connection, ElasticsearchError, type ElasticsearchRequest } from './connection.ts'
import { classifyRequest } from './outcome.ts'

const FIRST_MS = 200
const LONGEST_MS = 30_000
const ATTEMPTS = 3

/**
 * The wait before a further attempt, in milliseconds: anything up to a ceiling that doubles from 200 ms to 30 s ("full jitter"), so that
 * writers that were refused together do not return together. `attempt` counts failures, from 1.
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 20))
  return Math.ceil(random() * ceiling)
}

/** Waits; if the signal aborts first, rejects with its reason. */
export async function pauseUnlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await pause(ms, signal)
  signal?.throwIfAborted()
}

/** Whether the same request may succeed soon without any intervention. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ElasticsearchError)) return false
  const found = classifyRequest(error.status, error.body)
  return found.verdict === 'retry' && !found.blocked
}

/** Runs a task again while its failure is transient, a few times. */
export async function retried<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task()
    } catch (error) {
      if (attempt >= ATTEMPTS || !isTransient(error)) throw error
      await pauseUnlessAborted(backoffMs(attempt), signal)
    }
  }
}

/** Maximum bytes of an answer with several entries. */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/** Asks for some items, and after each answer that is too long for a quarter of them; the answer with a single one should have no limit. */
export async function askForFewer<T>(count: number, ask: (count: number) => Promise<T>): Promise<T> {
  for (let some = count; ; some = Math.ceil(some / 4)) {
    try {
      return await ask(some)
    } catch (error) {
      if (!(error instanceof AnswerTooLongError)) throw error
    }
  }
}

/**
 * A connection that sends a request again while its failure is transient, a few times. For requests that somebody waits for and that are
 * safe to repeat: reads, and changes of templates and indices.
 */
export function retrying(connection: Connection): Connection {
  return {
    send: <Answer>(request: ElasticsearchRequest) => retried(() => connection.send<Answer>(request), request.signal),
    close: () => connection.close(),
  }
}

/**
 * Repeats an operation that a write depends on until it succeeds: without a limit of attempts while the failure may pass, until the signal
 * aborts. The report says meanwhile that this many documents wait. Rejects with the signal's reason, or with a `StoreHaltError` for
 * failures that retrying cannot cure.
 */
export async function persist<T>(
  task: () => Promise<T>,
  documents: number,
  trouble: TroubleReport,
  signal: AbortSignal,
): Promise<T> {
  const ticket = trouble.open()
  let succeeded = false
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await task()
        succeeded = true
        return result
      } catch (error) {
        if (!(error instanceof ElasticsearchError)) throw error
        const found = classifyRequest(error.status, error.body)
        if (found.verdict !== 'retry')
          throw new StoreHaltError(`Elasticsearch does not answer as it should: ${error.message}`)
        trouble.report(ticket, found.reason, found.blocked, documents)
        await pauseUnlessAborted(backoffMs(attempt), signal)
      }
    }
  } finally {
    trouble.close(ticket, succeeded)
  }
}

const QUIET_MS = 10_000

/** Logs, at a limited rate, that documents wait; remembers the problem that an operator has to solve. */
interface TroubleReport {
  /** Returns a ticket for a request that is being repeated. */
  open(): symbol
  report(ticket: symbol, reason: string, blocked: boolean, documents: number): void
  /** The request succeeded, or was given up. */
  close(ticket: symbol, succeeded: boolean): void
  /** The reason why writes are blocked now; null if they are not. */
  problem(): string | null
}

export function createTroubleReport(logger: Logger, metrics: Metrics): TroubleReport {
  const blocking = new Map<symbol, string>()
  const gauge = metrics.gauge('sluice_store_blocked')
  let lastSaid = Number.NEGATIVE_INFINITY

  return {
    open: () => Symbol('bulk'),
    report(ticket, reason, blocked, documents) {
      const isNew = blocked && blocking.size === 0
      if (blocked) blocking.set(ticket, reason)
      else blocking.delete(ticket)
      gauge.set(blocking.size === 0 ? 0 : 1)
      if (!isNew && performance.now() - lastSaid < QUIET_MS) return
      lastSaid = performance.now()
      if (blocked) logger.error({ reason, documents }, 'elasticsearch blocks writes until an operator acts; retrying')
      else logger.warn({ reason, documents }, 'elasticsearch turned documents away; retrying')
    },
    close(ticket, succeeded) {
      if (!blocking.delete(ticket) || blocking.size > 0) return
      gauge.set(0)
      if (succeeded) logger.info('elasticsearch no longer blocks writes')
    },
    problem: () => [...blocking.values()][0] ?? null,
  }
}
