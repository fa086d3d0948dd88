import type { Outcome } from './answer.ts'
import { type Batch, halves, type Target } from './batch.ts'
import { createBuffer, type EntryBuffer } from './buffer.ts'
import { isHidden, watchEnding } from './ending.ts'
import type { ApplicationLog, EventLog } from './entries.ts'
import { exceptionText, toJson } from './json.ts'
import { createReports, type Dropped, type ReportOptions, type Reports } from './reports.ts'
import { createSender, KEEPALIVE_BYTES_MAX, type Sender } from './sender.ts'
import { createTimestamps } from './times.ts'

/** An application log; an Error is converted to text with its stack and causes. */
export type LogInput = Omit<ApplicationLog, 'exception'> & { readonly exception?: string | Error | null | undefined }

/** An event log; a payload that is not a string is sent as JSON. */
export type EventInput = Omit<EventLog, 'payload'> & { readonly payload: string | object }

export interface ClientOptions extends ReportOptions {
  /** The address of Sluice, such as `https://logs.example`. */
  readonly url: string
  /** An API key of the Team. */
  readonly apiKey: string
  /** The id of the Project that application logs belong to. */
  readonly project?: string | undefined
  /** The default environment of entries. */
  readonly environment?: string | undefined
  /** Maximum entries per batch. Default 100, as accepted by a server by default. */
  readonly maxBatchEntries?: number | undefined
  /** Maximum bytes of a batch's entries. Default 512 KiB; 48 KiB in a browser. */
  readonly maxBatchBytes?: number | undefined
  /** Maximum time that an entry waits for others of its batch. Default 1,000 ms. */
  readonly maxDelayMs?: number | undefined
  /** Maximum bytes of unsettled entries, as JSON; beyond that, new ones are dropped. Default 16 MiB. */
  readonly maxBufferBytes?: number | undefined
  /** Maximum number of concurrent requests. Default 4. */
  readonly maxInFlight?: number | undefined
  /** Maximum time from a request to the end of its response; then it is retried. Default 15,000 ms. */
  readonly requestTimeoutMs?: number | undefined
  /** The first and the maximum upper bound of the back-off between failed attempts. Default 500 and 30,000 ms. */
  readonly minBackOffMs?: number | undefined
  readonly maxBackOffMs?: number | undefined
  /** Maximum time that `close` and the end of a Node process wait for unsettled entries. Default 5,000 ms. */
  readonly closeTimeoutMs?: number | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Counts of entries since the client was created. */
export interface Stats {
  /** Confirmed by the server. */
  readonly stored: number
  /** Refused by the server for good. */
  readonly refused: number
  /** Given up for other reasons. */
  readonly dropped: number
  /** Not yet settled, with their size in bytes. */
  readonly pending: number
  readonly pendingBytes: number
  /** Failed attempts that were repeated. */
  readonly retries: number
}

export interface Client {
  /** Hands over an application log; false if it was dropped at once. Never throws. */
  log(entry: LogInput): boolean
  /** Hands over an event log; false if it was dropped at once. Never throws. */
  event(entry: EventInput): boolean
  /** Resolves when everything handed over so far is settled: stored, refused, or dropped and reported. */
  flush(): Promise<void>
  /** Accepts no more entries, waits up to `closeTimeoutMs` for unsettled ones, and drops the rest. */
  close(): Promise<void>
  stats(): Stats
}

const DEFAULTS = {
  maxBatchEntries: 100,
  maxBatchBytes: 512 * 1024,
  maxDelayMs: 1_000,
  maxBufferBytes: 16 * 1024 * 1024,
  maxInFlight: 4,
  requestTimeoutMs: 15_000,
  minBackOffMs: 500,
  maxBackOffMs: 30_000,
  closeTimeoutMs: 5_000,
}

/** A full batch and some smaller ones fit into what a browser still sends after the page is closed. */
const PAGE_BATCH_BYTES = Math.floor(KEEPALIVE_BYTES_MAX * 0.8)

/** Throws a TypeError for an invalid option. */
function numbersOf(options: ClientOptions): typeof DEFAULTS {
  const numbers = { ...DEFAULTS, ...('document' in globalThis && { maxBatchBytes: PAGE_BATCH_BYTES }) }
  for (const name of Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[]) {
    const value = options[name] ?? numbers[name]
    if (!(value > 0 && value < 2 ** 31)) throw new TypeError(`${name} has to be a number above 0 and below 2^31.`)
    numbers[name] = value
  }
  return numbers
}

/** Creates a client. Throws a TypeError for an invalid option, such as a malformed address, or a key that no header can hold. */
export const createClient = (options: ClientOptions): Client =>
  // biome-ignore lint/suspicious/noConsole: the only place where an application without callbacks would see it.
  createClientOf(options, (line) => console.warn(line))

/** Like `createClient`; `write` shows a line to a user of an application without callbacks. */
export function createClientOf(options: ClientOptions, write: (line: string) => void): Client {
  const { url, apiKey, fetch = globalThis.fetch } = options
  const numbers = numbersOf(options)
  for (const [name, value] of Object.entries({ url, apiKey }))
    if (!value) throw new TypeError(`${name} has to be given.`)
  // No other address can be requested: `localhost:8080` would have `localhost:` as its scheme.
  const base = /^https?:\/\//i.test(url.trim()) ? new URL(url.endsWith('/') ? url : `${url}/`) : undefined
  if (base === undefined || base.username !== '' || base.password !== '')
    throw new TypeError('url has to begin with http:// or https://, and to hold no password.')
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey.trim(), 'x-strict-status': 'true' }
  new Headers(headers)
  const reports = createReports(options, write)
  const counts = { stored: 0, refused: 0, dropped: 0, retries: 0 }
  const trouble: Trouble = { cause: undefined }
  const sender: Sender = createSender(
    {
      ...numbers,
      isHidden,
      headers,
      fetch: (...request) => fetch(...request),
      urlOf: (path) => new URL(path, base).href,
    },
    {
      onSettled: (batch, outcome) => {
        trouble.cause = undefined
        settle({ batch, outcome, buffer, sender, counts, reports })
      },
      onRetry: (retry) => {
        counts.retries += 1
        trouble.cause = retry.cause
        reports.retried(retry)
      },
    },
  )
  const buffer: EntryBuffer = createBuffer(numbers, sender.add)
  return createSurface(options, { buffer, sender, counts, reports, trouble, ...numbers })
}

