import { randomUUID } from 'node:crypto'
import { parseJsonObject } from '../../shared/contract/json-object.ts'
import { reasonOf } from '../../shared/http/failed-request.ts'
import { type Config, ConfigError } from '../../shared/runtime/config.ts'
import { hasCredentials } from '../../shared/runtime/config-schema.ts'
import { isTimeout, pause } from '../../shared/runtime/waiting.ts'

/** The Event and the Project of the canary's entries; registry.yaml registers both with their Team. */
export const CANARY_EVENT = 'sluice-canary'
export const CANARY_PROJECT = '5c1f0ca4-a217-4c0e-8f3a-7d1b6e2a9c40'

/** Every outcome of a round, with the places to check. */
export const OUTCOMES = {
  found: '',
  gateway_refused:
    'Check GATEWAY_INTERNAL_URL or GATEWAY_URL, CANARY_API_KEY, and that `sluice registry list` shows the Team sluice-canary with its Event and Project.',
  not_accepted:
    'The journal does not confirm in time: check /health/ready and sluice_publish_breaker_state of the gateways, then the brokers.',
  not_searchable:
    'The entry was accepted and is in the journal: check sluice_consumer_halted and sluice_consumer_lag_seconds of the projection, then sluice_store_blocked.',
  views_refused: 'Check VIEWS_URL, CANARY_API_KEY, and /health/ready of the processes with the role views.',
} as const satisfies Record<string, string>

type Outcome = keyof typeof OUTCOMES

/** A completed part of the way. */
export interface Hop {
  /** `accepted`, or the projection in whose list the entry was found. */
  readonly name: 'accepted' | 'event-logs' | 'application-logs' | 'flows'
  /** For `accepted`, from sending one entry to its answer; for the others, from the start of the round. */
  readonly seconds: number
}

/** The result of a round. */
interface Round {
  readonly outcome: Outcome
  /** The duration of the whole round. */
  readonly seconds: number
  /** The hop that failed and why; empty if none did. */
  readonly reason: string
}

/** The gateway and the views that the canary writes to and reads from. */
export interface CanaryTarget {
  /** URLs with their base paths, without trailing slashes. */
  readonly gatewayUrl: string
  readonly viewsUrl: string
  readonly apiKey: string
  /** Longest time until the gateway accepts an entry, and then until a projection shows it. */
  readonly deadlineMs: number
}

/** Throws a `ConfigError` if a setting is missing that only the canary needs. */
export function canaryTarget(config: Config): CanaryTarget {
  const gatewayUrl = config.GATEWAY_INTERNAL_URL ?? config.GATEWAY_URL
  const { CANARY_API_KEY: apiKey, CANARY_DEADLINE_MS: deadlineMs } = config
  const viewsUrl = config.VIEWS_URL ?? gatewayUrl
  // The canary's failures quote these URLs, also in logs.
  const isSecret = [gatewayUrl, viewsUrl].some((url) => url !== null && hasCredentials(url))
  if (gatewayUrl !== null && viewsUrl !== null && apiKey !== null && !isSecret)
    return { gatewayUrl, viewsUrl, apiKey, deadlineMs }
  throw new ConfigError([
    ...(isSecret
      ? ['the addresses of the gateway and the views must have no user or password: the canary sends its key']
      : []),
    ...(gatewayUrl === null ? ['GATEWAY_URL or GATEWAY_INTERNAL_URL must be set: the canary sends to it'] : []),
    ...(apiKey === null ? ['CANARY_API_KEY must be set: a key of the Team sluice-canary'] : []),
  ])
}

/** Milliseconds between two searches for an entry. */
const LOOK_EVERY_MS = 200
/** A search that begins just before the deadline has this long, as views that answer all others must not be blamed for it. */
const LAST_LOOK_MS = 1_000

/** Sluice answers the canary with a few kilobytes; a larger answer comes from something else. */
const ANSWER_BYTES_MAX = 256 * 1024

/** Ends a round. */
class RoundError extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome, message: string) {
    super(message)
    this.outcome = outcome
  }
}

/**
 * Sends an event log and an application log with a new correlationKey, and looks for them in the lists of all projections, over HTTP as any
 * client does. Reports each hop when it is completed. Nothing is sent twice: a failure that a client would recover from counts here.
 * Rejects when the signal aborts.
 */
export async function runRound(
  target: CanaryTarget,
  onHop: (hop: Hop) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<Round> {
  const begun = performance.now()
  const since = (at: number): number => (performance.now() - at) / 1_000
  try {
    const correlationKey = `canary-${randomUUID()}`
    for (const entry of entriesOf(correlationKey)) {
      const sent = performance.now()
      await accept(target, entry, signal)
      onHop({ name: 'accepted', seconds: since(sent) })
    }
    const found = await Promise.allSettled(
      listsOf(correlationKey).map(async (list) => {
        await find(target, list, signal)
        onHop({ name: list.view, seconds: since(begun) })
      }),
    )
    for (const each of found) if (each.status === 'rejected') throw each.reason
    return { outcome: 'found', seconds: since(begun), reason: '' }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof RoundError)) throw error
    return { outcome: error.outcome, seconds: since(begun), reason: error.message }
  }
}

