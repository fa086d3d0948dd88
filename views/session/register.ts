import type { IncomingMessage, ServerResponse } from 'node:http'
import { type IRouter, type NextFunction, type Request, type Response, Router } from 'express'
import { ProblemError, problemSaying } from '../../shared/contract/errors.ts'
import { answerJson, successBody } from '../../shared/http/answer.ts'
import { createSmallJsonReader, GONE, refusedBodyHeaders } from '../../shared/http/body.ts'
import { answerMethodNotAllowed } from '../../shared/http/method-not-allowed.ts'
import type { Proxies } from '../../shared/http/proxies.ts'
import type { BaseServices } from '../../shared/role.ts'
import { steadyClock } from '../../shared/runtime/clock.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { answerFailure, invalidFields, unavailable } from '../api/problems.ts'
import { refusedCounts } from '../refusals/items.ts'
import type { RefusalsReader } from '../refusals/ring.ts'
import type { Session as SessionAnswer } from '../schemas/answers.ts'
import { countedAs, createAttempts } from './attempts.ts'
import { isSecure, sessionCookie } from './cookie.ts'
import { requireSameOrigin } from './same-origin.ts'
import { createSessions, type NewCookie, type Session, type Sessions, type SessionsDeps } from './sessions.ts'

interface SessionRoutesDeps extends SessionsDeps, Pick<BaseServices, 'logger' | 'metrics'> {
  readonly basePath: string
  readonly proxies: Proxies
  readonly refusals: RefusalsReader
}

/** The path at which the page signs in and out. */
const PATH = '/api/session'

/** A body with a key is small and arrives at once. */
const BODY_LIMITS = { bytesMax: 4_096, timeoutMs: 10_000 }

/**
 * Registers the session routes: `POST` signs in with a key, `GET` returns the session's Team and renews the cookie, `DELETE` signs out.
 * Returns the sessions, for handlers that need to authenticate a request.
 */
export function registerSession(router: IRouter, deps: SessionRoutesDeps): Sessions {
  const { logger, metrics, registryReady, basePath, proxies } = deps
  const sessions = createSessions(deps)
  const begin = createBegin(sessions, proxies, metrics)
  const logSignIn = createSignInLog(logger)
  const warnOfIgnored = createIgnoredWarning(proxies, logger)
  const readJson = createSmallJsonReader(BODY_LIMITS)
  const answer = (response: Response, session: Session | undefined): void =>
    answerJson(response, 200, successBody(shown(session, deps.refusals)), { 'cache-control': 'no-store' })
  const give = (request: IncomingMessage, response: ServerResponse, { value, maxAgeSeconds }: NewCookie): void => {
    response.setHeader(
      'set-cookie',
      sessionCookie(value, maxAgeSeconds, { basePath, secure: isSecure(request, proxies) }),
    )
  }

  async function signIn(request: Request, response: Response): Promise<void> {
    warnOfIgnored(request)
    requireSameOrigin(request, proxies)
    const body = await readJson(request)
    if (body === GONE) return
    if (body.problem !== undefined)
      return answerFailure(response, body.problem, refusedBodyHeaders(body.problem, request))
    const apiKey = keyIn(body.value)
    if (!registryReady()) throw unavailable('The registry is still being read.')
    const session = begin(request, apiKey)
    logSignIn(session)
    give(request, response, sessions.cookieOf(session))
    answer(response, session)
  }

  const routes = Router()
  routes
    .route(PATH)
    .get((request, response) => {
      if (!registryReady()) throw unavailable('The registry is still being read.')
      const session = sessions.read(request.headers)
      // Only here, as this is answered at once: any other answer may come after a sign-out at another process, and would undo it.
      const cookie = session && sessions.renewed(session)
      if (cookie !== undefined) give(request, response, cookie)
      answer(response, session)
    })
    .post(signIn)
    .delete((request, response) => {
      requireSameOrigin(request, proxies)
      give(request, response, { value: '', maxAgeSeconds: 0 })
      answer(response, undefined)
    })
    .all((_request, response) => answerMethodNotAllowed(response, 'GET, HEAD, POST, DELETE'))
  routes.use(PATH, (error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (error instanceof ProblemError) answerFailure(response, error.problem)
    else next(error)
  })
  router.use(routes)
  return sessions
}

/** Creates the function that begins a session with a key. It throws if the key is not live, or if its client has failed too often. */
function createBegin(sessions: Sessions, proxies: Proxies, metrics: Metrics) {
  const attempts = createAttempts(steadyClock)
  const outcomes = metrics.counter('sluice_sign_ins_total', { outcome: ['opened', 'refused', 'limited'] })
  return (request: Request, apiKey: string): Session => {
    const client = countedAs(proxies.clientOf(request))
    const waitMs = attempts.waitOf(client)
    if (waitMs > 0) {
      outcomes.inc({ outcome: 'limited' })
      throw tooManyAttempts(Math.ceil(waitMs / 1_000))
    }
    const session = sessions.begin(apiKey)
    outcomes.inc({ outcome: session === undefined ? 'refused' : 'opened' })
    if (session !== undefined) return session
    attempts.count(client)
    throw new ProblemError(
      problemSaying('invalid_api_key', 'This is not a live key of any Team. Check that it was copied whole.'),
    )
  }
}

/** Logs sign-ins, those of each Team as often as a client may fail: a program can sign in thousands of times a second. */
function createSignInLog(logger: Logger): (session: Session) => void {
  const lines = createAttempts(steadyClock)
  return ({ team, key }) => {
    if (lines.waitOf(team.id) > 0) return
    lines.count(team.id)
    logger.info({ team: team.id, key: key.prefix }, 'signed in')
  }
}

/** Creates the function that warns of the first request whose X-Forwarded headers are not believed. */
function createIgnoredWarning(proxies: Proxies, logger: Logger): (request: Request) => void {
  let isWarned = false
  return (request) => {
    if (isWarned || !proxies.ignores(request)) return
    isWarned = true
    logger.warn(
      'X-Forwarded headers are not believed; if a proxy of yours sends them, put its address into TRUSTED_PROXIES',
    )
  }
}

const tooManyAttempts = (seconds: number): ProblemError => {
  const message = `Too many attempts. Try again in ${seconds} s.`
  return new ProblemError(problemSaying('too_many_attempts', message, { retryAfterSeconds: seconds }))
}

/** The key in a body `{ "apiKey": "..." }`. */
function keyIn(json: unknown): string {
  const { apiKey } = (json ?? {}) as { apiKey?: unknown }
  if (typeof apiKey === 'string' && apiKey !== '') return apiKey
  throw invalidFields([{ path: '/apiKey', message: 'must be a key of the Team, a string' }])
}

const shown = (session: Session | undefined, refusals: RefusalsReader): SessionAnswer => ({
  team: session === undefined ? null : { id: session.team.id, name: session.team.name },
  keyPrefix: session?.key.prefix ?? null,
  refused: session === undefined ? null : refusedCounts(refusals, session.team.id),
})
