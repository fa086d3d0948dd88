import { entryDocument } from '../../consumers/projections/entries.ts'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { levelOf, levelRank } from '../../shared/contract/levels.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { rowOf } from '../../shared/contract/rows.ts'
import { compareTimestamps, toNanos } from '../../shared/contract/timestamp.ts'
import {
  type Cursor,
  type EntryFilter,
  type Facets,
  type Flow,
  type FlowCounts,
  type FlowCursor,
  type FlowGroup,
  type FlowSort,
  type FlowState,
  type FlowStates,
  facetsOf,
  type GroupField,
  type GroupLimits,
  type Groups,
  type LogStoreReader,
  NO_FLOWS,
  NO_GROUPS,
  NO_HISTOGRAM,
  NO_SERIES,
  type SeriesAnswer,
  type SeriesRequest,
} from '../../shared/log-store/log-store.ts'
import { headOf, histogramOf, type Spans, spansOver } from '../../shared/log-store/spans.ts'
import { type CountedNumber, roundedNumber, statisticOf } from '../../shared/log-store/statistics.ts'
import { groupValuesOf } from './documents.ts'
import { matches as queryMatches } from './query.ts'

/** A log store that keeps its entries in an array, for tests of its readers. */
export interface MemoryLogStore extends LogStoreReader {
  add(...records: readonly EntryRecord[]): void
  /** Every read call from the nth on (counted from 0, starting now) throws; null heals it. */
  failAfter(calls: number | null): void
  /** Read calls so far, by name. */
  readonly calls: readonly string[]
}

const WHOLE_LIST = { limit: Number.POSITIVE_INFINITY, sort: 'latest', after: null } as const

