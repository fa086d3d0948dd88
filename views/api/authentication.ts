import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ProblemError, problem } from '../../shared/contract/errors.ts'
import { presentedKey } from '../../shared/http/api-key.ts'
import type { CoreServices } from '../../shared/role.ts'
import { unavailable } from './problems.ts'

export interface AuthenticationDeps extends Pick<CoreServices, 'registry' | 'registryReady'> {
  /** The id of the Team whose session cookie the request carries; consulted only when no key is presented. */
  readonly teamOfSession?: (headers: IncomingHttpHeaders) => string | undefined
}

/** The authenticated Team's id, and whether a key or the page's cookie authenticated it. */
interface Caller {
  readonly team: string
  readonly by: 'key' | 'session'
}

/** Throws `missing_api_key` or `invalid_api_key` when the request authenticates no Team. */
export function callerOf({ headers }: IncomingMessage, deps: AuthenticationDeps): Caller {
  const { registry, registryReady, teamOfSession } = deps
  const key = presentedKey(headers)
  const session = key === undefined ? teamOfSession?.(headers) : undefined
  if (key === undefined && session === undefined) throw new ProblemError(problem('missing_api_key'))
  if (!registryReady()) throw unavailable('The registry is still being read.')
  const team = key === undefined ? registry.team(session ?? '') : registry.teamOfKey(key)
  if (team === undefined)
    throw new ProblemError(problem('invalid_api_key', null, 'The key is not a live key of any Team.'))
  return { team: team.id, by: key === undefined ? 'session' : 'key' }
}
