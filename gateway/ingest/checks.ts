import { type Checked, type Problem, problemSaying, refuse } from '../../shared/contract/errors.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Validators } from '../schemas/validate.ts'
import type { Admit, Admitted } from './admit.ts'
import type { Dialect } from './replies.ts'
import type { Received, RequestContextOf } from './request.ts'

/**
 * Maximum entries per request in formats whose clients have default batch sizes of their own: 8,192 records in an OpenTelemetry Collector,
 * 1,000 events in Serilog. Also the upper limit of MAX_BATCH_ENTRIES.
 */
export const FOREIGN_ENTRIES_MAX = 10_000

/** Dependencies and limits of the checks of every endpoint. */
export interface CheckDeps {
  readonly registry: Registry
  /** Whether the registry has been read to its end; before that, nothing can be refused as unknown. */
  readonly registryReady: () => boolean
  readonly validators: Validators
  readonly contextOf: RequestContextOf
  readonly admit: Admit
  /** Maximum bytes of an entry's serialised record. */
  readonly entryBytesMax: number
  /** Maximum entries of a batch in the format of the specification. */
  readonly batchEntriesMax: number
  /** Whether an unknown level is replaced by Information, and kept beside it, instead of being refused. */
  readonly replaceInvalidLevel: boolean
  /** Names of resource attributes to keep in addition to the usual ones; they may end in `.*`. */
  readonly resourceAttributes: readonly string[]
}

/** Checks a request for one entry. */
export type Check = (received: Received) => Checked<Admitted>

/** The entries of a batch; each is checked on demand. */
export interface Entries {
  /** The id of the sending Team. */
  readonly team: string
  readonly count: number
  /** Throws a `ProblemError` if the entry shows that the whole request is to be refused. */
  check(index: number): Checked<Admitted>
  /** The dialect of the answer, if it differs from the endpoint's. */
  readonly dialect?: Dialect | undefined
}

/** Checks everything about a batch except its entries. */
export type BatchCheck = (received: Received) => Checked<Entries>

/**
 * Refuses an archived target as if it did not exist, so that a key of another Team learns nothing more. A key of its own Team (`isOwner`)
 * is told why; `what` is what it has to restore.
 */
export function refuseArchived(
  code: 'entity_not_found' | 'project_not_found',
  what: string,
  isOwner: boolean,
): { readonly problem: Problem } {
  const message = `${what} is archived and takes no more logs. Restore it in the Team's settings, or send to another.`
  return isOwner ? { problem: problemSaying(code, message) } : refuse(code)
}

export const refuseUntilReady = () =>
  refuse('server_error', { outcome: 'not_written' }, 'The registry is still being read.')
