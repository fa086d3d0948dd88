import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { type Problem, STATUS } from '../../shared/contract/errors.ts'
import { framed, GRPC_CODE, GRPC_TYPE, statusTrailers } from '../../shared/grpc/call.ts'
import { retryAfterOf } from '../../shared/http/answer.ts'
import { type Dialect, type RefusedEntry, type Reply, unconfirmedBatch } from '../ingest/replies.ts'

/** OTLP's clients retry after 429, 502, 503 and 504 only, so other retryable refusals are answered with 503. */
const RETRYABLE_STATUS = 503

/** `google.rpc.Code` for an HTTP status. */
const RPC_CODE: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 413: 8, 415: 3, 429: 8, 503: 14 }
const RPC_UNKNOWN = 2

/** Maximum kinds of refusal that an answer describes. */
const KINDS_MAX = 5

/** A `google.rpc.Status` with one `google.rpc.ErrorInfo`. */
interface Failure {
  readonly code: number
  readonly message: string
  readonly reason: string
  readonly metadata?: { readonly details: string }
  readonly retryAfterSeconds: number | undefined
}

/** An ExportLogsPartialSuccess. */
interface PartialSuccess {
  readonly rejectedLogRecords: number
  readonly errorMessage: string
}

/** An answer in an encoding, with its trailers. */
type EncodedAnswer = Pick<Reply, 'body' | 'trailers'>

/** The encoding of an answer's messages. */
interface Encoding {
  /** A media type without parameters, as clients compare it literally. */
  readonly contentType: string
  failure(failure: Failure): EncodedAnswer
  /** An ExportLogsServiceResponse; without `partial`, all records were accepted. */
  success(partial?: PartialSuccess): EncodedAnswer
}

export const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'
export const DOMAIN = 'sluice'

const JSON_ENCODING: Encoding = {
  contentType: 'application/json',
  failure: ({ code, message, retryAfterSeconds: _, ...info }) => ({
    body: JSON.stringify({ code, message, details: [{ '@type': ERROR_INFO, domain: DOMAIN, ...info }] }),
  }),
  success: (partial) => {
    if (partial === undefined) return { body: '{}' }
    // Protobuf's JSON encoding writes 64-bit integers as strings.
    const partialSuccess = { ...partial, rejectedLogRecords: String(partial.rejectedLogRecords) }
    return { body: JSON.stringify({ partialSuccess }) }
  },
}

const PROTOBUF_ENCODING: Encoding = {
  contentType: 'application/x-protobuf',
  failure: (failure) => ({ body: statusMessage(failure).finish() }),
  success: (partial) => ({ body: responseMessage(partial) }),
}

/** Clients accept a few kilobytes of trailers, so longer details are left out. */
const TRAILER_DETAILS_CHARACTERS_MAX = 1_024

const GRPC_ENCODING: Encoding = {
  contentType: GRPC_TYPE,
  failure: ({ metadata, ...failure }) => {
    const { reason, retryAfterSeconds } = failure
    const message = failure.message.replace(/Retry-After\.$/, 'RetryInfo.')
    const code = reason === 'unsupported_media_type' ? GRPC_CODE.unimplemented : failure.code
    const isShort = (metadata?.details.length ?? 0) <= TRAILER_DETAILS_CHARACTERS_MAX
    const status = statusMessage({ ...failure, code, message, ...(metadata !== undefined && isShort && { metadata }) })
    if (retryAfterSeconds !== undefined) addDetail(status, RETRY_INFO, retryInfo(retryAfterSeconds))
    return { body: '', trailers: statusTrailers(code, message, status.finish()) }
  },
  success: (partial) => ({ body: framed(responseMessage(partial)), trailers: statusTrailers(GRPC_CODE.ok) }),
}

function statusMessage({ code, message, reason, metadata }: Failure): BinaryWriter {
  const info = new BinaryWriter()
  inField(info, 1).string(reason)
  inField(info, 2).string(DOMAIN)
  if (metadata !== undefined) {
    inField(info, 3).fork()
    inField(info, 1).string('details')
    inField(info, 2).string(metadata.details).join()
  }
  const status = new BinaryWriter().tag(1, WireType.Varint).int32(code)
  return addDetail(inField(status, 2).string(message), ERROR_INFO, info)
}

