import { createHmac } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv6, type LookupFunction } from 'node:net'
import { reasonOf } from '../../shared/http/failed-request.ts'
import { createNetworkCheck } from '../../shared/runtime/networks.ts'
import { createSemaphore, type Semaphore } from '../../shared/runtime/semaphore.ts'
import { unlessAborted } from '../../shared/runtime/waiting.ts'
import type { TestedWatch } from '../schemas/watches.ts'
import { isPublicAddress, literalAddress } from './addresses.ts'

/** A message as it is posted. */
export interface Message {
  /** Identifies the message: the same in every attempt, so that the receiver can detect a repeat. */
  readonly id: string
  readonly body: string
}

interface Target {
  /** The id of the Team that chose the address. */
  readonly team: string
  readonly url: string
  /** `whsec_` followed by the key in Base64. */
  readonly secret: string
}

/** The outcome of one attempt; of the receiver's response it contains only the status. */
export type Posted = TestedWatch

/** Posts messages to addresses that users chose. */
export interface Poster {
  /** Never rejects, and ends within the deadline. */
  post(target: Target, message: Message, signal?: AbortSignal): Promise<Posted>
  /** The reason why an address would be refused, as far as is known without resolving a name; undefined if it would not. */
  refusalOf(url: string): string | undefined
}

export interface PosterDeps {
  /** Private networks that may be posted to, also over http; in CIDR notation. */
  readonly allowed: readonly string[]
  /** Milliseconds since 1970; signatures contain whole seconds. */
  readonly now: () => number
  readonly deadlineMs?: number
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>
}

/** How long an attempt may take. */
export const POST_MS_MAX = 10_000
/** No more of an answer is read, interim responses and heads included: only its status matters. A head has up to 16 KiB. */
const ANSWER_BYTES_MAX = 32 * 1024
/** Each lookup occupies one of the four libuv threads, which files and compression also need. */
const LOOKUPS_MAX = 2

/** The reason why nothing was sent. */
class RefusedError extends Error {
  override readonly name = 'RefusedError'
}

/**
 * Posts as Standard Webhooks specifies (https://www.standardwebhooks.com): `webhook-id`, `webhook-timestamp` and `webhook-signature`. The
 * connection goes to an address that was checked, even if the name resolves differently later. Redirects are not followed.
 */
export function createPoster({
  allowed,
  now,
  deadlineMs = POST_MS_MAX,
  resolve = (name) => lookup(name, { all: true }),
}: PosterDeps): Poster {
  const isAllowed = createNetworkCheck(allowed)
  const lookups = createSemaphore(LOOKUPS_MAX)
  const lookupsOfTeams = new Map<string, Semaphore>()

  /** One lookup of a Team at a time: an abandoned lookup ends only when the system gives it up, and must not hold those of other Teams. */
  function lookUp(team: string, name: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const own = lookupsOfTeams.get(team) ?? createSemaphore(1)
    lookupsOfTeams.set(team, own)
    // A lookup cannot be cancelled and goes on in the background.
    return unlessAborted(
      own.run(() => lookups.run(() => resolve(name), signal), signal),
      signal,
    )
  }

  const mayReach = ({ protocol }: URL, address: string): boolean =>
    isAllowed(address) || (protocol === 'https:' && isPublicAddress(address))

  /** The addresses that may be connected to; throws a `RefusedError` if there are none. */
  async function addressesOf(team: string, url: URL, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const literal = literalAddress(url)
    const all =
      literal === undefined
        ? await lookUp(team, url.hostname, signal)
        : [{ address: literal, family: isIPv6(literal) ? 6 : 4 }]
    const fit = all.filter(({ address }) => mayReach(url, address))
    if (fit.length > 0) return fit
    throw new RefusedError(
      refusalOf(
        url,
        all.some(({ address }) => isPublicAddress(address)),
      ),
    )
  }

  async function post(target: Target, message: Message, signal?: AbortSignal): Promise<Posted> {
    const over = AbortSignal.timeout(deadlineMs)
    const ended = signal === undefined ? over : AbortSignal.any([over, signal])
    try {
      const url = new URL(target.url)
      const addresses = await addressesOf(target.team, url, ended)
      const headers = headersOf(target.secret, message, now())
      return judge(await exchange(url, addresses, { body: message.body, headers }, ended))
    } catch (error) {
      if (over.aborted) return failed(`There was no answer within ${deadlineMs / 1_000} seconds.`)
      return failed(failureOf(error))
    }
  }
  return {
    post,
    refusalOf: (text) => {
      const url = new URL(text)
      const address = literalAddress(url)
      if (address === undefined || mayReach(url, address)) return undefined
      return refusalOf(url, isPublicAddress(address))
    },
  }
}

const failed = (message: string): Posted => ({ delivered: false, status: null, message })

const refusalOf = ({ protocol, hostname }: URL, isPublic: boolean): string =>
  isPublic && protocol === 'http:'
    ? `${hostname} can be reached by https:// only: http:// is for networks that the operator allows (WEBHOOK_ALLOWED_NETWORKS).`
    : `${hostname} has a private address, and nothing was sent. The operator can allow its network (WEBHOOK_ALLOWED_NETWORKS).`

interface Status {
  readonly code: number
  readonly location: string | undefined
}

function judge({ code: status, location }: Status): Posted {
  const delivered = status >= 200 && status < 300
  const isRedirection = !delivered && status < 400 && location !== undefined
  const rest = isRedirection ? ', and redirections are not followed. Enter the address that it leads to.' : '.'
  return { delivered, status, message: `The receiver answered ${status}${rest}` }
}

/** Sends one request and resolves with its response's status, once the response ends or enough of it was read. */
function exchange(
  url: URL,
  addresses: readonly LookupAddress[],
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<Status> {
  const pinned: LookupFunction = (_name, options, found) => {
    const [first] = addresses
    if (options.all) found(null, [...addresses])
    else found(null, first?.address ?? '', first?.family)
  }
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    let status: Status | undefined
    // Once the status is known, a truncated or endless response still counts as one.
    const settle = (error: Error): void => {
      if (status === undefined) reject(error)
      else resolve(status)
      request.destroy()
    }
    const request = send(url, { method: 'POST', agent: false, lookup: pinned, signal, headers }, (response) => {
      status = { code: response.statusCode ?? 0, location: response.headers.location }
      response.once('error', settle).resume()
    })
    request.once('socket', (socket) => {
      let bytes = 0
      socket.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > ANSWER_BYTES_MAX) settle(new Error('the answer is longer than it is read'))
      })
    })
    request.once('error', settle)
    request.once('close', () => settle(new Error('the connection was closed without an answer')))
    request.end(body)
  })
}

/** The headers of Standard Webhooks; `at` is in milliseconds since 1970. */
function headersOf(secret: string, { id, body }: Message, at: number): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1_000))
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Sluice',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  }
}

export const SECRET_PREFIX = 'whsec_'

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

const NAME_CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'EAI_NODATA', 'EAI_FAIL']

function failureOf(error: unknown): string {
  if (error instanceof RefusedError) return error.message
  const { code = '' } = error as NodeJS.ErrnoException
  const message = reasonOf(error)
  if (NAME_CODES.includes(code)) return `The name of the receiver cannot be resolved (${code}).`
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/.test(code))
    return `TLS failed (${code}): ${message}`
  if (code.startsWith('HPE_')) return `The answer is no HTTP that can be read (${code}).`
  return `The request failed${code === '' ? '' : ` (${code})`}: ${message}`
}