interface Entry {
  readonly path: string
  readonly body: object
}

function entriesOf(correlationKey: string): readonly Entry[] {
  const common = { level: 'Information', environment: 'Canary', correlationKey }
  return [
    { path: '/api/ExternalLogs', body: { uniqueIdentifier: CANARY_EVENT, payload: '{"canary":true}', ...common } },
    {
      path: '/api/ApplicationLogs',
      body: {
        uniqueIdentifier: CANARY_PROJECT,
        categoryName: 'Sluice.Canary',
        message: 'A log of the canary',
        ...common,
      },
    },
  ]
}

interface List {
  readonly view: Exclude<Hop['name'], 'accepted'>
  readonly path: string
  readonly shows: (items: readonly { readonly total?: number }[]) => boolean
}

function listsOf(correlationKey: string): readonly List[] {
  const list = (view: List['view'], path: string, shows: List['shows']): List => ({
    view,
    path: `${path}?correlationKey=${correlationKey}`,
    shows,
  })
  return [
    list('event-logs', '/api/event-logs', (items) => items.length > 0),
    list('application-logs', '/api/application-logs', (items) => items.length > 0),
    list('flows', '/api/flows', ([flow]) => flow?.total === 2),
  ]
}

async function accept({ gatewayUrl, apiKey, deadlineMs }: CanaryTarget, { path, body }: Entry, signal: AbortSignal) {
  const url = gatewayUrl + path
  const answer = await ask(url, apiKey, deadlineMs, signal, body).catch((error: unknown) => {
    signal.throwIfAborted()
    throw isTimeout(error)
      ? new RoundError('not_accepted', `${url} has not answered within ${deadlineMs} ms`)
      : new RoundError('gateway_refused', `${url} did not answer as a gateway: ${reasonOf(error)}`)
  })
  if (answer.success) return
  const { code, message, retryable } = answer.error
  throw new RoundError(retryable ? 'not_accepted' : 'gateway_refused', `${url} answered ${code}: ${message}`)
}

/** Asks until the list shows the entry. Views that are briefly unavailable, as in a rollout, are asked again. */
async function find({ viewsUrl, apiKey, deadlineMs }: CanaryTarget, list: List, signal: AbortSignal): Promise<void> {
  const url = viewsUrl + list.path
  const deadline = performance.now() + deadlineMs
  let failure: RoundError | undefined
  do {
    try {
      const answer = await ask(url, apiKey, Math.max(LAST_LOOK_MS, deadline - performance.now()), signal)
      if (answer.success && list.shows(answer.data.items ?? [])) return
      failure = answer.success ? undefined : refusal(url, answer.error)
      if (!answer.success && !answer.error.retryable) break
    } catch (error) {
      signal.throwIfAborted()
      const reason = isTimeout(error) ? 'it has not answered in time' : reasonOf(error)
      failure = new RoundError('views_refused', `${url} did not answer as the views do: ${reason}`)
    }
    await pause(Math.min(LOOK_EVERY_MS, Math.max(0, deadline - performance.now())), signal)
  } while (performance.now() < deadline)
  throw (
    failure ?? new RoundError('not_searchable', `${list.view} has not shown the entry within ${deadlineMs} ms (${url})`)
  )
}

const refusal = (url: string, { code, message }: Refusal): RoundError =>
  new RoundError('views_refused', `${url} answered ${code}: ${message}`)

interface Refusal {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
}

/** The envelope of every answer. */
type Answer =
  | { readonly success: true; readonly data: { readonly items?: readonly { readonly total?: number }[] } }
  | { readonly success: false; readonly error: Refusal }

/** Posts a body, or reads if there is none. Rejects after `ms` milliseconds, and if the answer is not one of Sluice. */
async function ask(url: string, apiKey: string, ms: number, signal: AbortSignal, body?: object): Promise<Answer> {
  const response = await fetch(url, {
    headers: {
      'x-api-key': apiKey,
      'user-agent': 'sluice-canary',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(ms))]),
  })
  const answer = parseJsonObject(await textOf(response))
  if (isAnswer(answer)) return answer
  throw new Error(`status ${response.status}, and no answer of Sluice`)
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`its answer has more than ${ANSWER_BYTES_MAX} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function isAnswer(value: unknown): value is Answer {
  const { success, data, error } = (value ?? {}) as Record<string, unknown>
  const content = success ? data : error
  return typeof success === 'boolean' && typeof content === 'object' && content !== null
}
