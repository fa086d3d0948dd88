import type { EntryDocument, FlowDelta } from '../contract/documents.ts'
import type { Level, LevelCounts } from '../contract/levels.ts'
import type { EntryKind, EntryRecord } from '../contract/records.ts'
import type { EntryRow } from '../contract/rows.ts'
import type { LeafName, Query } from '../query/ast.ts'
import type { Health } from '../runtime/lifecycle.ts'
import type { SeriesFunction } from './statistics.ts'

/**
 * The log store: the searchable documents that consumers write and the views read.
 *
 * - A document is stored once by its id, whatever is written again and in whatever order. The first one written stays.
 * - A written document may become visible later (the store says how late at most, `searchableWithinMs`); once visible it stays
 *   so until retention removes its day.
 * - Every reading call is for one Team and sees no other Team's documents.
 * - Entries are ordered by (timestamp, id). A page follows from the last entry of the page before, so entries that arrive
 *   meanwhile are neither skipped nor repeated among those that were there.
 * - A transient failure is the store's to retry; a bad document is an outcome, not an exception.
 */
export interface LogStore extends LogStoreWriter, LogStoreReader {
  /** Never rejects. */
  health(): Promise<Health>
  /** Lets go of everything; safe to call twice. */
  close(): Promise<void>
}

export interface LogStoreWriter {
  /** The longest time from a write's return until a search sees it, in milliseconds. */
  readonly searchableWithinMs: number

  /**
   * Stores documents; one outcome each, in order. Goes through them once, and may take its time between two. Transient failures are retried until `signal` aborts. Rejects with a
   * `StoreHaltError` for what retrying cannot cure, and with the signal's reason.
   */
  write(documents: Iterable<EntryDocument>, signal: AbortSignal): Promise<readonly WriteOutcome[]>

  /** Folds what was learnt of flows into their summaries. Telling the same twice changes nothing. Failures as in `write`. */
  mergeFlows(deltas: readonly FlowDelta[], signal: AbortSignal): Promise<void>

  /** Removes whole days: documents whose `receivedAt` lies before the day (yyyy-mm-dd, UTC). Returns how many documents. */
  removeBefore(day: string): Promise<number>
}

export type WriteOutcome =
  | { readonly outcome: 'stored' }
  /** Its id was there already. */
  | { readonly outcome: 'duplicate' }
  /** The store will never take it; the reason holds no content of the document. */
  | { readonly outcome: 'refused'; readonly reason: string }

/**
 * Reads. When its signal aborts, a call rejects with the signal's reason at once, and the store stops working on it. A call that
 * would take more memory than a read may have rejects with a `ReadTooLargeError`.
 */
export interface LogStoreReader {
  search(filter: EntryFilter, page: PageRequest, signal?: AbortSignal): Promise<Page>
  get(team: string, kind: EntryKind, id: string, signal?: AbortSignal): Promise<EntryRecord | undefined>
  /** The number of entries that match. */
  count(filter: EntryFilter, signal?: AbortSignal): Promise<number>
  /** Counts by level in at most `bucketsMax` equal spans over the filter's range, or over that of the matches where it has none. */
  histogram(filter: EntryFilter, bucketsMax: number, signal?: AbortSignal): Promise<Histogram>
  /** For each facet the values with most matches, most first. */
  facets(filter: EntryFilter, valuesMax: number, signal?: AbortSignal): Promise<Facets>
  /**
   * The groups of the matches that share a value, those with most matches first, each with its counts in at most `bucketsMax` equal
   * spans of the filter's range, or of that of the matches where it has none. A list of groups ends early where their samples have
   * as many bytes as a page may have.
   */
  groups(filter: EntryFilter, by: GroupField, limits: GroupLimits, signal?: AbortSignal): Promise<Groups>
  /**
   * A function of the matches, or of the numbers that they have at a path, for each of at most `bucketsMax` equal spans as those of the
   * histogram. Rejects with a `ReadTooLargeError` where the numbers have more than `ROUNDED_NUMBERS_MAX` different values (statistics.ts).
   */
  series(filter: EntryFilter, request: SeriesRequest, signal?: AbortSignal): Promise<SeriesAnswer>
  /**
   * Matches that became visible after the cursor, as rows, oldest first in the order of arrival; null starts at the present end. At
   * most `limit` of them and, but for the first, `PAGE_BYTES_MAX`. Rejects with a `TailCursorError` where it gave out no such cursor.
   */
  tail(filter: EntryFilter, after: TailCursor | null, limit: number, signal?: AbortSignal): Promise<TailPage>
  /** Flows in the order that the page asks for. A page ends early where its flows have very many groups. */
  searchFlows(filter: FlowFilter, page: FlowPageRequest, signal?: AbortSignal): Promise<FlowPage>
  /** The number of flows that match, by their states. */
  countFlows(filter: FlowFilter, states: FlowStates, signal?: AbortSignal): Promise<FlowCounts>
  /** One flow, or undefined where the Team has no entry with the key. */
  flow(team: string, correlationKey: string, signal?: AbortSignal): Promise<Flow | undefined>
}

