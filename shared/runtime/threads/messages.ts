import type { WireError } from './error-wire.ts'

/**
 * The calls of a thread: each takes arguments and returns a value or a promise of one, and all of these support structured cloning.
 * (Bounded by itself, so that an interface without an index signature fits.)
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

/** Messages travel in arrays: those of one event loop turn are posted together. */
export type ToThread = { readonly kind: 'calls'; readonly calls: readonly CallMessage[] } | { readonly kind: 'close' }

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: WireError }
  | { readonly kind: 'answers'; readonly answers: readonly AnswerMessage[] }
