import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Client, errors } from '@elastic/elasticsearch'
import { FILES_EXHAUSTED, NO_FILES } from '../../runtime/file-limit.ts'
import { lastGood, parseCertificates } from '../../runtime/last-good.ts'
import { isTimeout } from '../../runtime/waiting.ts'
import { AT_PROXY, type ErrorBody, errorAt, typeOf, UNNAMED } from './outcome.ts'

export type ElasticsearchAuth =
  | { readonly type: 'none' }
  | { readonly type: 'apiKey'; readonly apiKey: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }

export interface ConnectionOptions {
  readonly url: string
  /** Called for each request. */
  readonly auth: () => ElasticsearchAuth
  /** Path of a PEM file with the authority that signed the server's certificate; null for the system's own. Reread periodically. */
  readonly caFile: string | null
  /** Called for a file that is unusable when it is reread; the previous authority stays in use. */
  readonly onRefused: (error: Error) => void
  readonly requestTimeoutMs: number
}

export interface ElasticsearchRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: object
  /** A body of newline-delimited JSON, instead of `body`. */
  readonly lines?: string | Buffer
  readonly signal?: AbortSignal | undefined
  /** Time limit in milliseconds, in place of the connection's. */
  readonly timeoutMs?: number
  /** Maximum bytes of the answer; a longer one is not read, and the call rejects with an `AnswerTooLongError`. */
  readonly answerBytesMax?: number
}

export interface Connection {
  /** Returns the answer's JSON. Rejects with an `ElasticsearchError`, or with the signal's reason. Never retries. */
  send<Answer>(request: ElasticsearchRequest): Promise<Answer>
  /** Ends the requests under way: a server that does not answer would hold up the end of the process. */
  close(): Promise<void>
}

/**
 * A failed request. The client's own error is dropped on purpose: it holds the request with its body and its headers, which must not reach
 * a log.
 */
export class ElasticsearchError extends Error {
  override readonly name = 'ElasticsearchError'
  /** The answer's status; null if there was no answer. */
  readonly status: number | null
  readonly body: ErrorBody

  constructor(message: string, status: number | null, body: ErrorBody) {
    super(message)
    this.status = status
    this.body = body
  }
}

/** An answer exceeded `answerBytesMax`; the same request for fewer items may stay within it. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError'
}

/** The minimum time between two readings of the authority's file. */
const READ_AGAIN_MS = 30_000

/** The only user of the driver, whose retries and sniffing are off: callers retry. Throws if the authority's certificate is unreadable. */
export function connect(options: ConnectionOptions, readAgainMs = READ_AGAIN_MS): Connection {
  const { caFile } = options
  const authority = caFile === null ? () => null : lastGood(() => readAuthority(caFile), options.onRefused, readAgainMs)
  const readAccess = (): Access => ({ auth: options.auth(), ca: authority() })
  let access = readAccess()
  let client = new Client(clientOptions(options, access))
  const closing = new AbortController()

  /** The old client closes once its requests have ended. */
  function renew(): void {
    void client.close()
    client = new Client(clientOptions(options, access))
  }

  /** The driver cannot change its access: another one needs a new client. */
  function newest(): Client {
    const read = readAccess()
    if (!isDeepStrictEqual(read, access)) {
      access = read
      renew()
    }
    return client
  }

  return {
    async send<Answer>(request: ElasticsearchRequest): Promise<Answer> {
      const { method, path, query, body, lines, answerBytesMax: maxResponseSize } = request
      const { timeoutMs = options.requestTimeoutMs } = request
      // One for each request, as the driver fires the event of the signal that it is given at a timeout.
      const signal = AbortSignal.any([closing.signal, ...(request.signal ? [request.signal] : [])])
      signal.throwIfAborted()
      const used = newest()
      try {
        const content = lines !== undefined ? { bulkBody: lines } : body !== undefined ? { body } : {}
        const params = { method, path, ...content, ...(query && { querystring: query }) }
        const answer = await used.transport.request<Answer>(params, {
          requestTimeout: timeoutMs,
          signal,
          ...(maxResponseSize !== undefined && { maxResponseSize }),
          meta: true,
        })
        // The driver takes a redirect, or any text, for an answer; here it would look like an empty page.
        if (answer.statusCode >= 300 || typeof answer.body !== 'object' || answer.body === null)
          throw foreign(`${method} ${path}`, answer.statusCode)
        return answer.body
      } catch (error) {
        const isLate = error instanceof errors.TimeoutError || isTimeout(signal.reason)
        // The server may be gone without a word: each idle connection to it would cost a further request its time.
        if (isLate && client === used) renew()
        signal.throwIfAborted()
        // The driver aborts a request only for its signal or for the length of its answer.
        if (maxResponseSize !== undefined && error instanceof errors.RequestAbortedError)
          throw new AnswerTooLongError(`${method} ${path} answers too much`)
        if (error instanceof errors.TimeoutError) throw timedOut(`${method} ${path}`, options.url, timeoutMs)
        throw failureOf(error, `${method} ${path}`)
      }
    },
    close: async () => {
      closing.abort(new Error('the log store is closed'))
      await client.close()
    },
  }
}

