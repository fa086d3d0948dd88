import type { Finding } from '../findings.ts'
import type { Settlement } from '../ledger.ts'
import type { Material } from '../material.ts'

/** Requests that honest clients make, of Teams that no attacker has the key of. */
export const PER_SECOND = { sends: 50, reads: 20 } as const
/** Clients at a time; each waits for its answer. */
export const CLIENTS = { sends: 16, reads: 8 } as const

/** Requests that were answered as they should be, refusals for now that were tried again, requests that failed for good. */
export const COUNTS = ['sends', 'reads', 'refused', 'failed'] as const

export type Counts = Readonly<Record<(typeof COUNTS)[number], number>>

/** Where the program is now. */
export interface Where {
  readonly ports: Readonly<Record<string, number>>
  readonly deaths: number
}

export interface HonestOrder {
  readonly seed: number
  readonly material: Material
  readonly where: Where
  /** In the order of `COUNTS`. */
  readonly counts: Int32Array
}

export interface OrderChange {
  readonly where: Where
  readonly isOver: boolean
}

export type HonestReport =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'over'; readonly settlement: Settlement }
