import type { Outcome } from './answer.ts'
import { type Batch, utf8Bytes } from './batch.ts'
import { createPause, type PauseOptions } from './pause.ts'
import { type Post, post } from './request.ts'
import { later } from './times.ts'

interface SenderOptions extends PauseOptions {
  readonly fetch: typeof fetch
  /** The URL of a path of the server. */
  readonly urlOf: (path: string) => string
  readonly headers: Readonly<Record<string, string>>
  /** Maximum number of concurrent requests. */
  readonly maxInFlight: number
  /** Maximum milliseconds from a request to the end of its response. */
  readonly requestTimeoutMs: number
  /** Whether the page may be closed at any moment. */
  readonly isHidden: () => boolean
}

/** A failed attempt that will be repeated. */
export interface Retry {
  /** Consecutive failed attempts, from 1. */
  readonly failures: number
  /** How long nothing will be sent, in milliseconds. */
  readonly delayMs: number
  /** Describes the failure. */
  readonly cause: string
}

interface SenderEvents {
  readonly onSettled: (batch: Batch, outcome: Exclude<Outcome, { kind: 'again' }>) => void
  readonly onRetry: (retry: Retry) => void
}

/** Sends batches until they are settled, and holds back while the server has problems. */
export interface Sender {
  add(batch: Batch): void
  /** Ends a back-off pause; a wait requested by the server is kept. */
  hurry(): void
  /** The page may be closed at any moment: sends as much as the browser completes after that. */
  leave(): void
  /** Gives up: aborts running attempts, and returns all unsettled batches. */
  abandon(): readonly Batch[]
}

interface Attempt {
  readonly controller: AbortController
  readonly startedAt: number
  readonly keepalive: boolean
  readonly bytes: number
}

/** Browsers limit the total of keepalive bodies to 64 KiB, and the rest of the page may need some of it. */
export const KEEPALIVE_BYTES_MAX = 60 * 1024

/** The bytes of further requests that a browser would complete after the page is closed. */
function keepaliveRoom(underWay: ReadonlyMap<Batch, Attempt>): number {
  let room = KEEPALIVE_BYTES_MAX
  for (const { keepalive, bytes } of underWay.values()) if (keepalive) room -= bytes
  return room
}

export function createSender(options: SenderOptions, { onSettled, onRetry }: SenderEvents): Sender {
  const waiting = new Set<Batch>()
  const underWay = new Map<Batch, Attempt>()
  const pause = createPause(options)
  let timer: ReturnType<typeof setTimeout> | undefined

  function pump(): void {
    clearTimeout(timer)
    const waitMs = pause.leftMs()
    if (waitMs > 0) {
      if (waiting.size > 0) timer = later(pump, waitMs)
      return
    }
    for (const batch of waiting) {
      // While the server has problems, one request at a time probes whether it has recovered.
      if (underWay.size >= (pause.failures === 0 ? options.maxInFlight : 1)) return
      start(batch, false)
    }
  }

  function start(batch: Batch, keepalive: boolean): void {
    const body = batch.target.bodyOf(batch.entries)
    const bytes = utf8Bytes(body)
    const attempt = { controller: new AbortController(), startedAt: performance.now(), keepalive, bytes }
    waiting.delete(batch)
    underWay.set(batch, attempt)
    const request: Post = {
      url: options.urlOf(batch.target.path),
      headers: { ...options.headers, 'idempotency-key': batch.idempotencyKey },
      body,
      controller: attempt.controller,
      timeoutMs: options.requestTimeoutMs,
      keepalive,
    }
    void post(options.fetch, request).then((outcome) => {
      // The attempt was replaced, or given up.
      if (underWay.get(batch) !== attempt) return
      underWay.delete(batch)
      if (outcome.kind === 'again') holdBack(batch, attempt, outcome)
      else {
        pause.succeeded()
        onSettled(batch, outcome)
      }
      pump()
    })
  }

  function holdBack(
    batch: Batch,
    { startedAt }: Attempt,
    { cause, afterMs, unsent }: Outcome & { kind: 'again' },
  ): void {
    // At the end of the queue, so that a batch with its own problem does not block the others.
    waiting.add(batch)
    batch.maybeStored ||= !unsent
    const delayMs = pause.failed(startedAt, afterMs)
    if (delayMs !== undefined) onRetry({ failures: pause.failures, delayMs: Math.round(delayMs), cause })
  }

  /** Running attempts end with the page, so they are repeated with keepalive; the server stores the entries only once. */
  function leave(): void {
    let room = keepaliveRoom(underWay)
    const ending = [...underWay].filter(([, { keepalive }]) => !keepalive).map(([batch]) => batch)
    for (const batch of [...ending, ...waiting]) {
      if (batch.bytes > room) continue
      const ended = underWay.get(batch)
      ended?.controller.abort()
      batch.maybeStored ||= ended !== undefined
      start(batch, true)
      room -= underWay.get(batch)?.bytes ?? 0
    }
  }

  function abandon(): readonly Batch[] {
    clearTimeout(timer)
    const left = [...underWay.keys(), ...waiting]
    const attempts = [...underWay.values()]
    waiting.clear()
    underWay.clear()
    for (const { controller } of attempts) controller.abort()
    return left
  }

  return {
    add: (batch) => {
      waiting.add(batch)
      // A page that is closed may not say so again.
      const isServed = pause.failures === 0 && pause.leftMs() <= 0
      if (options.isHidden() && isServed && batch.bytes <= keepaliveRoom(underWay)) start(batch, true)
      else pump()
    },
    hurry: () => {
      pause.hurry()
      pump()
    },
    leave,
    abandon,
  }
}