export interface EntryFilter {
  readonly team: string
  /** Both kinds where empty. */
  readonly kinds: readonly EntryKind[]
  readonly query: Query
  /** Canonical timestamps: `from` inclusive, `to` exclusive, on `timestamp`; null leaves that end open. */
  readonly from: string | null
  readonly to: string | null
  /** The ends of a range of levels, both inclusive. */
  readonly levelMin: Level | null
  readonly levelMax: Level | null
  readonly environment: string | null
  readonly correlationKey: string | null
  /** An Event's identifier: entries of the Event and of its Steps. */
  readonly event: string | null
  readonly step: string | null
  readonly project: string | null
  /** A category and all below it: `Acme.Billing` finds `Acme.Billing` and `Acme.Billing.Jobs`, not `Acme.BillingX`. */
  readonly category: string | null
  /** The id of a group of application logs, as the documents have it. */
  readonly template: string | null
  readonly exceptionGroup: string | null
}

/** A place between entries: just after the entry named. */
export interface Cursor {
  readonly timestamp: string
  readonly id: string
}

/** A page ends early once its entries have so many bytes as they are given back, but for the first. */
export const PAGE_BYTES_MAX = 2 * 1024 * 1024

/** A page of flows ends early once they have so many groups. */
export const PAGE_GROUPS_MAX = 20_000

export interface PageRequest {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly after: Cursor | null
  /** `row`: long texts are cut to what a row of a list can show (`rowOf`); left out: entries are whole. */
  readonly form?: 'row' | 'whole'
}

export interface Page {
  readonly entries: readonly EntryRow[]
  /** The beginning of the next page, or null at the end. */
  readonly next: Cursor | null
}

export interface Histogram {
  /** The width of a bucket in milliseconds. */
  readonly intervalMs: number
  /** Consecutive, oldest first, empty ones included; `from` is a canonical timestamp. */
  readonly buckets: readonly { readonly from: string; readonly total: number; readonly levels: LevelCounts }[]
  readonly total: number
}

export type FacetName = 'level' | 'environment' | 'event' | 'step' | 'project' | 'category'
export type Facets = Readonly<Record<FacetName, readonly { readonly value: string; readonly count: number }[]>>

/** The fields with one value at most. */
export type GroupColumn = FacetName | 'correlationKey' | 'eventName' | 'eventId' | 'template' | 'exceptionGroup'

/** The field whose value the entries of a group share. An entry with several leaves at a path is in the group of each. */
export type GroupField = GroupColumn | LeafName

export interface GroupLimits {
  /** Most groups, at least 1. */
  readonly groupsMax: number
  readonly bucketsMax: number
}

export interface Groups {
  /** The width of a span in milliseconds. */
  readonly intervalMs: number
  /** The beginning of each span, a canonical timestamp, oldest first. */
  readonly spans: readonly string[]
  readonly groups: readonly EntryGroup[]
  /** Whether there are further groups. */
  readonly more: boolean
  /** Matches without a value. */
  readonly ungrouped: number
}

export interface EntryGroup {
  /** The value that its entries share. */
  readonly value: string
  readonly count: number
  /** Canonical timestamps of the earliest and latest entry. */
  readonly firstAt: string
  readonly lastAt: string
  readonly worstLevel: Level
  /** The number of its entries in each span. */
  readonly counts: readonly number[]
  /** Its last entry. */
  readonly sample: EntryRow
}

export interface SeriesRequest {
  readonly fn: SeriesFunction
  /** The numbers that `fn` is of; null, for `count` alone, counts entries. */
  readonly of: LeafName | null
  /** A series for each value of a field; null makes one of all matches. */
  readonly by: GroupField | null
  /** Most series, at least 1: of the values that most entries have, among those with a leaf at `of`. */
  readonly seriesMax: number
  readonly bucketsMax: number
}

/** The same entries, as far as they have a leaf at the path. */
export const withLeaf = (filter: EntryFilter, leaf: LeafName | null): EntryFilter =>
  leaf === null
    ? filter
    : { ...filter, query: { type: 'and', queries: [filter.query, { type: 'leafExists', ...leaf }] } }

export interface SeriesAnswer {
  /** The width of a span in milliseconds. */
  readonly intervalMs: number
  /** The beginning of each span, a canonical timestamp, oldest first. */
  readonly spans: readonly string[]
  readonly series: readonly Series[]
  /** Whether the field has further values. */
  readonly more: boolean
}

export interface Series {
  /** The value that its entries share; null for all matches. */
  readonly value: string | null
  /** The number of its entries, or of its numbers. */
  readonly count: number
  /** The function for each span; null where there is nothing that it could be of. */
  readonly points: readonly (number | null)[]
}