function addDetail(status: BinaryWriter, type: string, detail: BinaryWriter): BinaryWriter {
  inField(status, 3).fork()
  inField(status, 1).string(type)
  return inField(status, 2).bytes(detail.finish()).join()
}

/** Says in gRPC what Retry-After says in HTTP. */
const retryInfo = (seconds: number): BinaryWriter =>
  inField(new BinaryWriter(), 1).fork().tag(1, WireType.Varint).int64(seconds).join()

function responseMessage(partial: PartialSuccess | undefined): Uint8Array {
  const response = new BinaryWriter()
  if (partial === undefined) return response.finish()
  inField(response, 1).fork().tag(1, WireType.Varint).int64(partial.rejectedLogRecords)
  return inField(response, 2).string(partial.errorMessage).join().finish()
}

/** Begins a length-delimited field. */
const inField = (writer: BinaryWriter, number: number): BinaryWriter => writer.tag(number, WireType.LengthDelimited)

/** OTLP's answers, in the encoding of the request. */
const answeredIn = ({ contentType, failure, success }: Encoding): Dialect => {
  /** Our code is the reason of the ErrorInfo. */
  function failed(cause: Problem): Reply {
    const { code, message, details, retryable } = cause
    const strictStatus = retryable && code !== 'rate_limited' ? RETRYABLE_STATUS : STATUS[code]
    const retryAfterSeconds = retryAfterOf(cause)
    const metadata = details === null ? {} : { metadata: { details: JSON.stringify(details) } }
    const rpcCode = RPC_CODE[strictStatus] ?? RPC_UNKNOWN
    const answer = failure({ code: rpcCode, message, reason: code, retryAfterSeconds, ...metadata })
    return { ...answer, reason: message, strictStatus, retryAfterSeconds }
  }

  /** Clients neither read which records were rejected nor resend a part, so one unconfirmed record fails the whole request. */
  function processed(total: number, refused: readonly RefusedEntry[]): Reply {
    const unconfirmed = unconfirmedBatch(total, refused)
    if (unconfirmed !== undefined) return failed(unconfirmed)
    const partial = { rejectedLogRecords: refused.length, errorMessage: summaryOf(refused) }
    return { ...(refused.length === 0 ? success() : success(partial)), strictStatus: 200, retryAfterSeconds: undefined }
  }

  return {
    failed,
    processed,
    statusOf: ({ strictStatus }) => strictStatus,
    headers: { 'content-type': contentType },
  }
}

export const OTLP_IN_JSON: Dialect = answeredIn(JSON_ENCODING)
export const OTLP_IN_PROTOBUF: Dialect = answeredIn(PROTOBUF_ENCODING)
export const OTLP_IN_GRPC: Dialect = answeredIn(GRPC_ENCODING)

const NO_LOGS: PartialSuccess = {
  rejectedLogRecords: 0,
  errorMessage:
    'The request has no resourceLogs, so no log was stored. In JSON, the names of OTLP are in lowerCamelCase; this path takes no ' +
    'traces or metrics.',
}

/**
 * The dialect of the answer to a request in JSON whose members are no logs: the protocol wants them ignored, and a success without a word
 * would hide that.
 */
export const OTLP_WITHOUT_LOGS: Dialect = {
  ...OTLP_IN_JSON,
  processed: () => ({ ...JSON_ENCODING.success(NO_LOGS), strictStatus: 200, retryAfterSeconds: undefined }),
}

/** The kinds of refusal, each with its count and its first record. */
function summaryOf(refused: readonly RefusedEntry[]): string {
  const kinds = Map.groupBy(refused, ({ problem }) => kindOf(problem))
  const described = [...kinds.values()]
    .slice(0, KINDS_MAX)
    .flatMap(([first, ...others]) =>
      first === undefined ? [] : `${1 + others.length} with ${describe(first, others.length)}`,
    )
  const rest = kinds.size - described.length
  return rest > 0 ? `${described.join(' ')} And ${rest} more kinds of refusal.` : described.join(' ')
}

/** Refusals of one kind differ only in numbers, such as sizes. */
const kindOf = ({ code, message }: Problem): string => `${code}: ${message.replaceAll(/\d+/g, '0')}`

const describe = ({ index, problem: { code, message } }: RefusedEntry, others: number): string =>
  `${code} (${others > 0 ? 'first ' : ''}record ${index}): ${message}`
