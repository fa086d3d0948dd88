import type { Finding } from '../findings.ts'
import type { Settlement } from '../ledger.ts'
import type { Material } from '../material.ts'

/** Requests per second of honest clients, for Teams whose keys no attacker has. */
export const PER_SECOND = { sends: 50, reads: 20 } as const

/** Number of concurrent honest clients; each waits for its response. */
export interface Clients {
  readonly sends: number
  readonly reads: number
}

/** Enough to keep the rate while requests wait. */
export const MANY: Clients = { sends: 16, reads: 8 }
/** Enough to see one harmed. So few are soon served, and an attack that is repeated until then is soon over. */
export const FEW: Clients = { sends: 4, reads: 2 }

/** Successful sends and reads, retried temporary refusals, and requests that finally failed. */
export const COUNTS = ['sends', 'reads', 'refused', 'failed'] as const

export type Counts = Readonly<Record<(typeof COUNTS)[number], number>>

/** The ports of the current processes, and how many have died. */
export interface Where {
  readonly ports: Readonly<Record<string, number>>
  readonly deaths: number
}

export interface HonestOrder {
  readonly seed: number
  readonly clients: Clients
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
