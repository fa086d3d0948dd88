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
 * - A document is stored once per id, whatever is rewritten and in whatever order. The first one written stays.
 * - A written document may become visible later (at most `searchableWithinMs` later); once visible, it stays visible until
 *   retention removes its day.
 * - Every read call is for one Team and sees no other Team's documents.
 * - Entries are ordered by (timestamp, id). A page continues from the last entry of the previous page, so entries that arrive
 *   meanwhile cause none of the others to be skipped or repeated.
 * - The store retries transient failures; a bad document is an outcome, not an exception.
 */
export interface LogStore extends LogStoreWriter, LogStoreReader {
  /** Releases everything; safe to call twice. */
  close(): Promise<void>
}

export interface LogStoreWriter {
  /** The longest time from a write's return until a search sees the documents, in milliseconds. */
  readonly searchableWithinMs: number

  /** Tells this store from all others in use, as those of another cluster; null while it is unknown. Absent if there can be no other. */
  name?(): string | null

  /**
   * Stores documents; one outcome each, in order. Iterates over them once, and may pause between two. Transient failures are retried until
   * `signal` aborts. Rejects with a `StoreHaltError` for failures that retrying cannot cure, and with the signal's reason.
   */
  write(documents: Iterable<EntryDocument>, signal: AbortSignal): Promise<readonly WriteOutcome[]>

  /** Folds facts about flows into their summaries. Repeating a fact changes nothing. Fails as `write` does. */
  mergeFlows(deltas: readonly FlowDelta[], signal: AbortSignal): Promise<void>

  /**
   * Removes whole days: documents whose `receivedAt` is before the day (yyyy-mm-dd, UTC). Returns the number of documents. Rejects with the
   * signal's reason if that ends it early; the next call goes on.
   */
  removeBefore(day: string, signal?: AbortSignal): Promise<number>
}

export type WriteOutcome =
  | { readonly outcome: 'stored' }
  /** A document with its id exists already. */
  | { readonly outcome: 'duplicate' }
  /** The store will never accept it; the reason contains nothing of the document. */
  | { readonly outcome: 'refused'; readonly reason: string }

/**
 * The read calls. When its signal aborts, a call rejects with the signal's reason at once, and the store stops working on it. A call that
 * would exceed the memory limit of a read rejects with a `ReadTooLargeError`.
 */
export interface LogStoreReader {
  /** Never rejects. */
  health(): Promise<Health>
  search(filter: EntryFilter, page: PageRequest, signal?: AbortSignal): Promise<Page>
  get(team: string, kind: EntryKind, id: string, signal?: AbortSignal): Promise<EntryRecord | undefined>
  /** The number of entries that match. */
  count(filter: EntryFilter, signal?: AbortSignal): Promise<number>
  /** Counts by level in at most `bucketsMax` equal spans over the filter's range, or over the matches' range if it has none. */
  histogram(filter: EntryFilter, bucketsMax: number, signal?: AbortSignal): Promise<Histogram>
  /** For each facet, the values with most matches, most frequent first. */
  facets(filter: EntryFilter, valuesMax: number, signal?: AbortSignal): Promise<Facets>
  /**
   * The groups of matches that share a value, those with most matches first, each with its counts in at most `bucketsMax` equal spans of
   * the filter's range, or of the matches' range if it has none. The list ends early if the groups' samples reach the size of a page.
   */
  groups(filter: EntryFilter, by: GroupField, limits: GroupLimits, signal?: AbortSignal): Promise<Groups>
  /**
   * A function of the matches, or of the numbers that they have at a path, for each of at most `bucketsMax` equal spans like those of the
   * histogram. Rejects with a `ReadTooLargeError` if there are more than `ROUNDED_NUMBERS_MAX` different numbers (statistics.ts).
   */
  series(filter: EntryFilter, request: SeriesRequest, signal?: AbortSignal): Promise<SeriesAnswer>
  /**
   * Matches that became visible after the cursor, as rows, oldest first in the order of arrival; null starts at the current end. At most
   * `limit` and, except for the first, `PAGE_BYTES_MAX`. Rejects with a `TailCursorError` for a cursor of another origin.
   */
  tail(filter: EntryFilter, after: TailCursor | null, limit: number, signal?: AbortSignal): Promise<TailPage>
  /** Flows in the order that the page requests. A page ends early if its flows have very many groups. */
  searchFlows(filter: FlowFilter, page: FlowPageRequest, signal?: AbortSignal): Promise<FlowPage>
  /** The number of matching flows in each state. */
  countFlows(filter: FlowFilter, states: FlowStates, signal?: AbortSignal): Promise<FlowCounts>
  /** The same for the flows of each Event and Step; flows whose entries are not stored yet, or were just removed, count as well. */
  tallyFlows(filter: FlowFilter, states: FlowStates, signal?: AbortSignal): Promise<FlowTally>
  /** One flow; undefined if the Team has no entry with the key. */
  flow(team: string, correlationKey: string, signal?: AbortSignal): Promise<Flow | undefined>
}

