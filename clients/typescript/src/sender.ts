import type { Outcome } from './answer.ts'
import { type Batch, utf8Bytes } from './batch.ts'
import { createPause, type PauseOptions } from './pause.ts'
import { type Post, post } from './request.ts'
import { later } from './times.ts'

export interface SenderOptions extends PauseOptions {
  readonly fetch: typeof fetch
  /** The address of a path of the service. */
  readonly urlOf: (path: string) => string
  readonly headers: Readonly<Record<string, string>>
  /** Most requests under way at once. */
  readonly maxInFlight: number
  /** Most milliseconds from a request to the end of its answer. */
  readonly requestTimeoutMs: number
}

/** An attempt that did not settle its batch. */
export interface Retry {
  /** Attempts in a row that failed, from 1. */
  readonly failures: number
  /** How long nothing is sent now. */
  readonly delayMs: number
  /** The failure, in words. */
  readonly cause: string
}

export interface SenderEvents {
  readonly onSettled: (batch: Batch, outcome: Exclude<Outcome, { kind: 'again' }>) => void
  readonly onRetry: (retry: Retry) => void
}

/** Sends batches, each until it is settled, and holds back while the server is in trouble. */
export interface Sender {
  add(batch: Batch): void
  /** Ends a pause that the back-off made; one that the server asked for is kept. */
  hurry(): void
  /** The page may be gone at any moment: sends what a browser carries on with then. */
  leave(): void
  /** Gives up: ends the attempts under way, and gives back all batches that are not settled. */
  abandon(): readonly Batch[]
}

interface Attempt {
  readonly controller: AbortController
  readonly startedAt: number
  readonly keepalive: boolean
  readonly bytes: number
}

/** Browsers allow the bodies of such requests 64 KiB together, of which the rest of the page may need some. */
export const KEEPALIVE_BYTES_MAX = 60 * 1024

export function createSender(options: SenderOptions, { onSettled, onRetry }: SenderEvents): Sender {
  const { maxInFlight, requestTimeoutMs } = options
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
      // One at a time asks a server in trouble whether it is well again.
      if (underWay.size >= (pause.failures === 0 ? maxInFlight : 1)) return
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
      timeoutMs: requestTimeoutMs,
      keepalive,
    }
    void post(options.fetch, request).then((outcome) => {
      // Another attempt took its place, or it was given up.
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
    // Behind the others: a batch that fails for reasons of its own keeps none of them waiting.
    waiting.add(batch)
    batch.maybeStored ||= !unsent
    const delayMs = pause.failed(startedAt, afterMs)
    if (delayMs !== undefined) onRetry({ failures: pause.failures, delayMs: Math.round(delayMs), cause })
  }

  /** Attempts under way end with the page, so they are made again; the server stores the entries once. */
  function leave(): void {
    let room = KEEPALIVE_BYTES_MAX
    for (const { keepalive, bytes } of underWay.values()) if (keepalive) room -= bytes
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
      pump()
    },
    hurry: () => {
      pause.hurry()
      pump()
    },
    leave,
    abandon,
  }
}
