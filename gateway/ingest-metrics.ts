import type { EntryKind } from '../shared/contract/records.ts'
import type { ErrorCode } from '../shared/errors.ts'
import type { Metrics } from '../shared/runtime/metrics.ts'

/**
 * Counts what becomes of the requests and entries of one kind. Each entry that was looked at is accepted or rejected, once; a
 * request refused before its entries were looked at is counted by itself.
 */
export interface IngestMetrics {
  accepted(entries: number): void
  rejected(code: ErrorCode): void
  requestRefused(code: ErrorCode): void
}

export function createIngestMetrics(metrics: Metrics, kind: EntryKind): IngestMetrics {
  const accepted = metrics.counter('sluice_entries_accepted_total').labels(kind)
  const rejected = metrics.counter('sluice_entries_rejected_total')
  const refused = metrics.counter('sluice_requests_refused_total')
  return {
    accepted: (entries) => accepted.inc(entries),
    rejected: (code) => rejected.inc({ kind, code }),
    requestRefused: (code) => refused.inc({ code }),
  }
}
