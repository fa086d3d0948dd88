import type { Draft, Role } from './draft.ts'

/** The end of a script, after its bytes were sent. */
export type End =
  /** Every answer is waited for; then the connection is fit for the next requests. */
  | { readonly kind: 'keep' }
  /** Every answer is waited for; then the connection is closed. */
  | { readonly kind: 'close' }
  /** The sending half is closed at once, the answers are waited for. */
  | { readonly kind: 'half-close' }
  /** The connection is broken after so many milliseconds, whatever has come. */
  | { readonly kind: 'break'; readonly afterMs: number }
  /** The connection is left open and unread for so many milliseconds, while other cases go on. */
  | { readonly kind: 'leave'; readonly forMs: number }
  /** A stream is read for so many milliseconds, or until it ends. */
  | { readonly kind: 'read'; readonly forMs: number }

/** The bytes that are sent on one connection, and the answers that have to come back. */
export interface Script {
  readonly role: Role
  /** In the order in which they are sent. */
  readonly requests: readonly Draft[]
  readonly wire: Buffer
  /** Where the bytes are cut into writes. */
  readonly cuts: readonly number[]
  readonly pauseMs: number
  readonly end: End
  /** How many answers have to come; 0 where that cannot be told beforehand. */
  readonly owed: number
}

/** A step of a case: its scripts run at the same time, on connections of their own. */
export interface Stage {
  readonly scripts: readonly Script[]
  /** Sent again while the answer is 404: what was accepted is visible a moment later. */
  readonly untilFound: boolean
}

/** All that belongs to one number of a run: its bytes, and how they are sent. Always the same for a seed. */
export interface Plan {
  readonly number: number
  /** For reports. */
  readonly label: string
  readonly stages: readonly Stage[]
}

/** A request on a connection that others use as well. */
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
