import { parseKeepingDigits } from '../../../shared/contract/exact-json.ts'
import type { Entry, Session } from '../../schemas/answers.ts'
import { BASE } from '../ui/base.ts'
import { createStore } from '../ui/store.ts'

/** The reason why there is no answer: the API's refusal, or `unreachable` where no server answered or the caller gave up. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly details: unknown
  readonly retryable: boolean
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number
  /** Seconds after which to try again, where the server says so. */
  readonly retryAfter: number | null
}

export type Result<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly problem: Problem }

export type Params = Readonly<Record<string, string | number | null | undefined>>

/** Whether the server answers; the page's banner and everything that fetches follow it. */
export const connection = createStore<'up' | 'away'>('up')

/** Counts the times that it turned out that nobody is signed in any more. */
export const refusedSessions = createStore(0)

/** The URL of a path of the API below the base path, such as `/api/flows`; parameters without a value are left out. */
export function urlOf(path: string, params: Params = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  const text = search.toString()
  return BASE + path.replace(/^\//, '') + (text === '' ? '' : `?${text}`)
}

/** Reads from the API. Never rejects. */
export const get = <T>(path: string, params?: Params, signal?: AbortSignal): Promise<Result<T>> =>
  ask(urlOf(path, params), { signal: signal ?? null })

/** Changes something through the API; `body` is sent as JSON. Never rejects. */
export const send = <T>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Result<T>> =>
  ask(urlOf(path), {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })

/** Digits of an entry's numbers stay, in browsers that can write them again. */
const parse = (text: string): unknown => ('rawJSON' in JSON ? parseKeepingDigits(text) : JSON.parse(text))

async function ask<T>(url: string, init: RequestInit): Promise<Result<T>> {
  const refusals = refusedSessions.get()
  let response: Response
  let body: Envelope<T>
  try {
    response = await fetch(url, { credentials: 'same-origin', ...init })
    // A proxy in front of a server that is gone answers in its own words, which are no JSON.
    body = parse(await response.text()) as Envelope<T>
  } catch {
    if (!init.signal?.aborted) connection.set('away')
    return UNREACHABLE
  }
  connection.set('up')
  if (body.success) return { ok: true, data: body.data }
  const over = response.status === 401 && !url.endsWith('/api/session')
  // One sent before an earlier refusal says nothing new: somebody may have signed in again since.
  if (over && refusals === refusedSessions.get()) countRefusal()
  const retryAfter = Number(response.headers.get('retry-after')) || null
  // The API's message is for programs, which send a key.
  const error = over ? { ...body.error, message: 'Your session is over.' } : body.error
  return { ok: false, problem: { ...error, status: response.status, retryAfter } }
}

type Envelope<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: Omit<Problem, 'status' | 'retryAfter'> }

const UNREACHABLE = {
  ok: false,
  problem: {
    code: 'unreachable',
    message: 'The server does not answer.',
    details: null,
    retryable: true,
    status: 0,
    retryAfter: null,
  },
} as const

export interface StreamHandlers {
  readonly onEntry: (entry: Entry) => void
  /** The server left out so many entries because this reader was too slow. */
  readonly onSkipped?: (count: number) => void
  readonly onState?: (state: 'connecting' | 'live' | 'away') => void
}

const RECONNECT_MS = 2_000

const countRefusal = (): void => refusedSessions.set(refusedSessions.get() + 1)

async function checkSession(): Promise<void> {
  const session = await get<Session>('/api/session')
  if (session.ok && session.data.team === null) countRefusal()
}

/**
 * Follows a tail until the function that is returned is called; reconnects where it was by itself. Nothing is followed in a tab that is
 * not looked at: a browser has six connections to a server, and tails would leave none for what is asked in other tabs.
 */
export function stream(path: string, params: Params, { onEntry, onSkipped, onState }: StreamHandlers): () => void {
  let source: EventSource | undefined
  let lastEventId: string | undefined
  let timer = 0
  const close = (): void => {
    clearTimeout(timer)
    source?.close()
  }
  const open = (): void => {
    close()
    onState?.(document.hidden ? 'away' : 'connecting')
    if (document.hidden) return
    source = new EventSource(urlOf(path, { ...params, lastEventId }))
    source.onopen = () => onState?.('live')
    source.addEventListener('entry', (event) => {
      lastEventId = event.lastEventId
      onEntry(parse(event.data) as Entry)
    })
    source.addEventListener('skipped', (event) => {
      lastEventId = event.lastEventId
      onSkipped?.(JSON.parse(event.data).count)
    })
    source.onerror = () => {
      onState?.('away')
      // A stream tells nothing of why it broke; a request does.
      if (connection.get() === 'up') void checkSession()
      // The browser reconnects one that broke, but gives up one that was refused.
      if (source?.readyState === EventSource.CLOSED) timer = window.setTimeout(open, RECONNECT_MS)
    }
  }
  document.addEventListener('visibilitychange', open)
  open()
  return () => {
    document.removeEventListener('visibilitychange', open)
    close()
  }
}
