import { type Answer, judge, type Outcome } from './answer.ts'

/** One attempt to send a body. */
export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Aborting it ends the attempt. */
  readonly controller: AbortController
  /** Maximum milliseconds until the complete response. */
  readonly timeoutMs: number
  /** Whether the request survives the end of the page. */
  readonly keepalive: boolean
}

/** Sends a body once. Never rejects: network errors are outcomes too. */
export async function post(send: typeof fetch, request: Post): Promise<Outcome> {
  const { url, headers, body, controller, timeoutMs, keepalive } = request
  const late = new Error(`There was no answer within ${timeoutMs} ms.`)
  const deadline = setTimeout(() => controller.abort(late), timeoutMs)
  try {
    const response = await send(url, {
      method: 'POST',
      headers,
      body,
      signal: controller.signal,
      // The key is for this address only, and a redirected POST may become a GET.
      redirect: 'manual',
      credentials: 'omit',
      ...(keepalive && { keepalive }),
    })
    return judge(await read(response))
  } catch (error) {
    return { kind: 'again', cause: reasonOf(error), afterMs: 0, unsent: neverConnected(error) }
  } finally {
    clearTimeout(deadline)
  }
}

/** Maximum bytes of a response: a batch with 100 refused entries needs far fewer. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024

async function read({ status, headers, body }: Response): Promise<Answer> {
  const decoder = new TextDecoder()
  const reader = body?.getReader()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done) break
    bytes += value?.length ?? 0
    if (bytes > ANSWER_BYTES_MAX) {
      await reader?.cancel()
      throw new Error(`The answer has more than ${ANSWER_BYTES_MAX} bytes, so it is not one of Sluice.`)
    }
    text += decoder.decode(value, { stream: true })
  }
  return { status, text, retryAfter: headers.get('retry-after'), location: headers.get('location') }
}

interface NetworkError {
  readonly message?: string
  readonly code?: string
  readonly cause?: NetworkError
}

const NO_TLS = 'Nothing speaks TLS at this address. If it is that of a server without, url has to begin with http://.'

/** Node says only "fetch failed"; the reason is in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as NetworkError
  if (cause?.code === 'ERR_SSL_WRONG_VERSION_NUMBER') return NO_TLS
  return cause?.message || cause?.code || message || String(error)
}

/** Errors after which the server certainly received nothing; browsers do not report them. */
const NEVER_CONNECTED: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

const neverConnected = (error: unknown): boolean => NEVER_CONNECTED.has((error as NetworkError | null)?.cause?.code)
