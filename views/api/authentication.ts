import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ProblemError, problem } from '../../shared/contract/errors.ts'
import { presentedKey } from '../../shared/http/api-key.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import { unavailable } from './problems.ts'

export interface AuthenticationDeps {
  readonly registry: Registry
  /** Whether the registry is folded up to its end; until then nobody can be told that a key is wrong. */
  readonly registryReady: () => boolean
  /** The id of the Team that a request's session cookie was given to; asked only where no key is presented. */
  readonly teamOfSession?: (headers: IncomingHttpHeaders) => string | undefined
}

/** Whose request it is: the Team's id, and whether a key says so or the page's cookie. */
export interface Caller {
  readonly team: string
  readonly by: 'key' | 'session'
}

/** Throws `missing_api_key` or `invalid_api_key` where it is nobody's. */
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
