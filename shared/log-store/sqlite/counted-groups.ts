import type { LeafName, Query } from '../../query/ast.ts'
import type { EntryFilter, GroupColumn, GroupField } from '../log-store.ts'
import type { Spans } from '../spans.ts'
import type { Contents } from './contents.ts'
import { type CountedSpan, NO_FINGERPRINT } from './counted-entries.ts'
import { MINUTE_MS } from './counting.ts'
import { fingerprintText } from './ids.ts'
import { leafNeedle, leafTexts } from './leaf-bytes.ts'
import { comparePlaces, type Place, type PlacesOf } from './places.ts'
import { type Facts, minuteOf, type Rollup, type RowsPart } from './rollup-reader.ts'

/** The value of a group as SQLite has it; null for entries without one. */
export type Value = string | number | null

/** The values of the match at a place; none for an entry without. */
export type ValuesOf = (span: CountedSpan, index: number) => readonly Value[]

const NONE: readonly Value[] = []
const BYTES_OF_A_COUNT = 8
/** The level's bits in a number of `rollup_facts`. */
const LEVEL_BITS = 7

/** Null for a field that only the rows of entries have. Only in `Database.read`. */
export function countedValues(rollup: Rollup, contents: Contents, by: GroupField): ValuesOf | null {
  if (typeof by !== 'string') return countedLeaves(contents, by)
  switch (by) {
    case 'template':
      return ({ templates }, index) => fingerprints(templates[index])
    case 'exceptionGroup':
      return ({ exceptionGroups }, index) => fingerprints(exceptionGroups[index])
    case 'correlationKey':
    case 'eventName':
    case 'eventId':
      return null
    default: {
      const valuesOf = (facts: Facts): readonly Value[] => (facts[by] === null ? NONE : [facts[by] as Value])
      const values = new Map([...rollup.combinations()].map(([number, facts]) => [number, valuesOf(facts)]))
      return ({ facts }, index) => values.get(facts[index] ?? 0) ?? NONE
    }
  }
}

/** The different values of the leaves at a path. */
export function countedLeaves(
  contents: Contents,
  { field, path }: LeafName,
): (...place: Parameters<ValuesOf>) => readonly string[] {
  const needle = leafNeedle(field, path, '', true)
  return ({ first }, index) => {
    const leaves = contents.leaves(first + index)
    return leaves === null ? [] : leafTexts(leaves, needle)
  }
}

const fingerprints = (fingerprint = NO_FINGERPRINT): readonly Value[] =>
  fingerprint === NO_FINGERPRINT ? NONE : [fingerprint]

/** The number of matches of a group. */
export interface GroupCount {
  readonly value: Value
  readonly count: number
  /** The rank of the worst level. */
  readonly level: number
  /** For each span. */
  readonly counts: readonly number[]
}

export interface GroupsFound {
  /** Those with most matches first. `edges` finds the time of the first match (nanoseconds since 1970), and the last match. */
  readonly groups: readonly (GroupCount & {
    edges(): { readonly first: bigint; readonly last: Pick<Place, 'nanos' | 'arrival'> }
  })[]
  /** The number of matches without a value. */
  readonly ungrouped: number
}

export interface Counting {
  readonly filter: EntryFilter
  readonly by: GroupField
  readonly spans: Spans
  /** Maximum memory for the groups, about. */
  readonly bytesMax: number
  /** Counts the groups of matches that are not counted by the rollup; those without a value are a group, too. */
  countRows(part: RowsPart, groupsMax: number): readonly GroupCount[]
  readonly placesOf: PlacesOf
}

/** A group while its matches are counted. */
interface Tally {
  readonly value: Value
  count: number
  level: number
  readonly counts: number[]
  readonly first: Edge
  readonly last: Edge
  /** The parts of the matches beside the rollup that have some of the group. */
  readonly beside: RowsPart[]
}

/** The matches of a group in its first or its last minute: all of them have arrivals from `from` to `to`. */
interface Edge {
  minute: number
  from: number
  to: number
}

/**
 * Groups the matches of a filter by the arrays of counted entries. Null if these lack the field, if spans are narrower than a minute, or if
 * there are too many groups. Only in `Database.read`.
 */