/** The credentials, and the authority's certificate. */
interface Access {
  readonly auth: ElasticsearchAuth
  readonly ca: string | null
}

function clientOptions(
  { url, requestTimeoutMs }: ConnectionOptions,
  { auth, ca }: Access,
): ConstructorParameters<typeof Client>[0] {
  return {
    node: url,
    ...(auth.type === 'apiKey' && { auth: { apiKey: auth.apiKey } }),
    ...(auth.type === 'basic' && { auth: { username: auth.username, password: auth.password } }),
    ...(ca !== null && { tls: { ca } }),
    // The limit of a single request ends with the head of its answer; that of the client also applies to each pause after it.
    requestTimeout: requestTimeoutMs,
    maxRetries: 0,
    sniffOnStart: false,
    sniffOnConnectionFault: false,
    redaction: { type: 'remove' },
  }
}

function readAuthority(path: string): string {
  try {
    const text = readFileSync(path, 'utf8')
    parseCertificates(text)
    return text
  } catch (error) {
    throw new Error(`ELASTICSEARCH_CA_FILE cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** The place of a document. */
export interface Lookup {
  readonly _index: string
  readonly _id: string
}

/** One document of a `_mget` answer. */
type LookedUp<Document> =
  | (Document & { readonly found: true; readonly error?: undefined })
  | { readonly found?: false; readonly error?: ErrorBody }

/**
 * Looks documents up by their ids, and returns one answer for each; an index may be missing. A lookup that a shard turns away says nothing
 * about its document, so one that fails is a failure of all, and so is an answer that does not match the lookups. `what` names the request.
 */
export async function lookUp<Document>(
  connection: Connection,
  what: string,
  lookups: readonly Lookup[],
  options: Pick<ElasticsearchRequest, 'query' | 'signal' | 'answerBytesMax'>,
): Promise<readonly LookedUp<Document>[]> {
  const { docs = [] } = await connection.send<{ docs?: readonly LookedUp<Document>[] }>({
    method: 'POST',
    path: '/_mget',
    body: { docs: lookups },
    ...options,
  })
  const body = docs.find(({ error }) => error !== undefined && error.type !== 'index_not_found_exception')?.error
  if (body !== undefined) {
    const status = body.type === 'security_exception' ? 403 : 503
    throw new ElasticsearchError(answered(what, status, body), status, body)
  }
  if (docs.length === lookups.length) return docs
  const type = `${docs.length} documents for ${lookups.length} lookups`
  throw new ElasticsearchError(`${what} answered ${type}`, null, { type })
}

/** The places that have a document. */
export async function foundOf(
  connection: Connection,
  lookups: readonly Lookup[],
  signal: AbortSignal,
): Promise<readonly Lookup[]> {
  const query = { _source: false, filter_path: `docs.found,${errorAt('docs.error')}` }
  const docs = await lookUp<object>(connection, 'a lookup by id', lookups, { query, signal })
  return lookups.filter((_lookup, index) => docs[index]?.found === true)
}

const answered = (request: string, status: number | null, body: ErrorBody): string =>
  `${request} answered ${status} ${typeOf(body)}`.trim() + adviceOnAnswer(status, body)

/** Advice to the operator about an answer that settings cause; empty for every other answer. */
function adviceOnAnswer(status: number | null, { type, root_cause: [cause] = [] }: ErrorBody): string {
  if (status === 401) return ' (check ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD)'
  if (type === 'media_type_header_exception') return ' (Sluice needs Elasticsearch 9)'
  if (cause?.reason?.includes(EXPENSIVE)) return ` (${EXPENSIVE} has to be true)`
  const [, limit] = /\[(index\.[\w.]+)\] index level setting/.exec(cause?.reason ?? '') ?? []
  if (limit !== undefined)
    return ` (${limit} was lowered: set it to null in the indices, and take it out of component templates)`
  if (type === undefined) return ` ${UNNAMED}`
  if (type === 'index_not_found_exception') return ' (run `sluice indices apply`, and check what the login may read)'
  const lacksPrivilege = status === 403 && type === 'security_exception'
  return lacksPrivilege ? ' (docs/elasticsearch.md has the privileges that are needed)' : ''
}

/** A setting of the cluster; without it, the beginnings of words and the categories below one are not searched. */
const EXPENSIVE = 'search.allow_expensive_queries'

/** Advice to the operator about a connection that was not made, or broke. */
function adviceOnConnection(message: string): string {
  if (FILES_EXHAUSTED.test(message)) return `; ${NO_FILES}`
  if (/altnames/i.test(message)) return "; the server's certificate has to name the host in ELASTICSEARCH_URL"
  if (/certificate (has expired|is not yet valid)/i.test(message))
    return "; the server's certificate or that of its authority has to be renewed, or the clock of this machine is wrong"
  if (/certificate/i.test(message))
    return "; ELASTICSEARCH_CA_FILE has to name the authority that signed the server's certificate"
  return '; check ELASTICSEARCH_URL, http or https too, and that the server runs'
}

function timedOut(request: string, url: string, timeoutMs: number): ElasticsearchError {
  const detail = ` (${new URL(url).host} did not answer within ${timeoutMs} ms; check ELASTICSEARCH_URL, and that the server works)`
  return new ElasticsearchError(`${request} failed: TimeoutError${detail}`, null, { type: `TimeoutError${detail}` })
}

function foreign(request: string, status: number): ElasticsearchError {
  const isRedirect = status >= 300 && status !== 304
  const detail = isRedirect ? ' (a redirect: check ELASTICSEARCH_URL, http or https too)' : ` without JSON ${AT_PROXY}`
  return new ElasticsearchError(`${request} answered ${status}${detail}`, null, { type: status + detail })
}

function failureOf(error: unknown, request: string): unknown {
  if (error instanceof errors.ResponseError) {
    const body = bodyOf(error.body)
    const status = error.statusCode ?? null
    return new ElasticsearchError(answered(request, status, body), status, body)
  }
  // An answer that is not JSON, or lacks Elasticsearch's header, comes from something in between, such as a proxy.
  if (error instanceof errors.ElasticsearchClientError) {
    const detail = detailOf(error)
    return new ElasticsearchError(`${request} failed: ${error.name}${detail}`, null, { type: error.name + detail })
  }
  // The driver leaves the errors of zlib as they are.
  const { code } = error as NodeJS.ErrnoException
  if (!code?.startsWith('Z_')) return error
  const type = `${code}: the answer cannot be unpacked ${AT_PROXY}`
  return new ElasticsearchError(`${request} failed: ${type}`, null, { type })
}

/** Messages about a connection or a certificate are passed on; others may quote an answer. */
function detailOf(error: errors.ElasticsearchClientError): string {
  // The driver names the whole address, which may hold a login, if several addresses of its host refuse.
  const message = error.message.trim().replace(/\/\/\S*@/, '//')
  if (error instanceof errors.ConnectionError) return ` (${message}${adviceOnConnection(message)})`
  return error instanceof errors.ProductNotSupportedError
    ? ' (what answers is not Elasticsearch: check ELASTICSEARCH_URL)'
    : ''
}

function bodyOf(body: unknown): ErrorBody {
  const error = (body as { error?: unknown } | null | undefined)?.error
  return typeof error === 'object' && error !== null ? (error as ErrorBody) : {}
}
