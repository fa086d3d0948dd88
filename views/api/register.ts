import type { IncomingMessage, ServerResponse } from 'node:http'
import { type IRouter, type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express'
import { type Problem, problem } from '../../shared/contract/errors.ts'
import { parametersOf } from '../../shared/http/listener.ts'
import { serveReads } from '../../shared/http/method-not-allowed.ts'
import {
  type LogStoreReader,
  ReadNotBegunError,
  ReadTooLargeError,
  TailCursorError,
} from '../../shared/log-store/log-store.ts'
import type { BaseServices } from '../../shared/role.ts'
import type { Config } from '../../shared/runtime/config.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { isTimeout } from '../../shared/runtime/waiting.ts'
import type { RefusalsReader } from '../refusals/ring.ts'
import { type AuthenticationDeps, callerOf } from './authentication.ts'
import type { Call, Route, TailSettings, Tools } from './call.ts'
import { createLearntWaits } from './flow-waits.ts'
import { createNames } from './names.ts'
import { readParameters, refuseOtherEncodings } from './parameters.ts'
import { answerFailure, createStoreCheck, invalidParameters, problemOf, unavailable } from './problems.ts'
import { createReadGate, type ReadGate, waitedTooLong } from './read-gate.ts'
import { ROUTES } from './routes.ts'
import { ANSWER_HEADERS, answerRead, signalOf } from './send-answer.ts'
import { createStreams } from './streams.ts'
import { TAIL_DEFAULTS } from './tail.ts'

export interface ViewsDeps extends AuthenticationDeps, Pick<BaseServices, 'clock' | 'logger' | 'metrics'> {
  readonly store: LogStoreReader
  readonly refusals: RefusalsReader
  readonly config: Pick<Config, 'READ_BUFFER_BYTES' | 'READ_DEADLINE_MS'>
  readonly tail?: Partial<TailSettings>
}

export interface Views {
  /** Bounds all reads of the process, including those of other parts. */
  readonly gate: ReadGate
  /** Ends every tail and accepts no more, so that a draining server does not wait for them. */
  closeTails(): void
}

/** Registers the read API on a router. Paths match in any case; requests for other paths are passed on. */
export function registerViews(router: IRouter, deps: ViewsDeps): Views {
  const { clock, logger, store, metrics, registry, refusals } = deps
  const streams = createStreams((open) => metrics.gauge('sluice_tail_streams').set(open))
  const gate = createReadGate(deps.config.READ_BUFFER_BYTES)
  metrics.gauge('sluice_read_bytes', () => gate.held)
  const tools: Tools = {
    clock,
    logger,
    store,
    registry,
    refusals,
    waits: createLearntWaits({ store, clock, logger, deadlineMs: deps.config.READ_DEADLINE_MS }),
    streams,
    gate,
    deadlineMs: deps.config.READ_DEADLINE_MS,
    tail: { ...TAIL_DEFAULTS, ...deps.tail },
  }
  const api = Router()
  for (const route of ROUTES) serveReads(api, route.path, handlerOf(route, deps, tools))
  const storeAnswers = createStoreCheck(store)
  api.use(async (error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const isDown = isTimeout(error) && !(await storeAnswers())
    answerError(isDown ? new Error('the log store does not answer') : error, response, logger)
  })
  router.use(api)
  return { gate, closeTails: () => streams.tails.close() }
}

const handlerOf =
  (route: Route, deps: ViewsDeps, tools: Tools): RequestHandler =>
  async (request, response) => {
    const { team } = callerOf(request, deps)
    refuseOtherEncodings(request.url)
    const { id, correlationKey, other } = request.params
    const call: Call = {
      team,
      subject: String(id ?? correlationKey ?? ''),
      other: String(other ?? ''),
      values: readParameters(parametersOf(request), route.parameters, tools.clock.now()),
      names: createNames(deps.registry, team),
      stillAuthorised: () => isStill(team, request, deps),
      request,
      response,
      signal: signalOf(response, 'stream' in route && request.method !== 'HEAD' ? null : tools.deadlineMs),
    }
    if (request.method === 'HEAD') return answerHead(route, call, tools)
    if ('stream' in route) return route.stream(call, tools)
    await answerRead(tools.gate, call, () => route.answer(call, tools))
  }

/** HEAD reports whether the resource exists, without the full read that GET needs. */
async function answerHead(route: Route, call: Call, tools: Tools): Promise<void> {
  const { probe = async () => undefined } = route
  const { release } = await tools.gate.run(call.team, call.signal, () => probe(call, tools))
  release()
  const headers = 'stream' in route ? route.headers(call, tools) : ANSWER_HEADERS
  call.response.writeHead(200, headers).end()
}

function isStill(team: string, request: IncomingMessage, deps: ViewsDeps): boolean {
  try {
    return callerOf(request, deps).team === team
  } catch {
    return false
  }
}

function answerError(error: unknown, response: ServerResponse, logger: Logger): void {
  if (response.headersSent) {
    if (!response.closed) logger.warn({ err: error }, 'a stream was cut')
    response.destroy()
    return
  }
  if (response.closed) return
  answerFailure(response, problemOf(error) ?? failureOf(error, logger))
}

function failureOf(error: unknown, logger: Logger): Problem {
  if (error instanceof TailCursorError)
    return invalidParameters([{ path: 'lastEventId', message: 'must be the id of an event of a tail' }]).problem
  if (error instanceof ReadNotBegunError) return waitedTooLong().problem
  if (error instanceof ReadTooLargeError || isTimeout(error)) return problem('query_too_expensive')
  logger.error({ err: error }, 'a read request failed')
  return unavailable('The log store could not answer.').problem
}