/** A place in the order of arrival; opaque to all but the store. */
export type TailCursor = string

export interface TailPage {
  readonly entries: readonly { readonly entry: EntryRow; readonly cursor: TailCursor }[]
  /** The place to go on from, also when nothing matched. */
  readonly cursor: TailCursor
  /** Whether the page ended early, so that there may be more at once. */
  readonly more: boolean
}

export interface FlowFilter {
  readonly team: string
  /** Part of the correlationKey in any case; null finds all. */
  readonly keyPart: string | null
  /** Flows with activity in the range: canonical timestamps, `from` inclusive, `to` exclusive. */
  readonly from: string | null
  readonly to: string | null
  /** The worst level is at least this. */
  readonly levelMin: Level | null
  readonly environment: string | null
  readonly event: string | null
  readonly step: string | null
  readonly project: string | null
  /** Flows in this state; null finds all. */
  readonly state: (FlowStates & { readonly is: FlowState }) | null
}

/**
 * The probable states of a flow, of which it has one:
 *
 * - `failed`: no Event or Step logged below Error after its last error; without any such log, nothing at all was logged after it.
 * - `finished`: every Event reached its end, or no Step is expected and nothing is logged any more.
 * - `running`: a Step is expected, or no Event tells which, and it logged lately.
 * - `stalled`: a Step is expected, and it did not log lately.
 *
 * Flows whose last error was stored by a release before this one are failed until an Event or Step logs in them.
 */
export const FLOW_STATES = ['running', 'stalled', 'failed', 'finished'] as const
export type FlowState = (typeof FLOW_STATES)[number]
export type FlowCounts = Readonly<Record<FlowState, number>>

/** The facts that tell the states of flows apart, beside the flows' own. */
export interface FlowStates {
  /** A flow that logged after it, a canonical timestamp, logged lately; where Events of `waits` expect a Step, these say after what. */
  readonly lately: string
  /**
   * The Events that have Steps in use, `EVENT_ENDS_MAX` at most, each with the Steps of which any one ends it; as long as none was seen in a
   * flow of the Event, a Step is expected.
   */
  readonly ends: readonly { readonly event: string; readonly steps: readonly string[] }[]
  /**
   * Events of `ends`, each once at most, of which is known how long flows wait at their places, the Steps in order: a flow logged lately for the Event
   * where it logged after the `lately` of the last place that it has seen, or after that of the Event where it has seen none. It has to have
   * logged lately for each of these Events that expects a Step. There are `FLOW_PLACES_MAX` places at most.
   */
  readonly waits: readonly { readonly event: string; readonly lately: string; readonly places: readonly FlowPlace[] }[]
}

export interface FlowPlace {
  readonly step: string
  readonly lately: string
}

/** Places of all Events together; a condition can have so many parts only. */
export const FLOW_PLACES_MAX = 200

/** Beyond so many Events, states cost more than a read may: each is a condition on every flow. */
export const EVENT_ENDS_MAX = 1_000

/** Orders of flows: the latest activity, the longest time from first to last entry, the worst level; equal ones by latest activity. */
export const FLOW_SORTS = ['latest', 'longest', 'worst'] as const
export type FlowSort = (typeof FLOW_SORTS)[number]

/** A place in the order that a page asked for. */
export interface FlowCursor {
  /** The first sort key, before the latest activity: milliseconds for `longest`, the rank of a level for `worst`, 0 for `latest`. */
  readonly rank: number
  readonly lastAt: string
  readonly correlationKey: string
}

export interface FlowPageRequest {
  readonly limit: number
  readonly sort: FlowSort
  readonly after: FlowCursor | null
}

export interface FlowPage {
  readonly flows: readonly Flow[]
  readonly next: FlowCursor | null
}

export interface Flow {
  readonly correlationKey: string
  readonly firstAt: string
  readonly lastAt: string
  /** The flow's entries counted by where they belong and how severe they are. */
  readonly groups: readonly FlowGroup[]
}

export interface FlowGroup {
  readonly event: string | null
  readonly step: string | null
  readonly project: string | null
  readonly level: Level
  readonly count: number
  readonly firstAt: string
  readonly lastAt: string
}

/** A read was given up for the memory that it would take; it has to be narrowed. */
export class ReadTooLargeError extends Error {
  override readonly name = 'ReadTooLargeError'
}

/** Whether the reason of a signal is that the time of a read is over. */
export const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

/** The time of a read was over before the store came to it: others were before it. */
export class ReadNotBegunError extends Error {
  override readonly name = 'ReadNotBegunError'
}

/** A place in the order of arrival that the store did not give out. */
export class TailCursorError extends Error {
  override readonly name = 'TailCursorError'
}

/** The store cannot take anything until an operator acts (security, configuration, corruption): halt, do not dead-letter. */
export class StoreHaltError extends Error {
  override readonly name = 'StoreHaltError'
}
