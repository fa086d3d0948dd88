import { setTimeout as delay } from 'node:timers/promises'
import { createClient, type Envelope } from './api.ts'
import { eventually } from './eventually.ts'
import { createLedger, type Ledger } from './ledger.ts'

/** The destination of entries, and the key. */
export interface LoadTarget {
  /** Called for every request, as a restarted gateway has another address. */
  readonly url: () => string
  readonly apiKey: string
  readonly project: string
  /** Identifiers of an Event and of a Step. */
  readonly identifiers: readonly [string, string]
}

/** Clients that send entries of both kinds, singly and in batches, with and without a correlationKey, until stopped. */
export interface Load {
  /** Identifies the entries of this load: the `environment` of each. */
  readonly environment: string
  readonly ledger: Ledger
  /** Failed requests by error code; `broken` if there was no response. */
  readonly failures: ReadonlyMap<string, number>
  /** Resolves when this many more entries have been answered `success:true`. */
  answeredMore(entries: number): Promise<void>
  /** Resolves when all pending requests have been answered. */
  stop(): Promise<void>
}

const CLIENTS = 4
/**
 * A client's pause between two requests: four clients send some 250 entries a second. Every request costs each process and server behind it
 * as much CPU time as dozens of entries, and what a fault needs to end must get its share.
 */
const PACE_MS = 240
const ENTRIES_A_BATCH = 50
/** Entries of one turn of all clients: each has sent a request of every kind, and together they have reached every partition. */
export const TURN = CLIENTS * (ENTRIES_A_BATCH + 2)
/** Enough keys to reach every partition of a topic. */
export const KEYS = 40
const PROGRESS_WITHIN_MS = 90_000

/** The next request of a client: path, body, and the marks of its entries in body order. */
interface Request {
  readonly path: string
  readonly body: unknown
  readonly marks: readonly string[]
}

export function startLoad(target: LoadTarget, environment: string): Load {
  const ledger = createLedger()
  const failures = new Map<string, number>()
  const failed = (code: string): void => void failures.set(code, (failures.get(code) ?? 0) + 1)
  let running = true

  const send = async ({ path, body, marks }: Request, headers: Record<string, string>): Promise<boolean> => {
    for (const mark of marks) ledger.sent(mark)
    try {
      const answer = await createClient(target.url(), target.apiKey).post(path, body, headers)
      const refused = refusedOf(answer, marks.length)
      for (const [index, mark] of marks.entries()) if (!refused.has(index)) ledger.answered(mark)
      if (!answer.success) failed(answer.error.code)
      else if (refused.size > 0) failed('partial')
      return refused.size === 0
    } catch {
      failed('broken')
      return false
    }
  }

  const runClient = async (client: number): Promise<void> => {
    // The last client retries unanswered requests with the same Idempotency-Key, which must not store them twice.
    const insists = client === CLIENTS - 1
    for (let number = 0; running; number++) {
      const request = nextRequest(target, environment, client, number)
      const headers: Record<string, string> = insists ? { 'idempotency-key': `${environment}-${number}` } : {}
      do await delay(PACE_MS)
      while (!(await send(request, headers)) && insists && running)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)))

  return {
    environment,
    ledger,
    failures,
    answeredMore: async (entries) => {
      const wanted = ledger.answeredCount() + entries
      await eventually(() => ledger.answeredCount() >= wanted, PROGRESS_WITHIN_MS)
    },
    stop: async () => {
      running = false
      await clients
    },
  }
}

/** Alternates between an event log, a batch that spans all partitions, and an application log. */
function nextRequest(
  { project, identifiers }: LoadTarget,
  environment: string,
  client: number,
  number: number,
): Request {
  const common = (index: number) => ({
    level: 'Information',
    environment,
    ...(index % 3 > 0 && { correlationKey: `${environment}-${(client * 11 + number * 7 + index) % KEYS}` }),
  })
  const markOf = (index: number): string => `${environment}:${client}:${number}:${index}`
  const application = (index: number) => ({ categoryName: 'Fault', message: markOf(index), ...common(number + index) })
  switch (number % 3) {
    case 0: {
      const uniqueIdentifier = identifiers[(number / 3) % 2]
      const body = { uniqueIdentifier, payload: markOf(0), ...common(number / 3) }
      return { path: '/api/ExternalLogs', body, marks: [markOf(0)] }
    }
    case 1: {
      const logEntries = Array.from({ length: ENTRIES_A_BATCH }, (_, index) => application(index))
      const marks = logEntries.map(({ message }) => message)
      return { path: '/api/ApplicationLogs/batch', body: { uniqueIdentifier: project, logEntries }, marks }
    }
    default:
      return {
        path: '/api/ApplicationLogs',
        body: { uniqueIdentifier: project, ...application(0) },
        marks: [markOf(0)],
      }
  }
}

/** The indexes of the entries that were not accepted. */
function refusedOf({ success, data }: Envelope, entries: number): ReadonlySet<number> {
  if (!success) return new Set(Array.from({ length: entries }, (_, index) => index))
  const errors = (data['errors'] ?? []) as readonly { readonly index: number }[]
  return new Set(errors.map(({ index }) => index))
}
