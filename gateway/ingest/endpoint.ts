import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Checked, type ErrorCode, type Problem, ProblemError, problem } from '../../shared/contract/errors.ts'
import { answerJson, retryHeaders, setReason } from '../../shared/http/answer.ts'
import {
  type Body,
  type BodyReader,
  type BodyReaderOptions,
  type BodySource,
  type Content,
  GONE,
  isLong,
  type ReadBody,
  refusedBodyHeaders,
} from '../../shared/http/body.ts'
import { NO_ROOM } from '../../shared/http/body-bytes.ts'
import { VALUE_BYTES, valuesIn } from '../../shared/http/json-pieces.ts'
import type { Cooperative, Steps } from '../../shared/runtime/cooperative.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { RecordRefusals, RefusedRequest } from '../refusals/recorder.ts'
import { type IngestHandler, type IngestMetrics, NO_ROOM_FOR_RECORDS } from './handlers.ts'
import type { Dialect, Reply } from './replies.ts'

/** The format of an endpoint's request bodies. */
export interface BodyFormat<Kind extends Content = string, Source extends BodySource = IncomingMessage>
  extends Pick<BodyReaderOptions<Kind, Source>, 'refusal' | 'unwrap' | 'decode'> {
  readonly parse: (body: Body<Kind>) => Steps<Checked<unknown>>
}

/** Sends an answer. */
export type SendReply<Response> = (
  response: Response,
  reply: Reply,
  status: number,
  headers: OutgoingHttpHeaders,
) => void

/** Sends an answer over HTTP/1.1. */
export const sendResponse: SendReply<ServerResponse> = (response, { body, reason }, status, headers) => {
  if (reason !== undefined && status !== STATUS_OK) setReason(response, reason)
  answerJson(response, status, body, headers)
}

const STATUS_OK = 200

interface EndpointDeps<Kind extends Content, Source extends BodySource, Response> {
  readonly read: BodyReader<Kind, Source>
  readonly send: SendReply<Response>
  readonly parse: BodyFormat<Kind>['parse']
  readonly cooperative: Cooperative
  readonly dialect: Dialect
  readonly ingestMetrics: IngestMetrics
  readonly recordRefusals: RecordRefusals
  readonly logger: Logger
}

/** Failures of the transport are answered with their real status, as the specification does not cover them. */
const TRANSPORT: ReadonlySet<ErrorCode> = new Set([
  'malformed_request',
  'malformed_json',
  'malformed_body',
  'payload_too_large',
  'request_timeout',
  'unsupported_media_type',
])

/**
 * Steps that a request runs at once, if the turn of the event loop has time left; the rest run in slices of time, as even a short body can
 * hold thousands of entries.
 */
const STEPS_AT_ONCE = 256

/** The refusal of a whole request, with as much of its body as was read. */
interface Refused extends Pick<RefusedRequest, 'json' | 'content'> {
  readonly refused: Problem
}

/** One ingestion endpoint: reads the body once, has it handled and answers. */
export function createEndpoint<Kind extends Content, Source extends BodySource, Response>(
  handle: IngestHandler,
  deps: EndpointDeps<Kind, Source, Response>,
): (request: Source, response: Response) => Promise<void> {
  const { read, send, parse, cooperative, dialect, ingestMetrics, recordRefusals, logger } = deps

  function refuse(request: Source, response: Response, { refused, json, content }: Refused): void {
    ingestMetrics.requestRefused(refused.code)
    if (refused === NO_ROOM.problem || refused === NO_ROOM_FOR_RECORDS) ingestMetrics.limited('body_buffer')
    const { headers } = request
    recordRefusals({ headers, json, content }, [{ problem: refused }])
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
    let json: unknown
    try {
      const parsed = yield* parse(body)
      if (parsed.problem !== undefined) return Promise.resolve({ refused: parsed.problem, content })
      json = parsed.value
      return yield* handle({ headers, json, content, contentBytes }, memory)
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return Promise.resolve({ refused: error.problem, json, content })
    } finally {
      memory.release()
    }
  }

  /**
   * Handles a short body at once, if the turn of the event loop has time for it. All others wait for their Team's turn: a short body that was
   * not begun apart from the long ones, behind which it could wait for seconds.
   */
  function begin(headers: IncomingHttpHeaders, body: Body<Kind>): Promise<Reply | Refused> {
    try {
      const { owner, content, memory } = body
      const steps = handleBody(headers, body)
      if (isLong(content)) return cooperative.run(owner, steps)
      const begun = cooperative.begin(steps, STEPS_AT_ONCE)
      if (begun === undefined) return cooperative.run(owner, steps, 'short')
      if (begun.done) return begun.value
      // The values of a body with many entries stay in memory until its turn comes; the reader of a binary format has counted them already.
      if (typeof content !== 'string' || memory.hold(valuesIn(content) * VALUE_BYTES))
        return cooperative.run(owner, steps)
      const noRoom = Promise.resolve({ refused: NO_ROOM.problem })
      steps.return(noRoom)
      return noRoom
    } catch (error) {
      return Promise.reject(error)
    }
  }

  // Not async: an async frame would keep the body alive until the answer is sent.
  function answerTo(request: Source, response: Response, body: ReadBody<Kind>): Promise<void> | void {
    if (body === GONE) return
    if (body.problem !== undefined) return refuse(request, response, { refused: body.problem, content: body.text })
    const { headers } = request
    return begin(headers, body.value).then(
      (result) => ('refused' in result ? refuse(request, response, result) : answer(response, result, headers)),
      (error) => answer(response, replyToFault(error), headers),
    )
  }

  // Every request pays for each promise between the journal's answer and ours, so there are few on purpose.
  return (request, response) =>
    read(request).then(
      (body) => answerTo(request, response, body),
      (error) => answer(response, replyToFault(error), request.headers),
    )
}
