import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Checked, type ErrorCode, type Problem, problem } from '../../shared/contract/errors.ts'
import { answerJson, retryHeaders } from '../../shared/http/answer.ts'
import {
  type Body,
  type BodyReader,
  type BodySource,
  type Content,
  type Decode,
  GONE,
  isLong,
  type ReadBody,
  refusedBodyHeaders,
  type Unwrap,
} from '../../shared/http/body.ts'
import { isForRoom } from '../../shared/http/body-bytes.ts'
import { type Cooperative, runSteps, type Steps } from '../../shared/runtime/cooperative.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { RecordRefusals } from '../refusals/recorder.ts'
import type { IngestHandler, IngestMetrics } from './handlers.ts'
import type { Dialect, Reply } from './replies.ts'

/** The form in which an endpoint takes bodies. */
export interface BodyFormat<Kind extends Content = string, Source extends BodySource = IncomingMessage> {
  /** Why a body is not read, by what its request says of it; undefined where it is. */
  readonly refusal: (request: Source) => Problem | undefined
  /** Left out: nothing is around the content. */
  readonly unwrap?: Unwrap
  readonly decode: Decode<Kind>
  readonly parse: (body: Body<Kind>) => Steps<Checked<unknown>>
}

/** Puts an answer on the wire. */
export type SendReply<Response> = (
  response: Response,
  reply: Reply,
  status: number,
  headers: OutgoingHttpHeaders,
) => void

/** As HTTP/1.1 has it. */
export const sendResponse: SendReply<ServerResponse> = (response, { body }, status, headers) =>
  answerJson(response, status, body, headers)

export interface EndpointDeps<Kind extends Content, Source extends BodySource, Response> {
  readonly read: BodyReader<Kind, Source>
  readonly send: SendReply<Response>
  readonly parse: BodyFormat<Kind>['parse']
  readonly cooperative: Cooperative
  readonly dialect: Dialect
  readonly ingestMetrics: IngestMetrics
  readonly recordRefusals: RecordRefusals
  readonly logger: Logger
}

/** Failures of the transport have their real status, as the specification says nothing of them. */
const TRANSPORT: ReadonlySet<ErrorCode> = new Set([
  'malformed_json',
  'malformed_body',
  'payload_too_large',
  'request_timeout',
  'unsupported_media_type',
])

/** A request of so many steps is worked off at once, others in slices: a short body can hold thousands of entries. */
const STEPS_AT_ONCE = 256

/** A request that was refused before it was worked off, with as much of its body as was read. */
interface Refused {
  readonly refused: Problem
  readonly content: Content | undefined
}

/** One ingestion endpoint: reads the body once, has it worked off and answers. */
export function createEndpoint<Kind extends Content, Source extends BodySource, Response>(
  handle: IngestHandler,
  deps: EndpointDeps<Kind, Source, Response>,
): (request: Source, response: Response) => Promise<void> {
  const { read, send, parse, cooperative, dialect, ingestMetrics, recordRefusals, logger } = deps

  function refuse(request: Source, response: Response, { refused, content }: Refused): void {
    ingestMetrics.requestRefused(refused.code)
    if (isForRoom(refused)) ingestMetrics.limited('body_buffer')
    const { headers } = request
    recordRefusals({ headers, content }, [{ problem: refused }])
    const reply = dialect.failed(refused)
    const status = TRANSPORT.has(refused.code) ? reply.strictStatus : dialect.statusOf(reply, headers)
    send(response, reply, status, { ...refusedBodyHeaders(refused, request), ...dialect.headers })
  }

  function answer(response: Response, reply: Reply, sent: IncomingHttpHeaders): void {
    const retry = retryHeaders(reply.retryAfterSeconds)
    const headers = dialect.headers === undefined ? retry : { ...retry, ...dialect.headers }
    send(response, reply, dialect.statusOf(reply, sent), headers)
  }

  function replyToFault(err: unknown): Reply {
    logger.error({ err }, 'an ingestion request failed')
    ingestMetrics.requestRefused('server_error')
    return dialect.failed(problem('server_error', { outcome: 'unknown' }, 'The gateway failed.'))
  }

  function* handleBody(headers: IncomingHttpHeaders, body: Body<Kind>): Steps<Promise<Reply | Refused>> {
    const { content, contentBytes, memory } = body
    try {
      const { value: json, problem: refused } = yield* parse(body)
      if (refused !== undefined) return Promise.resolve({ refused, content })
      return yield* handle({ headers, json, content, contentBytes })
    } finally {
      memory.release()
    }
  }

  function begin(headers: IncomingHttpHeaders, body: Body<Kind>): Promise<Reply | Refused> {
    try {
      const steps = handleBody(headers, body)
      if (isLong(body.content)) return cooperative.run(body.owner, steps)
      const { done, value } = runSteps(steps, STEPS_AT_ONCE)
      return done ? value : cooperative.run(body.owner, steps)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  // Not async: its frame, and with it the body, is gone when it returns.
  function answerTo(request: Source, response: Response, body: ReadBody<Kind>): Promise<void> | void {
    if (body === GONE) return
    if (body.problem !== undefined) return refuse(request, response, { refused: body.problem, content: body.text })
    const { headers } = request
    return begin(headers, body.value).then(
      (result) => ('refused' in result ? refuse(request, response, result) : answer(response, result, headers)),
      (error) => answer(response, replyToFault(error), headers),
    )
  }

  // Every promise between the journal's answer and ours is paid by each request: there are few, on purpose.
  return (request, response) =>
    read(request).then(
      (body) => answerTo(request, response, body),
      (error) => answer(response, replyToFault(error), request.headers),
    )
}
