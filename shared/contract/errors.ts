/**
 * Every way in which Sluice refuses something. The code is machine-readable and stable; `message` is the default sentence (the place that
 * refuses may say more), `remedy` tells the sender what to change. Codes of the specification (7.1, 7.2) come first. docs/errors.md has the
 * same table, and a test compares the two.
 */
const CATALOGUE = {
  missing_api_key: {
    status: 401,
    message: 'The X-API-Key header is missing or empty.',
    remedy: 'Send the Team key as `X-API-Key: <key>` or `Authorization: Bearer <key>`.',
  },
  missing_identifier: {
    status: 400,
    message: 'uniqueIdentifier is missing or empty.',
    remedy: 'Send the identifier of an Event or a Step.',
  },
  missing_payload: {
    status: 400,
    message: 'payload is missing or empty.',
    remedy: 'Send the log content as a string, plain or serialised JSON.',
  },
  invalid_log_level: {
    status: 400,
    message: 'level is not a recognized log level.',
    remedy: 'Send one of Trace, Debug, Information, Warning, Error, Critical, in any case.',
  },
  entity_not_found: {
    status: 404,
    message: 'No Event or Step has this uniqueIdentifier.',
    remedy: 'Check the spelling (case matters) or register the Event or Step first.',
  },
  team_not_found: {
    status: 500,
    message: 'The Team of this Event or Step cannot be found.',
    remedy: 'An operator has to restore the Team in the registry.',
  },
  invalid_api_key: {
    status: 403,
    message: 'The key is not one of the keys of the Team that owns the target.',
    remedy: 'Use a live key of the Team that owns the Event, Step or Project.',
  },
  missing_project_id: {
    status: 400,
    message: 'uniqueIdentifier is missing or empty.',
    remedy: "Send the Project's id, a GUID.",
  },
  invalid_project_id: {
    status: 400,
    message: 'uniqueIdentifier is not a GUID.',
    remedy: 'Send a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301, as a string and without blanks around it.',
  },
  project_not_found: {
    status: 404,
    message: 'No Project has this uniqueIdentifier.',
    remedy: 'Check the GUID or register the Project first.',
  },
  invalid_team_config: {
    status: 403,
    message: "The Project's Team has no key configured.",
    remedy: 'An operator has to issue a key: `sluice registry rotate-key TEAM`.',
  },
  server_error: {
    status: 503,
    retryable: true,
    message: 'The entry could not be stored.',
    remedy: 'Send the same request again after the time in Retry-After.',
  },
  missing_category_name: {
    status: 400,
    message: 'categoryName is missing or empty.',
    remedy: 'Send the category, usually the name of the logger or class.',
  },
  missing_message: {
    status: 400,
    message: 'message is missing or empty.',
    remedy: 'Send the log message as a string.',
  },
  missing_log_entries: {
    status: 400,
    message: 'logEntries is missing or empty.',
    remedy: 'Send an array with at least one entry.',
  },
  batch_too_large: {
    status: 413,
    message: 'The batch has too many entries.',
    remedy: 'Split the batch.',
  },
  invalid_request: {
    status: 400,
    message: 'The request has fields that cannot be accepted.',
    remedy: 'Correct each field named in the message; details list them by JSON pointers.',
  },
  // `refuseTimestamp` (gateway/ingest/fields.ts) says the same, with the text that was received.
  invalid_timestamp: {
    status: 400,
    message:
      'timestamp is not a date and time from 1970 to 2261 in the extended format of ISO 8601, with at most 9 digits of a second.',
    remedy: 'Send a time such as 2026-01-31T09:30:00.123Z, or leave timestamp out.',
  },
  entry_too_large: {
    status: 413,
    message: 'The entry is too large.',
    remedy:
      'Shorten its largest field, which details.largest names; details.limit is the most bytes that its record may have.',
  },
  malformed_json: {
    status: 400,
    message: 'The body is not JSON in UTF-8.',
    remedy: 'Send JSON in UTF-8: one object, or a list or lines of objects where the path takes them.',
  },
  malformed_body: {
    status: 400,
    message: 'The body cannot be decompressed or decoded.',
    remedy: 'Compress the body as Content-Encoding says, or send it uncompressed.',
  },
  malformed_request: {
    status: 400,
    message: 'The request is not valid HTTP.',
    remedy: 'Check the request line, the headers and the chunks of the body.',
  },
  http_version_not_supported: {
    status: 505,
    message: 'This version of HTTP is not spoken here.',
    remedy: 'Send the request as HTTP/1.1.',
  },
  expectation_failed: {
    status: 417,
    message: 'The Expect header asks for something that is not known here.',
    remedy: 'Leave it out, or send `Expect: 100-continue`.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The content type or encoding is not supported.',
    remedy: 'Send application/json in UTF-8, plain or compressed with gzip, deflate, br or zstd.',
  },
  method_not_allowed: {
    status: 405,
    message: 'The path does not take this method.',
    remedy: 'Use a method named in the Allow header.',
  },
  not_found: {
    status: 404,
    message: 'There is nothing here.',
    remedy: 'Check the path; /docs lists all paths.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body is too large.',
    remedy: 'Send less in one request.',
  },
  headers_too_large: {
    status: 431,
    message: 'The address and the headers are too large.',
    remedy: 'Send a shorter address, or fewer or shorter headers: 16 KiB in all.',
  },
  conflict: {
    status: 409,
    message: 'The change does not fit what is there.',
    remedy: 'Look at what is there now and change the request.',
  },
  cross_origin: {
    status: 403,
    message: 'The request was not sent by a page of this origin.',
    remedy: "Send it from Sluice's own page, or authenticate it with a key instead of the cookie.",
  },
  too_many_attempts: {
    status: 429,
    retryable: true,
    message: 'Too many sign-ins failed.',
    remedy: 'Try again after the time in Retry-After.',
  },
  rate_limited: {
    status: 429,
    retryable: true,
    message: 'Too many requests of this kind.',
    remedy: 'Try again after the time in Retry-After.',
  },
  query_too_expensive: {
    status: 422,
    message: 'The query needs more time or memory than a read may use.',
    remedy: 'Narrow it: a shorter range, fewer or rarer words, or a field such as level, category or correlationKey.',
  },
  request_timeout: {
    status: 408,
    retryable: true,
    message: 'The body did not arrive in time.',
    remedy: 'Send the request again, faster.',
  },
} satisfies Record<string, ErrorInfo>

