import { type Checked, type Problem, problem, refuse } from '../../shared/contract/errors.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Validators } from '../schemas/validate.ts'
import type { Admit, Admitted } from './admit.ts'
import type { Dialect } from './replies.ts'
import type { Received, RequestContextOf } from './request.ts'

/**
 * Most entries of a request in a format whose clients choose the size of their batches by their own defaults: a Collector's is
 * 8,192 records, Serilog's 1,000 events. It is also the most that MAX_BATCH_ENTRIES can be.
 */
export const FOREIGN_ENTRIES_MAX = 10_000

/** Dependencies and limits of the checks of every endpoint. */
export interface CheckDeps {
  readonly registry: Registry
  /** Whether the registry is folded up to its end; until then nobody can be told that something is not there. */
  readonly registryReady: () => boolean
  readonly validators: Validators
  readonly contextOf: RequestContextOf
  readonly admit: Admit
  /** Most bytes of an entry as its record. */
  readonly entryBytesMax: number
  /** Most entries of a batch in the format of the specification. */
  readonly batchEntriesMax: number
  /** Whether a level that names none is replaced by Information, and kept beside it, instead of being refused. */
  readonly replaceInvalidLevel: boolean
  /** Names of resource attributes that are kept beside the usual ones; they may end in `.*`. */
  readonly resourceAttributes: readonly string[]
}

/** Judges a request for one entry. */
export type Check = (received: Received) => Checked<Admitted>

/** The entries of a batch, each judged by itself when it is asked for. */
export interface Entries {
  /** The id of the Team that sends them. */
  readonly team: string
  readonly count: number
  check(index: number): Checked<Admitted>
  /** How these are answered, where that is not as the endpoint answers all others. */
  readonly dialect?: Dialect | undefined
}

/** Judges a batch but for its entries. */
export type BatchCheck = (received: Received) => Checked<Entries>

/**
 * Refuses an archived thing as if it were not there, which is all that a foreign key learns. A key of its Team is told why; `what` names
 * the kind of the thing.
 */
export function refuseArchived(
  code: 'entity_not_found' | 'project_not_found',
  what: string,
  isOwner: boolean,
): { readonly problem: Problem } {
  const message = `This ${what} is archived and takes no more logs. Restore it in the Team's settings, or send to another.`
  return isOwner ? { problem: { ...problem(code), message } } : refuse(code)
}

export const refuseUntilReady = () =>
  refuse('server_error', { outcome: 'not_written' }, 'The registry is still being read.')