interface Parts {
  readonly buffer: EntryBuffer
  readonly sender: Sender
  readonly counts: { stored: number; refused: number; dropped: number; retries: number }
  readonly reports: Reports
}

/** The cause of the last failure; undefined if the last attempt succeeded. */
interface Trouble {
  cause: string | undefined
}

/** Records the outcome of a batch. */
function settle({ batch, outcome, buffer, sender, counts, reports }: Parts & SettledBatch): void {
  const { entries, bytes } = batch
  if (outcome.kind === 'refused' && outcome.tooLarge) {
    const { code, details } = outcome.problem
    const { limit } = (details ?? {}) as { limit?: unknown }
    if (code === 'batch_too_large') buffer.limit({ entries: typeof limit === 'number' ? limit : entries.length / 2 })
    else if (entries.length > 1) buffer.limit({ bytes: Math.ceil(bytes / 2) })
    // A part of a batch gets other ids than the whole, so it must not be sent if the whole may be stored.
    if (entries.length > 1 && !batch.maybeStored) {
      for (const half of halves(batch)) sender.add(half)
      return
    }
  }
  const { problem, rejected, errors } =
    outcome.kind === 'refused'
      ? { ...outcome, rejected: entries.length, errors: entries.map((_, index) => ({ ...outcome.problem, index })) }
      : { ...outcome, problem: outcome.errors[0] }
  counts.stored += entries.length - rejected
  counts.refused += rejected
  if (problem !== undefined) {
    const refused = errors.map(({ index, code, message, details }) => {
      return { index, code, message, details, entry: JSON.parse(entries[index] ?? 'null') }
    })
    reports.dropped({ count: rejected, reason: 'refused', message: problem.message, code: problem.code, refused })
  }
  buffer.release(batch)
}

interface SettledBatch {
  readonly batch: Batch
  readonly outcome: Exclude<Outcome, { kind: 'again' }>
}

const MESSAGES = {
  full: 'More was logged than could be sent: maxBufferBytes bounds what waits.',
  unserialisable: 'No JSON can be made of the entry: a getter or toJSON in it throws, or it is nested without end.',
  closed: 'The client was closed before the entry was confirmed.',
} as const satisfies Partial<Record<Dropped['reason'], string>>

