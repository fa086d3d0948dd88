import { parseKeepingDigits } from '../../../shared/contract/exact-json.ts'
import type { Entry, Session } from '../../schemas/answers.ts'
import { BASE } from '../ui/base.ts'
import { createStore } from '../ui/store.ts'

/** The failure of a request: the API's refusal, `refused_by_proxy`, or `unreachable` if no server answered or the caller aborted. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  /** Seconds to wait before retrying, if the server says so. */
  readonly retryAfter: number | null
}

export type Result<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly problem: Problem }

export type Params = Readonly<Record<string, string | number | null | undefined>>

/** Whether the server answers, or a proxy refuses even to tell who is signed in; drives the page's banner and everything that fetches. */
export const connection = createStore<'up' | 'away' | 'refused'>('up')

/** Counts how often a session turned out to be over. */
export const refusedSessions = createStore(0)

/** Counts how often somebody has signed in or out here: an answer to a question of before tells nothing new about the session. */
export const changedSessions = createStore(0)

/** The URL of an API path below the base path, such as `/api/flows`; parameters without a value are omitted. */
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

/** Keeps all digits of an entry's numbers, in browsers that can write them again. */
const parse = (text: string): unknown => ('rawJSON' in JSON ? parseKeepingDigits(text) : JSON.parse(text))

async function ask<T>(url: string, init: RequestInit): Promise<Result<T>> {
  const [refusals, changes] = [refusedSessions.get(), changedSessions.get()]
  const asksWho = url.endsWith('/api/session')
  let response: Response | undefined
  let body: Envelope<T>
  try {
    // The sign-in of a proxy is of another origin, which a page cannot ask.
    response = await fetch(url, { credentials: 'same-origin', redirect: 'manual', ...init })
    body = parse(await response.text()) as Envelope<T>
    // A proxy answers for an unavailable server with a body of its own, JSON or not.
    if (!('success' in body)) throw body
  } catch {
    const refused = response !== undefined && isFinal(response) ? refusedByProxy(response) : undefined
    if (!init.signal?.aborted && (asksWho || !refused)) connection.set(refused ? 'refused' : 'away')
    return refused ?? UNREACHABLE
  }
  connection.set('up')
  if (body.success) return { ok: true, data: body.data }
  const over = response.status === 401 && !asksWho
  // A request sent before an earlier refusal tells nothing new either.
  if (over && refusals === refusedSessions.get() && changes === changedSessions.get()) countRefusal()
  const retryAfter = Number(response.headers.get('retry-after')) || null
  const message = over ? 'Your session is over.' : inPageWords(body.error.message, retryAfter)
  return { ok: false, problem: { ...body.error, message, retryAfter } }
}

/** Statuses below 500 of a proxy whose server restarts. */
const PASSING: readonly number[] = [404, 408, 425, 429]

/** Whether a proxy's answer is no passing one: it wants a sign-in of its own, or lets no such request through. */
const isFinal = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 400 && status < 500 && !PASSING.includes(status))

const refusedByProxy = ({ status }: Response) => {
  const how = status === 0 ? 'with a redirection: load this page again' : `with status ${status}`
  const message = `A proxy in front of Sluice refused this request ${how}.`
  return {
    ok: false,
    problem: { ...UNREACHABLE.problem, code: 'refused_by_proxy', message, retryable: false },
  } as const
}

/** The API's messages address programs, which see the headers of an answer and write paths. */
const inPageWords = (message: string, retryAfter: number | null): string =>
  message
    .replace(/ [^.]* Retry-After\.$/, retryAfter === null ? '' : ` Try again in ${retryAfter} s.`)
    .replace(/ Check the \w+; .*$/, '')

type Envelope<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: Omit<Problem, 'retryAfter'> }

const UNREACHABLE = {
  ok: false,
  problem: {
    code: 'unreachable',
    message: 'The server does not answer.',
    retryable: true,
    retryAfter: null,
  },
} as const

interface StreamHandlers {
  readonly onEntry: (entry: Entry) => void
  /** The server omitted this many entries because this client was too slow. */
  readonly onSkipped?: (count: number) => void
  readonly onState?: (state: 'connecting' | 'live' | 'away') => void
}

const RECONNECT_MS = 2_000

const countRefusal = (): void => refusedSessions.set(refusedSessions.get() + 1)

async function checkSession(): Promise<void> {
  const changes = changedSessions.get()
  const session = await get<Session>('/api/session')
  if (session.ok && session.data.team === null && changes === changedSessions.get()) countRefusal()
}

/**
 * Follows a tail until the returned function is called, and resumes where it broke off, or at the present end if it was refused. Hidden tabs
 * do not follow: a browser allows six connections per server, and tails would leave none for the requests of other tabs.
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
      // EventSource does not report why a stream broke; a request does.
      if (connection.get() === 'up') void checkSession()
      // The browser reconnects a broken stream, but gives up on a refused one.
      if (source?.readyState !== EventSource.CLOSED) return
      // The place may be what was refused: of another log store, or too long for a proxy.
      lastEventId = undefined
      timer = window.setTimeout(open, RECONNECT_MS)
    }
  }
  document.addEventListener('visibilitychange', open)
  open()
  return () => {
    document.removeEventListener('visibilitychange', open)
    close()
  }
}