export function createMemoryLogStore(): MemoryLogStore {
  const entries: EntryRecord[] = []
  const calls: string[] = []
  let callsLeft: number | null = null
  const select = (name: string, filter: EntryFilter): EntryRecord[] => {
    enter(name)
    return entries.filter((entry) => matches(entry, filter))
  }
  const enter = (name: string): void => {
    calls.push(name)
    if (callsLeft === null) return
    if (callsLeft === 0) throw new Error('the store is down')
    callsLeft -= 1
  }

  const store: MemoryLogStore = {
    calls,
    add: (...records) => {
      entries.push(...records)
    },
    failAfter: (count) => {
      callsLeft = count
    },
    health: async () => ({ name: 'log-store', ready: callsLeft === null }),
    search: async (filter, { limit, order, after, form }) => {
      const sign = order === 'asc' ? 1 : -1
      const sorted = select('search', filter).toSorted((a, b) => sign * compare(a, b))
      const rest = after === null ? sorted : sorted.filter((entry) => sign * compare(entry, after) > 0)
      const page = rest.slice(0, limit)
      const last = page.at(-1)
      const entries = form === 'row' ? page.map(rowOf) : page
      return { entries, next: rest.length > limit && last !== undefined ? placeOf(last) : null }
    },
    get: async (team, kind, id) => {
      enter('get')
      return entries.find((entry) => entry.team === team && entry.kind === kind && entry.id === id)
    },
    count: async (filter) => select('count', filter).length,
    histogram: async (filter, bucketsMax) => {
      const found = select('histogram', filter).toSorted(compare)
      const spans = spansOf(found, filter, bucketsMax)
      if (spans === undefined) return NO_HISTOGRAM
      return histogramOf(
        spans,
        found.map((entry) => ({ span: spanOf(entry, spans), level: entry.level, count: 1 })),
      )
    },
    facets: async (filter, valuesMax) => countFacets(select('facets', filter), valuesMax),
    groups: async (filter, by, limits) => groupsOf(select('groups', filter), filter, by, limits),
    series: async (filter, request) => seriesOf(select('series', filter), filter, request),
    tail: async (filter, after, limit) => {
      enter('tail')
      const begin = after === null ? entries.length : Number(after)
      const arrived = entries.map((entry, index) => ({ entry, cursor: String(index + 1) })).slice(begin)
      const page = arrived.filter(({ entry }) => matches(entry, filter)).slice(0, limit)
      const cursor = page.length === limit ? (page.at(-1)?.cursor ?? '') : String(entries.length)
      return { entries: page.map((one) => ({ ...one, entry: rowOf(one.entry) })), cursor, more: page.length === limit }
    },
    searchFlows: async (filter, { limit, sort, after }) => {
      enter('searchFlows')
      const own = entries.filter((entry) => entry.team === filter.team)
      const flows = [...Map.groupBy(own, (entry) => documentOf(entry).correlationKey)]
        .flatMap(([key, ofKey]) => (key === null ? [] : [flowOf(key, ofKey)]))
        .filter((flow) => flow !== undefined)
        .filter(({ correlationKey }) => correlationKey.toLowerCase().includes(filter.keyPart?.toLowerCase() ?? ''))
        .filter(({ lastAt }) => filter.from === null || compareTimestamps(lastAt, filter.from) >= 0)
        .filter(({ firstAt }) => filter.to === null || compareTimestamps(firstAt, filter.to) < 0)
        .filter((flow) => flow.groups.some((group) => flowGroupMatches(group, filter)))
        .filter((flow) => filter.state === null || stateOf(flow, filter.state) === filter.state.is)
        .map((flow) => ({ ...flow, rank: rankOf(flow, sort) }))
        .toSorted((a, b) => compareFlows(b, a))
        .filter((flow) => after === null || compareFlows(flow, after) < 0)
      const page = flows.slice(0, limit)
      const last = page.at(-1)
      const next = last && { rank: last.rank, lastAt: last.lastAt, correlationKey: last.correlationKey }
      return { flows: page, next: flows.length > limit && next ? next : null }
    },
    countFlows: async (filter, states) => {
      const { flows } = await store.searchFlows(filter, WHOLE_LIST)
      const counts = { ...NO_FLOWS }
      for (const flow of flows) counts[stateOf(flow, states)] += 1
      return counts
    },
    tallyFlows: async (filter, states) => {
      const { flows } = await store.searchFlows(filter, WHOLE_LIST)
      const tally = (memberOf: (group: FlowGroup) => string | null): ReadonlyMap<string, FlowCounts> => {
        const counts = new Map<string, Record<FlowState, number>>()
        for (const flow of flows) {
          const state = stateOf(flow, states)
          for (const member of new Set(flow.groups.map(memberOf))) {
            if (member === null) continue
            const known = counts.get(member) ?? NO_FLOWS
            counts.set(member, { ...known, [state]: known[state] + 1 })
          }
        }
        return counts
      }
      return { events: tally(({ event }) => event), steps: tally(({ step }) => step) }
    },
    flow: async (team, correlationKey) => {
      enter('flow')
      const isOfFlow = (entry: EntryRecord): boolean =>
        entry.team === team && documentOf(entry).correlationKey === correlationKey
      return flowOf(correlationKey, entries.filter(isOfFlow))
    },
  }
  return store
}

function rankOf({ firstAt, lastAt, groups }: Flow, sort: FlowSort): number {
  if (sort === 'worst') return Math.max(...groups.map(({ level }) => levelRank(level)))
  return sort === 'latest' ? 0 : Number((toNanos(lastAt) - toNanos(firstAt)) / 1_000_000n)
}

function stateOf({ lastAt, groups }: Flow, { lately, ends, waits }: FlowStates): FlowState {
  const isError = ({ level }: FlowGroup): boolean => levelRank(level) >= levelRank('Error')
  const latest = (found: readonly FlowGroup[]): string | undefined =>
    found
      .map((group) => group.lastAt)
      .toSorted(compareTimestamps)
      .at(-1)
  const error = latest(groups.filter(isError))
  const progress = latest(groups.filter((group) => group.project === null && !isError(group)))
  if (error !== undefined && compareTimestamps(error, progress ?? lastAt) >= 0) return 'failed'
  const has = (field: 'event' | 'step', value: string): boolean => groups.some((group) => group[field] === value)
  const expecting = ends.filter(({ event, steps }) => has('event', event) && !steps.some((step) => has('step', step)))
  if (expecting.length > 0) {
    const known = waits.filter((wait) => expecting.some(({ event }) => event === wait.event))
    const times = known.map((wait) => wait.places.findLast(({ step }) => has('step', step))?.lately ?? wait.lately)
    const isOverdue = (times.length > 0 ? times : [lately]).some((time) => compareTimestamps(lastAt, time) <= 0)
    return isOverdue ? 'stalled' : 'running'
  }
  const isOpenEnd = !groups.some(({ event }) => event !== null) || !groups.some(({ step }) => step !== null)
  return isOpenEnd && compareTimestamps(lastAt, lately) > 0 ? 'running' : 'finished'
}

