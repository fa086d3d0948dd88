import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'

const QUIET_MS = 10_000

/** Logs, at a limited rate, that documents wait; remembers the problem that an operator has to solve. */
export interface TroubleReport {
  /** Returns a ticket for a request that is being repeated. */
  open(): symbol
  report(ticket: symbol, reason: string, blocked: boolean, documents: number): void
  /** The request succeeded, or was given up. */
  close(ticket: symbol, succeeded: boolean): void
  /** Why writes are blocked now; null if they are not. */
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
