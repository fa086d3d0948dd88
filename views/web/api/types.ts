import type { LevelCounts } from '../../../shared/contract/levels.ts'

import type { Entry, FlowStep, FlowSummary, ProjectRef } from '../../flow-layout/types.ts'

export type { LevelCounts } from '../../../shared/contract/levels.ts'
export type {
  ApplicationEntry,
  EntityRef,
  Entry,
  EventEntry,
  FlowStep,
  FlowSummary,
  ProjectRef,
} from '../../flow-layout/types.ts'

/** What the read API answers; views/api/schemas.ts says the same for the OpenAPI document. */
export type EntryKind = Entry['kind']

/** How the search box was read: as a query, or as plain text because of a problem at a character (from 0). */
export type QueryReading =
  | { readonly read: 'query' }
  | { readonly read: 'text'; readonly problem: string; readonly at: number }

/** What can come at the caret of a search, and which part of the text it takes the place of. */
export interface Completion {
  readonly from: number
  readonly to: number
  readonly choices: readonly {
    readonly insert: string
    readonly label: string
    readonly help?: string
    readonly count?: number
  }[]
}

/** All that a search can say, by examples. */
export interface SearchSyntax {
  readonly items: readonly { readonly example: string; readonly help: string }[]
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

export interface EntryPage<Item extends Entry = Entry> extends Page<Item> {
  readonly query: QueryReading
}

export interface EntryContext<Item extends Entry = Entry> {
  readonly before: readonly Item[]
  readonly entry: Item
  readonly after: readonly Item[]
}

export interface Histogram {
  /** The width of a bucket in milliseconds. */
  readonly interval: number
  readonly buckets: readonly { readonly from: string; readonly total: number; readonly levels: LevelCounts }[]
  readonly total: number
}

export interface FacetValue {
  readonly value: string
  readonly count: number
}

/** Something to select entries by: `name` is the parameter. */
export interface Choice {
  readonly name: 'event' | 'step' | 'project' | 'category'
  readonly value: string
  readonly label: string
  readonly count: number
  readonly children: readonly Choice[]
}

/** What one can choose from, with counts, whatever of the same kind is chosen. */
export interface Choices {
  readonly total: number
  readonly level: readonly FacetValue[]
  readonly environment: readonly FacetValue[]
  readonly sections: readonly {
    readonly name: string
    /** How many values have entries; 100 are counted at most. */
    readonly size: number
    readonly choices: readonly Choice[]
  }[]
  readonly chosen: readonly Pick<Choice, 'name' | 'value' | 'label'>[]
}

/** The reason why a list is empty, and the changes that would show something, the best one first. */
export interface Absence {
  /** Whether the Team has any logs of this kind. */
  readonly kept: boolean
  /** The newest log of any time that matches; null where none does. */
  readonly newestAt: string | null
  /** The parameters in use that select by more than time. */
  readonly conditions: readonly string[]
  readonly ways: readonly {
    readonly kind: 'newest' | 'since' | 'without'
    /** The value of the one condition that it takes away; else null. */
    readonly value: string | null
    readonly params: Readonly<Record<string, string>>
    readonly total: number | null
  }[]
}

/** A range that was typed, as the address has it; null for an end that is open. */
export interface TypedRange {
  readonly from: string | null
  readonly to: string | null
}

export interface FlowDetail extends Page<Entry> {
  readonly summary: FlowSummary
  /** Every Step of every Event touched, in order, seen or not. */
  readonly steps: readonly FlowStep[]
  readonly projects: readonly ProjectRef[]
}

/** Who is signed in; `team` is null where nobody is. */
export interface Session {
  readonly team: { readonly id: string; readonly name: string } | null
  /** The first characters of the key that was signed in with. */
  readonly keyPrefix: string | null
}
