import { randomUUID } from 'node:crypto'
import {
  type AnnouncedChange,
  type AuditedChange,
  type AuditOrigin,
  type AuditOutcome,
  decodeAudit,
  encodeAudit,
} from '../contract/audit.ts'
import { timestampOf } from '../contract/timestamp.ts'
import type { Clock } from '../runtime/clock.ts'
import { batchesOf } from './batches.ts'
import { AppendError, type Journal, type NewRecord } from './journal.ts'

interface AuditDeps {
  readonly journal: Pick<Journal, 'append'>
  readonly topic: string
  readonly clock: Clock
  /** Called for a change that was refused because its record was not confirmed, and for an outcome that is missing from the topic. */
  readonly onFailure: (error: unknown, record: 'change' | 'outcome') => void
}

/**
 * Makes changes and records them on the audit topic: first the intended changes, then their outcome. So no change is without a record,
 * wherever a process ends. Rejects as `make` does, and with an `AppendError` (`not_written`), having changed nothing, if the records were
 * not confirmed. An unconfirmed outcome is left out. `inParts` says that a failed `make` may have changed something even if its last append
 * was not written.
 */
export type Audited = <Result>(
  changes: readonly AuditedChange[],
  make: () => Promise<Result>,
  options?: { readonly inParts: boolean },
) => Promise<Result>

/** Audits the changes of one origin. */
export type Audit = (origin: AuditOrigin) => Audited

/** The topic has one partition, so that its records have a total order. */
const PARTITION = 0

export function createAudit({ journal, topic, clock, onFailure }: AuditDeps): Audit {
  const append = async (records: readonly NewRecord[]): Promise<void> => {
    for (const batch of batchesOf(records)) await journal.append({ topic, partition: PARTITION, records: batch })
  }

  return (origin) =>
    async (changes, make, { inParts } = { inParts: false }) => {
      const id = randomUUID()
      const at = timestampOf(clock.now())
      try {
        await append(
          changes.map((change, index) => encodeAudit({ id, index, at, outcome: 'pending', ...origin, ...change })),
        )
      } catch (cause) {
        onFailure(cause, 'change')
        const reason = cause instanceof Error ? cause.message : String(cause)
        const isFinal = cause instanceof AppendError && cause.isFinal
        throw new AppendError(`its audit record was not confirmed: ${reason}`, 'not_written', { cause, isFinal })
      }
      let outcome: AuditOutcome = 'success'
      try {
        return await make()
      } catch (error) {
        const isWhole = error instanceof AppendError && error.outcome === 'not_written' && !inParts
        outcome = isWhole ? 'failure' : 'unknown'
        throw error
      } finally {
        const record = encodeAudit({ id, at: timestampOf(clock.now()), outcome })
        await append([record]).catch((error: unknown) => onFailure(error, 'outcome'))
      }
    }
}

/** A change and its outcome; `pending` if the topic has none (yet). */
export type ToldChange = Omit<AnnouncedChange, 'outcome'> & { readonly outcome: AuditOutcome | 'pending' }

/** Maximum announcements that wait for their outcome while the topic is read. */
const WAITING_MAX = 10_000

/**
 * Reads the changes of the topic, in the order of their outcomes; those without one come last. `onUnreadable` is called for each record that
 * this program cannot have written. Rejects as `Journal.scan` does.
 */
export async function* readAudit(
  journal: Pick<Journal, 'scan'>,
  topic: string,
  onUnreadable: () => void = () => undefined,
): AsyncGenerator<ToldChange> {
  const waiting = new Map<string, Map<number, AnnouncedChange>>()
  for await (const { value } of journal.scan(topic)) {
    const record = decodeAudit(value)
    if (record === undefined) {
      onUnreadable()
    } else if (record.outcome === 'pending') {
      const together = waiting.get(record.id) ?? new Map<number, AnnouncedChange>()
      waiting.set(record.id, together.set(record.index, record))
      const [oldest] = waiting
      if (waiting.size <= WAITING_MAX || oldest === undefined) continue
      waiting.delete(oldest[0])
      yield* oldest[1].values()
    } else {
      for (const change of waiting.get(record.id)?.values() ?? []) yield { ...change, outcome: record.outcome }
      waiting.delete(record.id)
    }
  }
  for (const together of waiting.values()) yield* together.values()
}