/** The public functions of the client. */
function createSurface(
  options: ClientOptions,
  parts: Parts & { readonly trouble: Trouble; readonly closeTimeoutMs: number },
): Client {
  const { buffer, sender, counts, reports, trouble, closeTimeoutMs } = parts
  const { environment } = options
  const timestampOf = createTimestamps()
  const targets = createTargets(options.project)
  let closed: Promise<void> | undefined

  function drop(reason: keyof typeof MESSAGES): false {
    counts.dropped += 1
    reports.droppedOne(reason, MESSAGES[reason])
    return false
  }

  function take(target: Target, entryOf: () => Partial<LogInput>): boolean {
    if (closed !== undefined) return drop('closed')
    let json: string
    try {
      const entry = entryOf()
      const timestamp = entry.timestamp ?? timestampOf(Date.now())
      json = toJson({ ...entry, environment: entry.environment ?? environment, timestamp })
    } catch {
      return drop('unserialisable')
    }
    if (!buffer.add(target, json)) return drop('full')
    // All that the application logs in one task is one batch.
    if (isHidden()) queueMicrotask(buffer.complete)
    return true
  }

  function giveUp(): void {
    const message = MESSAGES.closed + (trouble.cause === undefined ? '' : ` The last attempt failed: ${trouble.cause}`)
    const left = sender.abandon()
    const count = left.reduce((sum, { entries }) => sum + entries.length, 0)
    counts.dropped += count
    if (count > 0) reports.dropped({ count, reason: 'closed', message, code: null, refused: [] })
    for (const batch of left) buffer.release(batch)
    reports.end()
  }

  /** Sends the remaining entries, and gives up on those not settled in time. */
  async function drain(): Promise<void> {
    const settled = flush()
    const isInTime = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(resolve, closeTimeoutMs, false)
      void settled.then(() => clearTimeout(timer)).then(() => resolve(true))
    })
    // An idle process goes on if others have work left, and what they log meanwhile has its own time.
    if (isInTime) reports.end()
    else giveUp()
  }

  async function flush(): Promise<void> {
    const settled = buffer.settled()
    sender.hurry()
    // The client's own timers do not keep Node alive, but a pending flush must.
    const alive = setInterval(() => undefined, closeTimeoutMs)
    await settled
    clearInterval(alive)
    reports.flush()
  }

  const unwatch = watchEnding({
    // Deferred, so that entries logged by other `beforeExit` handlers are included.
    onIdle: () => setTimeout(() => void drain(), 0),
    onExit: () => {
      buffer.complete()
      giveUp()
    },
    onHidden: () => {
      buffer.complete()
      sender.leave()
    },
  })

  return {
    log: (entry) => take(targets.application, () => withText(entry)),
    event: (entry) => take(targets.event, () => ({ ...entry, payload: textOf(entry.payload) })),
    flush,
    close: () => {
      // Deferred, so that nothing is accepted any more when an application's `fetch` logs that it sends.
      closed ??= Promise.resolve().then(drain).then(unwatch)
      return closed
    },
    stats: () => ({ ...counts, pending: buffer.entries, pendingBytes: buffer.bytes }),
  }
}

/** Logs the entry that a transport makes of a log. Where `make` throws, the log is dropped as one of which no JSON can be made. */
export function logMade(client: Client, make: () => LogInput): void {
  let entry: LogInput | undefined
  try {
    entry = make()
  } catch {
    // `log` counts what is no entry.
  }
  client.log(entry as LogInput)
}

const withText = ({ exception, ...entry }: LogInput): LogInput => ({
  ...entry,
  exception: typeof exception === 'object' && exception !== null ? exceptionText(exception) : exception,
})

const textOf = (payload: unknown): unknown =>
  typeof payload === 'object' && payload !== null ? toJson(payload) : payload

function createTargets(project: string | undefined): { readonly application: Target; readonly event: Target } {
  const start = `{"uniqueIdentifier":${JSON.stringify(project ?? null)},"logEntries":[`
  return {
    application: {
      path: 'api/ApplicationLogs/batch',
      takesBatches: true,
      bodyOf: (entries) => `${start}${entries.join(',')}]}`,
    },
    event: { path: 'api/ExternalLogs', takesBatches: false, bodyOf: ([entry = '']) => entry },
  }
}
