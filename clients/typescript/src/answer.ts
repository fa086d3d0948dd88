/** A complete HTTP response. */
export interface Answer {
  /** 0 if a browser hides a redirect. */
  readonly status: number
  readonly text: string
  readonly retryAfter: string | null
  readonly location: string | null
}

/** The error with which the server refused an entry, or a whole request. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly details: unknown
}

/** A refused entry of a batch. */
interface RefusedEntry extends Problem {
  /** Its index in the batch, from 0. */
  readonly index: number
}

/** The outcome of a request. */
export type Outcome =
  /** Every entry is stored, except the `rejected` ones, which never will be; the server lists the first 100 of them. */
  | { readonly kind: 'settled'; readonly rejected: number; readonly errors: readonly RefusedEntry[] }
  /** Nothing was stored, and repeating the request would change nothing. `tooLarge`: a part of it may be accepted. */
  | { readonly kind: 'refused'; readonly problem: Problem; readonly tooLarge: boolean }
  /** The whole request is to be repeated, after `afterMs` at the earliest. `unsent`: certainly nothing of it was stored. */
  | { readonly kind: 'again'; readonly cause: string; readonly afterMs: number; readonly unsent: boolean }

interface ListedEntry extends RefusedEntry {
  readonly retryable?: boolean
}

/** The parts of the server's response envelope that the client reads. */
interface Envelope {
  readonly success: boolean
  readonly data?: { readonly rejected?: number; readonly errors?: readonly ListedEntry[] } | null
  readonly error?: Problem & { readonly retryable?: boolean }
}

interface FailureDetails {
  readonly rejected?: number
  readonly errors?: readonly ListedEntry[]
  readonly outcome?: string
}

const TOO_LARGE: ReadonlySet<string> = new Set(['batch_too_large', 'payload_too_large'])

/** Temporary 4xx statuses of intermediaries: during a restart, a proxy may also answer 404. */
const PASSING: ReadonlySet<number> = new Set([404, 408, 425, 429])

/** Classifies a response. Only Sluice, or an intermediary with a permanent status, can refuse for good; anything else is retried. */
export function judge(answer: Answer): Outcome {
  const envelope = envelopeOf(answer.text)
  if (envelope === undefined) return judgeForeign(answer)
  const { success, data, error } = envelope
  const details: FailureDetails = (success ? data : (error?.details as object)) ?? {}
  const { errors = [], rejected = errors.length } = details
  // Beyond the first 100 refused entries, only the header tells whether some may be retried.
  const isRetryable =
    errors.some(({ retryable }) => retryable === true) ||
    (answer.retryAfter !== null && (!success || rejected > errors.length))
  const problem = error ?? { code: 'server_error', message: 'Some entries were not confirmed.', details: null }
  if (isRetryable || (!success && (error?.retryable ?? problem.code === 'server_error')))
    return again(`${problem.code}: ${problem.message}`, answer, !success && isUnsent(problem.code, errors, details))
  if (success || errors.length > 0) return { kind: 'settled', rejected, errors }
  return { kind: 'refused', problem, tooLarge: TOO_LARGE.has(problem.code) }
}

/** Every refusal of a whole request, such as `rate_limited`, comes before anything is written; only a `server_error` has an outcome. */
const isUnsent = (code: string, errors: readonly ListedEntry[], { outcome }: FailureDetails): boolean =>
  outcome === 'not_written' || (errors.length === 0 && code !== 'server_error')

function envelopeOf(text: string): Envelope | undefined {
  try {
    const value = JSON.parse(text)
    const { success, data, error } = value ?? {}
    const isOurs = success === true ? data instanceof Object : success === false && typeof error?.code === 'string'
    return isOurs && isReadable(success ? data : error.details) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether the part of an answer that can list refused entries does so as Sluice does. */
function isReadable(details: unknown): boolean {
  const { rejected = 0, errors = [] }: { rejected?: unknown; errors?: unknown } = details ?? {}
  return typeof rejected === 'number' && Array.isArray(errors) && errors.every((one) => one instanceof Object)
}

/** Maximum length of the excerpt of a foreign response in a report. */
const EXCERPT_CHARACTERS = 200

/** Classifies a response that is not from Sluice, but from a proxy, a firewall or another service at this address. */
function judgeForeign(answer: Answer): Outcome {
  const { status, text, location } = answer
  const isRedirection = status === 0 || (status >= 300 && status < 400)
  const refused = (message: string): Outcome => ({
    kind: 'refused',
    problem: { code: `http_${status}`, message, details: null },
    tooLarge: status === 413,
  })
  if (isRedirection) return refused(`The address redirects to ${location ?? 'another'}: set that one as url.`)
  const excerpt = text.slice(0, EXCERPT_CHARACTERS).trim()
  const message = `The answer is not one of Sluice: status ${status}, ${JSON.stringify(excerpt)}.`
  return status < 400 || status >= 500 || PASSING.has(status) ? again(message, answer) : refused(message)
}

const again = (cause: string, { retryAfter }: Answer, unsent = false): Outcome => ({
  kind: 'again',
  cause,
  afterMs: retryAfterMs(retryAfter, Date.now()),
  unsent,
})

/** Upper limit for `Retry-After`: ten minutes. */
const RETRY_AFTER_MAX_MS = 600_000

/** Milliseconds to wait according to `Retry-After` (RFC 9110, 10.2.3: seconds or a date); 0 if it is absent or invalid. */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0
  const date = /^\s*[A-Za-z]+, /.test(header) ? Date.parse(header) : Number.NaN
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1_000 : date - now
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS)
}