interface ErrorInfo {
  /**
   * The HTTP status. The read API and transport failures always use it; the ingestion endpoints of the specification answer 200 (4.1)
   * unless the client sends `X-Strict-Status: true`.
   */
  readonly status: number
  /** Whether the same request may succeed later. */
  readonly retryable?: true
  readonly message: string
  readonly remedy: string
}

export type ErrorCode = keyof typeof CATALOGUE
export const ERRORS: Readonly<Record<ErrorCode, ErrorInfo>> = CATALOGUE

export const STATUS = Object.fromEntries(
  Object.entries(CATALOGUE).map(([code, { status }]) => [code, status]),
) as Readonly<Record<ErrorCode, number>>

/** A refusal as in the response envelope (specification 4.1); `details` is null if there is nothing to add. */
export interface Problem {
  readonly code: ErrorCode
  readonly message: string
  readonly details: unknown
  readonly retryable: boolean
}

/** A refusal with the sentences of ERRORS; `message` replaces the first one if the caller has a more precise one. */
export function problem(code: ErrorCode, details: unknown = null, message?: string): Problem {
  const info = ERRORS[code]
  return { code, message: `${message ?? info.message} ${info.remedy}`, details, retryable: info.retryable ?? false }
}

/** A refusal with a message of its own that also says what to change, where the sentences of ERRORS do not fit the sender. */
export const problemSaying = (code: ErrorCode, message: string, details: unknown = null): Problem => ({
  ...problem(code, details),
  message,
})

/** A value, or the problem that takes its place: refusals are values, so that no caller can forget them. */
export type Checked<Value> =
  | { readonly value: Value; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: Problem }

/** A refusal as a result, with the same arguments as `problem`. */
export const refuse = (
  code: ErrorCode,
  details: unknown = null,
  message?: string,
): { readonly value?: undefined; readonly problem: Problem } => ({ problem: problem(code, details, message) })

/** A field or parameter that cannot be accepted, and what is expected there. */
export interface Offender {
  /** A JSON pointer (RFC 6901) into the entry or body, empty for all of it; or the name of a parameter. */
  readonly path: string
  readonly message: string
}

/** Refuses an entry or a request for these fields. The message has what the details have, as many senders see nothing else. */
export const refuseFields = (offenders: readonly Offender[]): { readonly problem: Problem } => ({
  problem: problemSaying(
    'invalid_request',
    `Correct what cannot be accepted: ${offenders.map(({ path, message }) => `${path || 'it'} ${message}.`).join(' ')}`,
    offenders,
  ),
})

/** Thrown when a request cannot continue; carries the answer to its sender. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem

  constructor(cause: Problem) {
    super(cause.message)
    this.problem = cause
  }
}
