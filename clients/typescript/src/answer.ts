/** An answer over HTTP, read to its end. */
export interface Answer {
  /** 0 where a browser hides a redirection. */
  readonly status: number
  readonly text: string
  readonly retryAfter: string | null
  readonly location: string | null
}

/** Why an entry, or a whole request, was refused, in the words of the server. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly details: unknown
}

/** An entry of a batch that was refused. */
export interface RefusedEntry extends Problem {
  /** Its place in the batch, from 0. */
  readonly index: number
}

/** The outcome of a request. */
export type Outcome =
  /** Each entry is stored, but for `rejected` that never will be; the server lists the first 100 of these. */
  | { readonly kind: 'settled'; readonly rejected: number; readonly errors: readonly RefusedEntry[] }
  /** Nothing of it is stored by this request, and sending it again would change nothing. `tooLarge`: a part of it may pass. */
  | { readonly kind: 'refused'; readonly problem: Problem; readonly tooLarge: boolean }
  /** All of it is to be sent again, after `afterMs` at the earliest. */
  | { readonly kind: 'again'; readonly cause: string; readonly afterMs: number; readonly unsent: boolean }

interface ListedEntry extends RefusedEntry {
  readonly retryable?: boolean
}

/** The envelope of the service, as far as it is read here. */
interface Envelope {
  readonly success: boolean
  readonly data?: { readonly rejected?: number; readonly errors?: readonly ListedEntry[] } | null
  readonly error?: Problem & { readonly retryable?: boolean }
}

interface BatchDetails {
  readonly rejected?: number
  readonly errors?: readonly ListedEntry[]
}

const TOO_LARGE: ReadonlySet<string> = new Set(['batch_too_large', 'payload_too_large'])

/** Statuses of others in front of the server that pass: while it starts anew, a proxy may answer 404 as well. */
const PASSING: ReadonlySet<number> = new Set([404, 408, 425, 429])

/** Judges the answer to a request. Only the server itself and what stands in front of it can refuse for good; all else is sent again. */
export function judge(answer: Answer): Outcome {
  const envelope = envelopeOf(answer.text)
  if (envelope === undefined) return judgeForeign(answer)
  const { success, data, error } = envelope
  const { errors = [], rejected = errors.length }: BatchDetails = (success ? data : (error?.details as object)) ?? {}
  // Of more than 100 refused entries the others are not listed: the header tells of them, too.
  const isRetryable = errors.some(({ retryable }) => retryable === true) || answer.retryAfter !== null
  const problem = error ?? { code: 'server_error', message: 'Some entries were not confirmed.', details: null }
  if (isRetryable || (!success && (error?.retryable ?? problem.code === 'server_error')))
    return again(`${problem.code}: ${problem.message}`, answer)
  if (success || errors.length > 0) return { kind: 'settled', rejected, errors }
  return { kind: 'refused', problem, tooLarge: TOO_LARGE.has(problem.code) }
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value?.success === 'boolean' && (value.success || typeof value.error?.code === 'string')
      ? value
      : undefined
  } catch {
    return undefined
  }
}

/** Most characters of a foreign answer that a report repeats. */
const EXCERPT_CHARACTERS = 200

/** Judges what does not come from the server: a proxy, a firewall, another service at this address. */
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

const again = (cause: string, { retryAfter }: Answer): Outcome => ({
  kind: 'again',
  cause,
  afterMs: retryAfterMs(retryAfter, Date.now()),
  unsent: false,
})

/** The longest that a `Retry-After` is believed: ten minutes. */
const RETRY_AFTER_MAX_MS = 600_000

/** Milliseconds that a `Retry-After` (RFC 9110, 10.2.3: seconds, or a date) asks to wait from now; 0 where it says nothing. */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0
  const date = /^\s*[A-Za-z]+, /.test(header) ? Date.parse(header) : Number.NaN
  const ms = /^\s*\d+\s*$/.test(header) ? Number(header) * 1_000 : date - now
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS)
}