const compare = (a: Cursor, b: Cursor): number =>
  compareTimestamps(a.timestamp, b.timestamp) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

const placeOf = ({ timestamp, id }: EntryRecord): Cursor => ({ timestamp, id })

type Facts = Pick<EntryFilter, 'event' | 'step' | 'project' | 'levelMin'>

const compareFlows = (a: FlowCursor, b: FlowCursor): number =>
  a.rank - b.rank || compareTimestamps(a.lastAt, b.lastAt) || (a.correlationKey < b.correlationKey ? -1 : 1)

const flowGroupMatches = (group: FlowGroup, filter: Facts): boolean =>
  (filter.event === null || group.event === filter.event) &&
  (filter.step === null || group.step === filter.step) &&
  (filter.project === null || group.project === filter.project) &&
  (filter.levelMin === null || levelRank(group.level) >= levelRank(filter.levelMin))

function matches(entry: EntryRecord, filter: EntryFilter): boolean {
  const document = documentOf(entry)
  const { category } = document
  const is = (wanted: string | null, value: string | null): boolean => wanted === null || wanted === value
  return (
    document.team === filter.team &&
    (filter.kinds.length === 0 || filter.kinds.includes(document.kind)) &&
    (filter.from === null || compareTimestamps(document.timestamp, filter.from) >= 0) &&
    (filter.to === null || compareTimestamps(document.timestamp, filter.to) < 0) &&
    (filter.levelMin === null || levelRank(document.level) >= levelRank(filter.levelMin)) &&
    (filter.levelMax === null || levelRank(document.level) <= levelRank(filter.levelMax)) &&
    is(filter.environment, document.environment) &&
    is(filter.correlationKey, document.correlationKey) &&
    is(filter.event, document.event) &&
    is(filter.step, document.step) &&
    is(filter.project, document.project) &&
    is(filter.template, document.template) &&
    is(filter.exceptionGroup, document.exceptionGroup) &&
    (filter.category === null || category === filter.category || !!category?.startsWith(`${filter.category}.`)) &&
    queryMatches(filter.query, document)
  )
}

const documents = new WeakMap<EntryRecord, EntryDocument>()

/** The document of an entry, derived as by the consumers. */
function documentOf(entry: EntryRecord): EntryDocument {
  const made = documents.get(entry)
  if (made !== undefined) return made
  const document = entryDocument(entry, '')
  documents.set(entry, document)
  return document
}

/** A flow of its entries; undefined if there are none. */
function flowOf(correlationKey: string, own: readonly EntryRecord[]): Flow | undefined {
  const times = own.map((entry) => entry.timestamp).toSorted(compareTimestamps)
  const [firstAt, lastAt] = [times[0], times.at(-1)]
  if (firstAt === undefined || lastAt === undefined) return undefined
  const groups = new Map<string, FlowGroup>()
  for (const entry of own.toSorted(compare)) {
    const { event, step, project } = documentOf(entry)
    const key = JSON.stringify([event, step, project, entry.level])
    const { count, firstAt: first } = groups.get(key) ?? { count: 0, firstAt: entry.timestamp }
    const span = { count: count + 1, firstAt: first, lastAt: entry.timestamp }
    groups.set(key, { event, step, project, level: entry.level, ...span })
  }
  return { correlationKey, firstAt, lastAt, groups: [...groups.values()] }
}

