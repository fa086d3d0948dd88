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
  readonly code: string
  readonly message: string
  readonly identifier: string | null
  readonly facts: readonly { readonly name: string; readonly text: string }[]
  readonly body: string | null
  readonly bodyCut: boolean
  readonly nearest: EntityRef | null
  readonly unnoted: number
  readonly curl: string | null
}
