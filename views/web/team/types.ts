import type { EntityRef } from '../api/types.ts'

/** What the API tells of the Team's settings; views/team/openapi.ts says the same. */
interface Owned {
  readonly name: string
  /** Null while it takes logs. */
  readonly archivedAt: string | null
  /** The latest entry of the last 24 hours; null where there is none, or unknown. */
  readonly lastSeenAt: string | null
  /** Entries of the last 24 hours; null where unknown. */
  readonly lastDay: number | null
}

export interface TeamStep extends Owned {
  readonly identifier: string
  readonly order: number
}

export interface TeamEvent extends Owned {
  readonly identifier: string
  readonly steps: readonly TeamStep[]
}

export interface TeamProject extends Owned {
  readonly id: string
}

export interface TeamKey {
  readonly prefix: string
  readonly createdAt: string
  readonly revokedAt: string | null
}

export interface TeamSettings {
  readonly keys: readonly TeamKey[]
  readonly events: readonly TeamEvent[]
  /** Those that stand without an Event. */
  readonly steps: readonly TeamStep[]
  readonly projects: readonly TeamProject[]
}

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

/** What is sent to: an Event or a Step by its identifier, or a Project by its id. */
export interface Target {
  readonly kind: 'event' | 'step' | 'project'
  readonly id: string
}

/** Where the API has it. */
export const pathOf = ({ kind, id }: Target, below = ''): string =>
  /^\.{1,2}$/.test(id)
    ? `/api/team/${kind}s/-${below}?identifier=${id}`
    : `/api/team/${kind}s/${encodeURIComponent(id)}${below}`
