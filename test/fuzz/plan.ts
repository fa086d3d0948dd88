import type { Draft, Role } from './draft.ts'

/** How a script ends after its bytes were sent. */
export type End =
  /** All responses are awaited; then the connection can be reused. */
  | { readonly kind: 'keep' }
  /** All responses are awaited; then the connection is closed. */
  | { readonly kind: 'close' }
  /** The sending half is closed at once; the responses are awaited. */
  | { readonly kind: 'half-close' }
  /** The connection is broken after this many milliseconds, whatever has arrived. */
  | { readonly kind: 'break'; readonly afterMs: number }
  /** The connection is left open and unread for this many milliseconds, while other cases continue. */
  | { readonly kind: 'leave'; readonly forMs: number }
  /** A stream is read for this many milliseconds, or until it ends. */
  | { readonly kind: 'read'; readonly forMs: number }

/** The bytes sent on one connection, and the expected responses. */
export interface Script {
  readonly role: Role
  /** In the order of sending. */
  readonly requests: readonly Draft[]
  readonly wire: Buffer
  /** Offsets at which the bytes are split into writes. */
  readonly cuts: readonly number[]
  readonly pauseMs: number
  readonly end: End
  /** The number of required responses; 0 if unknown beforehand. */
  readonly owed: number
}

/** A step of a case: its scripts run concurrently, each on its own connection. */
export interface Stage {
  readonly scripts: readonly Script[]
  /** Repeated while the response is 404: accepted entries become visible a moment later. */
  readonly untilFound: boolean
}

/** Everything that belongs to one case number of a run: its bytes, and how they are sent. Deterministic for a seed. */
export interface Plan {
  readonly number: number
  /** For reports. */
  readonly label: string
  readonly stages: readonly Stage[]
}

/** A request on a shared connection. */
export const plain = (wire: Buffer, draft: Draft, end: End = { kind: 'keep' }): Script => ({
  role: draft.role,
  requests: [draft],
  wire,
  cuts: [],
  pauseMs: 0,
  end,
  owed: draft.torn ? 0 : 1,
})

export const labelOf = ({ route, mutations }: Draft): string =>
  mutations.length === 0 ? route : `${route} (${mutations.join(', ')})`
