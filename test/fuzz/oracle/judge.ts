import type { ErrorCode } from '../../../shared/contract/errors.ts'
import { responseOf, statusOf } from '../../support/otlp-protobuf.ts'
import type { Answer } from '../answer-parser.ts'
import type { Dialect, Draft } from '../draft.ts'
import { decoded } from './decoded.ts'
import { DIALECTS, type Verdict } from './dialects.ts'
import { type Failure, failureIn, failureProblems } from './envelope.ts'
import { invalidity } from './validity.ts'

/** Larger bodies are not parsed, as that would keep this side from sending. */
const PARSED_MAX = 1024 * 1024

/** Statuses of responses to bytes that are not a readable request. */
const UNREAD = [400, 408, 431, 505]

/** Checks one response against its request. */
export function judge(request: Draft, answer: Answer): Verdict {
  const verdict = verdictOf(request, answer)
  const more = [...goodRequestProblems(request, verdict), ...badRequestProblems(request, answer)]
  return { ...verdict, problems: [...verdict.problems, ...more] }
}

function verdictOf(request: Draft, answer: Answer): Verdict {
  const { method } = request
  const dialect = request.torn ? 'any' : request.dialect
  if (method === 'HEAD') {
    const hasBody = answer.bytes > 0 && !UNREAD.includes(answer.status)
    return { problems: hasBody ? ['an answer to HEAD has a body'] : serverFaults(request, answer) }
  }
  const isCut = answer.body.length < answer.bytes || (!answer.whole && dialect !== 'tail')
  if (isCut || answer.bytes > PARSED_MAX) return { problems: serverFaults(request, answer) }
  const body = decoded(answer)
  if (body === undefined) return { problems: ['the body is not compressed as its header says'] }
  const json = parsed(answer, body)
  if (json === UNREADABLE) return { problems: ['an answer is not of the type that it says'] }
  const failure = failureIn(json)
  if (failure !== undefined)
    return {
      failure,
      problems: [...serverFaults(request, answer, failure), ...refusalProblems(request, answer, failure)],
    }
  const own = DIALECTS[dialect]({ request, answer, body, json })
  return own.failure === undefined ? { ...own, problems: [...serverFaults(request, answer), ...own.problems] } : own
}

const UNREADABLE = Symbol('unreadable')

/** The JSON form of a body, also of a Protobuf one; undefined for other types. */
function parsed({ headers, status }: Answer, body: Buffer): unknown {
  const type = headers.get('content-type')?.join() ?? ''
  try {
    if (type === 'application/x-protobuf') return status === 200 ? responseOf(body) : statusOf(body)
    return /^application\/json/.test(type) && body.length > 0 ? JSON.parse(body.toString()) : undefined
  } catch {
    return UNREADABLE
  }
}

/**
 * A server error is acceptable if it is marked retryable. Exceptions: readiness is expressed by a status, and 505 concerns the request
 * line.
 */
function serverFaults({ dialect }: Draft, { status, headers }: Answer, failure?: Failure): readonly string[] {
  if (status < 500 || status === 505 || (status === 503 && dialect === 'health')) return []
  return status === 503 && (failure?.retryable ?? headers.has('retry-after')) ? [] : [`status ${status}`]
}

/** Refusals made before the dialect is known, and therefore in Sluice's own envelope. */
const BEFORE_DIALECT: readonly ErrorCode[] = [
  'malformed_request',
  'headers_too_large',
  'method_not_allowed',
  'not_found',
  'request_timeout',
  'expectation_failed',
  'http_version_not_supported',
]
/** Statuses that a refusal may have regardless of its code. */
const STATUSES: Readonly<Partial<Record<Dialect, readonly number[]>>> = {
  ingestion: [200],
  shipper: [200, 422],
  any: [200, 422],
}

function refusalProblems({ dialect }: Draft, answer: Answer, failure: Failure): readonly string[] {
  const foreign = dialect === 'otlp' && !BEFORE_DIALECT.includes(failure.code)
  return [
    ...(foreign ? [`${failure.code} came in our envelope, not as a google.rpc.Status`] : []),
    ...failureProblems(answer, failure, STATUSES[dialect] ?? []),
  ]
}

/** Mutations that do not change the meaning of a request. */
const HARMLESS: ReadonlySet<string> = new Set([
  'gzip',
  'deflate',
  'br',
  'zstd',
  'x-gzip',
  'chunked',
  'strict status',
  'Idempotency-Key',
])

/** Valid logs have to be accepted completely, or refused temporarily. */
function goodRequestProblems({ stores, mutations, torn }: Draft, { accepted, failure }: Verdict): readonly string[] {
  if (stores?.entries === undefined || torn || !mutations.every((name) => HARMLESS.has(name))) return []
  if (accepted !== undefined && 'count' in accepted && accepted.count !== stores.entries)
    return ['another number of entries was accepted than was sent']
  return failure !== undefined && !failure.retryable ? [`a good request was refused with ${failure.code}`] : []
}

/** An invalid request has to be refused, even if its meaning could be guessed. */
function badRequestProblems(request: Draft, { status }: Answer): readonly string[] {
  const why = status < 300 ? invalidity(request) : undefined
  return why === undefined ? [] : [`a request ${why} was taken`]
}