const countFacets = (found: readonly EntryRecord[], valuesMax: number): Facets =>
  facetsOf((name) => {
    const values = found.flatMap((entry) => groupValuesOf(documentOf(entry), name))
    return [...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length] as const)
  }, valuesMax)

type Range = Pick<EntryFilter, 'from' | 'to'>

/** The spans of entries in order; undefined if there are neither entries nor a range. */
function spansOf(sorted: readonly EntryRecord[], { from, to }: Range, bucketsMax: number): Spans | undefined {
  const [first, last] = [from ?? sorted[0]?.timestamp, to ?? sorted.at(-1)?.timestamp]
  if (first === undefined || last === undefined) return undefined
  return spansOver(toNanos(first), to === null ? toNanos(last) + 1n : toNanos(last), bucketsMax)
}

const spanOf = ({ timestamp }: EntryRecord, { widthMs, first }: Spans): number =>
  Number(toNanos(timestamp) / BigInt(widthMs * 1e6)) - first

/** The entries of each value, largest group first. */
function ranked(found: readonly EntryRecord[], by: GroupField): readonly (readonly [string, readonly EntryRecord[]])[] {
  const groups = new Map<string, EntryRecord[]>()
  for (const entry of found)
    for (const value of groupValuesOf(documentOf(entry), by)) groups.set(value, [...(groups.get(value) ?? []), entry])
  return [...groups].toSorted(([, a], [, b]) => b.length - a.length)
}

function groupsOf(
  found: readonly EntryRecord[],
  range: Range,
  by: GroupField,
  { groupsMax, bucketsMax }: GroupLimits,
): Groups {
  const sorted = found.toSorted(compare)
  const spans = spansOf(sorted, range, bucketsMax)
  if (spans === undefined) return NO_GROUPS
  const all = ranked(sorted, by)
  return {
    ...headOf(spans),
    groups: all.slice(0, groupsMax).map(([value, entries]) => {
      const newest = entries.at(-1) as EntryRecord
      const rank = Math.max(...entries.map(({ level }) => levelRank(level)))
      const counts = Array.from({ length: spans.count }, () => 0)
      for (const entry of entries) counts[spanOf(entry, spans)] = (counts[spanOf(entry, spans)] ?? 0) + 1
      const times = { firstAt: entries[0]?.timestamp ?? '', lastAt: newest.timestamp }
      return {
        value,
        count: entries.length,
        ...times,
        worstLevel: levelOf(rank),
        counts,
        sample: rowOf(newest),
      }
    }),
    more: all.length > groupsMax,
    ungrouped: found.filter((entry) => groupValuesOf(documentOf(entry), by).length === 0).length,
  }
}

function countedOnce(value: string): readonly CountedNumber[] {
  const number = roundedNumber(value)
  return number === undefined ? [] : [[number, 1]]
}

function seriesOf(
  found: readonly EntryRecord[],
  range: Range,
  { fn, of, by, seriesMax, bucketsMax }: SeriesRequest,
): SeriesAnswer {
  const sorted = found.toSorted(compare)
  const spans = spansOf(sorted, range, bucketsMax)
  if (spans === undefined) return NO_SERIES
  const numbersOf = (entry: EntryRecord): readonly CountedNumber[] =>
    of === null ? [[0, 1]] : groupValuesOf(documentOf(entry), of).flatMap(countedOnce)
  const one = (value: string | null, entries: readonly EntryRecord[]) => ({
    value,
    count: entries.flatMap(numbersOf).length,
    points: Array.from({ length: spans.count }, (_, span) => {
      const numbers = entries.filter((entry) => spanOf(entry, spans) === span).flatMap(numbersOf)
      return statisticOf(
        fn,
        numbers.toSorted(([a], [b]) => a - b),
      )
    }),
  })
  const all = by === null ? [] : ranked(sorted, by)
  return {
    ...headOf(spans),
    series: by === null ? [one(null, sorted)] : all.slice(0, seriesMax).map(([value, entries]) => one(value, entries)),
    more: all.length > seriesMax,
  }
}