export interface EntryFilter {
  readonly team: string
  /** Empty for both kinds. */
  readonly kinds: readonly EntryKind[]
  readonly query: Query
  /** Canonical timestamps: `from` inclusive, `to` exclusive, compared with `timestamp`; null leaves that end open. */
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
  /** A category and all categories below it: `Acme.Billing` finds `Acme.Billing` and `Acme.Billing.Jobs`, not `Acme.BillingX`. */
  readonly category: string | null
  /** The id of a group of application logs, as in the documents. */
  readonly template: string | null
  readonly exceptionGroup: string | null
}

export const EVERY_ENTRY: Omit<EntryFilter, 'team'> = {
  kinds: [],
  query: { type: 'all' },
  from: null,
  to: null,
  levelMin: null,
  levelMax: null,
  environment: null,
  correlationKey: null,
  event: null,
  step: null,
  project: null,
  category: null,
  template: null,
  exceptionGroup: null,
}

/** A place between entries: directly after this entry. */
export interface Cursor {
  readonly timestamp: string
  readonly id: string
}

/** A page ends early once its entries, as returned, have this many bytes; it has at least one entry. */
export const PAGE_BYTES_MAX = 2 * 1024 * 1024

/** A page of flows ends early once its flows have this many groups; those with long names count more than once (`weightOf`). */
export const PAGE_GROUPS_MAX = 20_000
const USUAL_NAMES_CHARACTERS = 256

/** The number of groups with usual names that take as much memory. */
export const weightOf = (groups: readonly FlowGroup[]): number =>
  groups.reduce((sum, { event, step, project }) => {
    const characters = (event?.length ?? 0) + (step?.length ?? 0) + (project?.length ?? 0)
    return sum + Math.max(1, characters / USUAL_NAMES_CHARACTERS)
  }, 0)

export interface PageRequest {
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly after: Cursor | null
  /** `row`: long texts are cut to the size of a list's row (`rowOf`); omitted: entries are whole. */
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

/** The histogram of no matches without a range. */
export const NO_HISTOGRAM: Histogram = { intervalMs: 1, buckets: [], total: 0 }

export const FACETS = ['level', 'environment', 'event', 'step', 'project', 'category'] as const
export type FacetName = (typeof FACETS)[number]
export type Facets = Readonly<Record<FacetName, readonly { readonly value: string; readonly count: number }[]>>

/** The most frequent values of each facet, at most `valuesMax`, of all that were counted; ties are ordered by value. */
export function facetsOf(
  countsOf: (facet: FacetName) => Iterable<readonly [value: string, count: number]>,
  valuesMax: number,
): Facets {
  const most = (facet: FacetName): Facets[FacetName] =>
    [...countsOf(facet)]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, valuesMax)
  return Object.fromEntries(FACETS.map((facet) => [facet, most(facet)])) as Facets
}

/** The fields with at most one value. */
export type GroupColumn = FacetName | 'correlationKey' | 'eventName' | 'eventId' | 'template' | 'exceptionGroup'

/** The field whose value the entries of a group share. An entry with several leaves at a path is in the group of each. */
export type GroupField = GroupColumn | LeafName

export interface GroupLimits {
  /** Maximum groups, at least 1. */
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

/** The groups of no matches without a range. */
export const NO_GROUPS: Groups = { intervalMs: 1, spans: [], groups: [], more: false, ungrouped: 0 }

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
  /** The numbers that `fn` is applied to; null, allowed for `count` only, counts entries. */
  readonly of: LeafName | null
  /** The field for whose values there is a series each; null for one series of all matches. */
  readonly by: GroupField | null
  /** Maximum series, at least 1: those of the most frequent values, among entries with a leaf at `of`. */
  readonly seriesMax: number
  readonly bucketsMax: number
}

/** Narrows a filter to entries that have a leaf at the path. */
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

/** The series of no matches without a range. */
export const NO_SERIES: SeriesAnswer = { intervalMs: 1, spans: [], series: [], more: false }

export interface Series {
  /** The value that its entries share; null for all matches. */
  readonly value: string | null
  /** The number of its entries, or of its numbers. */
  readonly count: number
  /** The function's value for each span; null if the span has nothing to apply it to. */
  readonly points: readonly (number | null)[]
}

/** A place in the order of arrival; opaque to everything but the store. */
export type TailCursor = string

