import type { EntityRef } from '../api/types.ts'

export interface NewKey {
  readonly key: string
  readonly prefix: string
}

export interface SampleFlow {
  readonly correlationKey: string
  readonly sent: number
}

export interface Refusal {
  readonly id: string
  readonly at: string
  readonly endpoint: string
  readonly code: string
  readonly message: string
  readonly details: unknown
  readonly index: number | null
  readonly identifier: string | null
  readonly keyPrefix: string | null
  readonly userAgent: string | null
  readonly body: string | null
  readonly bodyCut: boolean
  readonly nearest: EntityRef | null
  readonly unnoted: number
  readonly curl: string | null
}