export function countByArrays(rollup: Rollup, contents: Contents, counting: Counting): GroupsFound | null {
  const { by, spans, countRows } = counting
  const take = memoryOf(counting.bytesMax)
  const valuesOf = countedValues(rollup, contents, by)
  if (valuesOf === null || spans.widthMs % MINUTE_MS !== 0) return null
  const unit = spans.widthMs / MINUTE_MS
  const tallies = new Map<Value, Tally>()
  let ungrouped = 0
  const tallyOf = (value: Value): Tally => {
    const known = tallies.get(value)
    if (known !== undefined) return known
    take(bytesOfValue(value) + spans.count * BYTES_OF_A_COUNT)
    const tally = newTally(value, spans)
    tallies.set(value, tally)
    return tally
  }
  const tallyAll = (): void => {
    rollup.forEach((span, index) => {
      const values = valuesOf(span, index)
      if (values.length === 0) ungrouped += 1
      const [minute = 0, facts = 0] = [span.minutes[index], span.facts[index]]
      const at = Math.floor(minute / unit) - spans.first
      for (const value of values) {
        const tally = tallyOf(value)
        add(tally, 1, facts & LEVEL_BITS, at)
        if (minute <= tally.first.minute) extend(tally.first, minute, span.first + index)
        if (minute >= tally.last.minute) extend(tally.last, minute, span.first + index)
      }
    })
    for (const part of rollup.beside) {
      for (const { value, count, level, counts } of notTooMany(countRows(part, ROWS_MAX))) {
        if (value === null) {
          ungrouped += count
          continue
        }
        const tally = tallyOf(value)
        for (const [at, more] of counts.entries()) if (more > 0) add(tally, more, level, at)
        tally.beside.push(part)
      }
    }
  }
  return withinMemory(() => {
    tallyAll()
    return {
      groups: [...tallies.values()]
        .sort((a, b) => b.count - a.count || compareValues(a.value, b.value))
        .map((tally) => ({ ...tally, edges: () => edgesOf(tally, counting) })),
      ungrouped,
    }
  })
}

const newTally = (value: Value, { count }: Spans): Tally => ({
  value,
  count: 0,
  level: 0,
  counts: Array.from({ length: count }, () => 0),
  first: { minute: Number.POSITIVE_INFINITY, from: 0, to: 0 },
  last: { minute: Number.NEGATIVE_INFINITY, from: 0, to: 0 },
  beside: [],
})

function add(tally: Tally, count: number, level: number, span: number): void {
  tally.count += count
  tally.level = Math.max(tally.level, level)
  tally.counts[span] = (tally.counts[span] ?? 0) + count
}

function extend(edge: Edge, minute: number, arrival: number): void {
  edge.from = minute === edge.minute ? Math.min(edge.from, arrival) : arrival
  edge.to = minute === edge.minute ? Math.max(edge.to, arrival) : arrival
  edge.minute = minute
}

/** Arrays have minutes only: the first and the last match of a group are found among the matches of its first and its last minute. */
function edgesOf({ value, first, last, beside }: Tally, { filter, by, placesOf }: Counting) {
  const edge = ({ minute, from, to }: Edge, order: 'asc' | 'desc'): Place | undefined => {
    const own = Number.isFinite(minute)
      ? [{ ...minuteOf(filter, minute), arrivals: { after: from - 1, last: to } }]
      : []
    return [...own, ...beside]
      .flatMap((part) => placesOf(withValue(part.filter, by, value), order, null, 1, part.arrivals))
      .sort((a, b) => (order === 'asc' ? comparePlaces(a, b) : comparePlaces(b, a)))[0]
  }
  return { first: edge(first, 'asc')?.nanos ?? 0n, last: edge(last, 'desc') ?? { nanos: 0n, arrival: 0 } }
}

/** Too many different values or numbers to count them in memory. */
export class TooManyError extends Error {}

/** Counts the bytes that are taken; throws a `TooManyError` once they are too many. */
export function memoryOf(bytesMax: number): (bytes: number) => void {
  let left = bytesMax
  return (bytes) => {
    left -= bytes
    if (left < 0) throw new TooManyError()
  }
}

/** The memory of a value with its counts beside those of its spans, about. */
export const bytesOfValue = (value: Value): number => 400 + (typeof value === 'string' ? 2 * value.length : 0)

/** Maximum values that are read at once from rows. */
export const ROWS_MAX = 10_000

export function notTooMany<T>(rows: readonly T[]): readonly T[] {
  if (rows.length >= ROWS_MAX) throw new TooManyError()
  return rows
}

/** Null if a `TooManyError` is thrown. */
export function withinMemory<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof TooManyError) return null
    throw error
  }
}

/** In the order of SQLite. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

/** Narrows a filter to the entries of a group. */
function withValue(filter: EntryFilter, by: GroupField, value: Value): EntryFilter {
  if (by === 'template' || by === 'exceptionGroup') return { ...filter, [by]: fingerprintText(value) }
  return { ...filter, query: { type: 'and', queries: [filter.query, ...hasValue(by, value)] } }
}

function hasValue(by: Exclude<GroupField, 'template' | 'exceptionGroup'>, value: Value): readonly Query[] {
  const text = String(value)
  if (typeof by !== 'string') return [{ type: 'leaf', ...by, value: text, prefix: false }]
  switch (by) {
    case 'level':
      return [{ type: 'level', comparison: '=', rank: Number(value) }]
    case 'eventId':
      return [{ type: 'number', field: by, comparison: '=', value: Number(value) }]
    case 'category':
      // Not those below it.
      return [equals(by, text, false), { type: 'not', query: equals(by, `${text}.`, true) }]
    default:
      return [equals(by, text, false)]
  }
}

const equals = (
  field: Exclude<GroupColumn, 'level' | 'eventId' | 'template' | 'exceptionGroup'>,
  value: string,
  prefix: boolean,
): Query => ({
  type: 'equals',
  field,
  value,
  prefix,
})