export interface TailPage {
  readonly entries: readonly { readonly entry: EntryRow; readonly cursor: TailCursor }[]
  /** The place to continue from, even if nothing matched. */
  readonly cursor: TailCursor
  /** Whether the page ended early, so that there may be more right away. */
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

export const EVERY_FLOW: Omit<FlowFilter, 'team'> = {
  keyPart: null,
  from: null,
  to: null,
  levelMin: null,
  environment: null,
  event: null,
  step: null,
  project: null,
  state: null,
}

/**
 * The probable state of a flow, exactly one of these:
 *
 * - `failed`: no Event or Step logged below Error after its last error; if none ever did, nothing at all was logged after that error.
 * - `finished`: every Event reached its end, or no Step is expected and nothing is logged any more.
 * - `running`: a Step is expected, or no Event tells which, and the flow logged lately.
 * - `stalled`: a Step is expected, and the flow has not logged lately.
 *
 * Flows whose last error was stored by an earlier release are failed until an Event or Step logs in them.
 */
export const FLOW_STATES = ['running', 'stalled', 'failed', 'finished'] as const
export type FlowState = (typeof FLOW_STATES)[number]
export type FlowCounts = Readonly<Record<FlowState, number>>
export const NO_FLOWS: FlowCounts = { running: 0, stalled: 0, failed: 0, finished: 0 }

/** The number of flows in each state that have logs of an Event or of a Step, by its identifier; at most `TALLIED_MAX` of either. */
export interface FlowTally {
  readonly events: ReadonlyMap<string, FlowCounts>
  readonly steps: ReadonlyMap<string, FlowCounts>
}

/** More Events and Steps than a Team has in use, and few enough for one answer of Elasticsearch. */
export const TALLIED_MAX = 5_000

/** The facts that determine the states of flows, in addition to the flows' own. */
export interface FlowStates {
  /** A canonical timestamp; a flow that logged after it logged lately. For Events of `waits` that expect a Step, theirs apply instead. */
  readonly lately: string
  /**
   * The Events that have Steps in use, at most `EVENT_ENDS_MAX`, each with the Steps any one of which ends it; a Step is expected as long
   * as a flow of the Event has seen none of these.
   */
  readonly ends: readonly { readonly event: string; readonly steps: readonly string[] }[]
  /**
   * Events of `ends`, each at most once, for which it is known how long flows wait at their places, the Steps in order. A flow logged
   * lately for such an Event if it logged after the `lately` of the last place it has seen, or of the Event if it has seen none. It has to
   * have logged lately for each of these Events that expects a Step. There are at most `FLOW_PLACES_MAX` places.
   */
  readonly waits: readonly { readonly event: string; readonly lately: string; readonly places: readonly FlowPlace[] }[]
}

export interface FlowPlace {
  readonly step: string
  readonly lately: string
}

/** Maximum places of all Events together, as the number of parts of a condition is limited. */
export const FLOW_PLACES_MAX = 200

/** With more Events, states cost more than a read may: each Event is a condition on every flow. */
export const EVENT_ENDS_MAX = 1_000

/** Orders of flows: latest activity, longest time from first to last entry, worst level. Ties are ordered by latest activity. */
export const FLOW_SORTS = ['latest', 'longest', 'worst'] as const
export type FlowSort = (typeof FLOW_SORTS)[number]

/** A place in the order that a page requested. */
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
  readonly flows: readonly ListedFlow[]
  readonly next: FlowCursor | null
}

export interface Flow {
  readonly correlationKey: string
  readonly firstAt: string
  readonly lastAt: string
  /** The flow's entries counted by Event, Step, Project and level. */
  readonly groups: readonly FlowGroup[]
}

/** A flow of a page, which is also its own place in the order of the page. */
export type ListedFlow = Flow & FlowCursor

export interface FlowGroup {
  readonly event: string | null
  readonly step: string | null
  readonly project: string | null
  readonly level: Level
  readonly count: number
  readonly firstAt: string
  readonly lastAt: string
}

/** A read was given up because it would take too much memory; it has to be narrowed. */
export class ReadTooLargeError extends Error {
  override readonly name = 'ReadTooLargeError'
}

/** The time of a read was over before the store started it, as other reads came first. */
export class ReadNotBegunError extends Error {
  override readonly name = 'ReadNotBegunError'
}

/** A place in the order of arrival that this store did not issue. */
export class TailCursorError extends Error {
  override readonly name = 'TailCursorError'
}

/** The store accepts nothing until an operator acts (security, configuration, corruption): halt, do not dead-letter. */
export class StoreHaltError extends Error {
  override readonly name = 'StoreHaltError'
}
