import { type Checked, refuse } from '../shared/errors.ts'
import type { Registry } from '../shared/registry/registry.ts'
import type { Admit, Admitted } from './admit.ts'
import type { ProvenanceOf } from './provenance.ts'
import type { Received } from './received.ts'
import type { Validators } from './schemas/validate.ts'

/** What the checks of every endpoint work with. */
export interface CheckDeps {
  readonly registry: Registry
  /** Whether the registry is folded up to its end; until then nobody can be told that something is not there. */
  readonly registryReady: () => boolean
  readonly validators: Validators
  readonly provenanceOf: ProvenanceOf
  readonly admit: Admit
}

/** Judges a request for one entry. */
export type Check = (received: Received) => Checked<Admitted>

export const refuseUntilReady = () =>
  refuse('server_error', { outcome: 'not_written' }, 'The registry is still being read.')
