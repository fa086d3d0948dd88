import { type Checked, type Problem, problem, refuse } from '../shared/errors.ts'
import type { Registry } from '../shared/registry/registry.ts'
import type { Admit, Admitted } from './admit.ts'
import type { Received } from './received.ts'
import type { RequestContextOf } from './request-context.ts'
import type { Validators } from './schemas/validate.ts'

/** What the checks of every endpoint work with. */
export interface CheckDeps {
  readonly registry: Registry
  /** Whether the registry is folded up to its end; until then nobody can be told that something is not there. */
  readonly registryReady: () => boolean
  readonly validators: Validators
  readonly contextOf: RequestContextOf
  readonly admit: Admit
}

/** Judges a request for one entry. */
export type Check = (received: Received) => Checked<Admitted>

/**
 * Refuses what is archived as if it were not there, which is all that a foreign key learns; a key of its Team is told why, by `what`
 * it is.
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
