import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type Problem, problem } from '../shared/errors.ts'
import { answerJson, retryHeaders } from '../shared/http/answer.ts'
import { GONE, type JsonReader, type ReadJson, refusedBodyHeaders } from '../shared/http/body.ts'
import type { Handler } from '../shared/http/listener.ts'
import type { Logger } from '../shared/logger.ts'
import type { Received } from './received.ts'
import type { NoteOfEndpoint } from './refusals/notes.ts'
import type { Dialect, Reply } from './replies.ts'
import type { Tally } from './tally.ts'

/**
 * Works off a request whose body was read; what it throws is a fault of ours. It does not keep the body alive while it waits:
 * under load, requests that wait for the journal are what fills the memory.
 */
export type Work = (received: Received) => Promise<Reply>

export interface EndpointDeps {
  readonly readJson: JsonReader
  readonly dialect: Dialect
  readonly tally: Tally
  readonly note: NoteOfEndpoint
  readonly logger: Logger
}

/** One ingestion endpoint: reads the body once, has it worked off and answers. */
export function createEndpoint(work: Work, { readJson, dialect, tally, note, logger }: EndpointDeps): Handler {
  /** A failure of the transport has its real status; one of the service, as that there is no room, that of any other reply. */
  function refuse(request: IncomingMessage, response: ServerResponse, cause: Problem, text: string | undefined): void {
    tally.requestRefused(cause.code)
    note({ headers: request.headers, text }, [{ problem: cause }])
    const reply = dialect.failed(cause)
    const status = cause.code === 'server_error' ? dialect.statusOf(reply, request.headers) : reply.strictStatus
    answerJson(response, status, reply.body, { ...refusedBodyHeaders(cause, request), ...dialect.headers })
  }

  function answer(response: ServerResponse, reply: Reply, sent: IncomingHttpHeaders): void {
    const retry = retryHeaders(reply.retryable)
    const headers = dialect.headers === undefined ? retry : { ...retry, ...dialect.headers }
    answerJson(response, dialect.statusOf(reply, sent), reply.body, headers)
  }

  function replyToFault(err: unknown): Reply {
    logger.error({ err }, 'an ingestion request failed')
    tally.requestRefused('server_error')
    return dialect.failed(problem('server_error', { outcome: 'unknown' }, 'The gateway failed.'))
  }

  function begin(received: Received): Promise<Reply> {
    try {
      return work(received)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  // Not async: its frame, and with it the body, is gone when it returns.
  function answerTo(request: IncomingMessage, response: ServerResponse, read: ReadJson): Promise<void> | void {
    if (read === GONE) return
    if (read.problem !== undefined) return refuse(request, response, read.problem, read.text)
    const { headers } = request
    return begin({ headers, ...read.value }).then(
      (reply) => answer(response, reply, headers),
      (error) => answer(response, replyToFault(error), headers),
    )
  }

  // Every promise between the journal's answer and ours is paid by each request: there are few, on purpose.
  return (request, response) => readJson(request).then((read) => answerTo(request, response, read))
}
