import type { Transferable } from 'node:worker_threads'
import type { WireError } from './error-wire.ts'

/**
 * The calls that a thread takes: each takes arguments and gives back a value or a promise of one, all of them fit for
 * structured cloning. (Bounded by itself, so that an interface without an index signature fits.)
 */
export type CallsOf<Calls> = { readonly [Name in keyof Calls]: (...args: never[]) => unknown }

export interface CallMessage {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

export type AnswerMessage =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: WireError }

/** Messages travel in arrays: what is sent within one turn of the event loop is posted once. */
export type ToThread = { readonly kind: 'calls'; readonly calls: readonly CallMessage[] } | { readonly kind: 'close' }

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'answers'; readonly answers: readonly AnswerMessage[] }

export type { Transferable }
