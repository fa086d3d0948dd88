import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
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

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: OutgoingHttpHeaders
}

/** One ingestion endpoint: reads the body once, has it worked off and answers. */
export function createEndpoint(work: Work, { readJson, dialect, tally, note, logger }: EndpointDeps): Handler {
  /** A failure of the transport has its real status; one of the service, as that there is no room, that of any other reply. */
  function refuse(request: IncomingMessage, cause: Problem, text: string | undefined): Answer {
    tally.requestRefused(cause.code)
    note({ headers: request.headers, text }, [{ problem: cause }])
    const reply = dialect.failed(cause)
    const status = cause.code === 'server_error' ? dialect.statusOf(reply, request.headers) : reply.strictStatus
    return { status, body: reply.body, headers: { ...refusedBodyHeaders(cause, request), ...dialect.headers } }
  }

  // Every `await` and every promise between the journal's answer and ours is paid by each request: there are few, on purpose.
  const settle = (replying: Promise<Reply>, headers: IncomingHttpHeaders): Promise<Answer> =>
    replying.then(
      (reply) => answerOf(reply, headers),
      (error) => answerOf(replyToFault(error), headers),
    )

  const answerOf = (reply: Reply, headers: IncomingHttpHeaders): Answer => ({
    status: dialect.statusOf(reply, headers),
    body: reply.body,
    headers:
      dialect.headers === undefined
        ? retryHeaders(reply.retryable)
        : { ...retryHeaders(reply.retryable), ...dialect.headers },
  })

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
  function answerTo(request: IncomingMessage, read: ReadJson): Promise<Answer> | Answer | typeof GONE {
    if (read === GONE) return GONE
    if (read.problem !== undefined) return refuse(request, read.problem, read.text)
    const { headers } = request
    return settle(begin({ headers, ...read.value }), headers)
  }

  return (request, response) =>
    readJson(request)
      .then((read) => answerTo(request, read))
      .then((answer) => {
        if (answer !== GONE) answerJson(response, answer.status, answer.body, answer.headers)
      })
}
