import type { LeafName } from '../../query/ast.ts'
import type { GroupField } from '../log-store.ts'
import type { Spans } from '../spans.ts'
import type { Contents } from './contents.ts'
import { type CountedSpan, NO_FINGERPRINT } from './counted-entries.ts'
import { MINUTE_MS } from './counting.ts'
import { leafNeedle, leafTexts } from './leaf-bytes.ts'
import type { Facts, Rollup, RowsPart } from './rollup.ts'
import { RANKS } from './rollups.ts'

/** The value of a group as SQLite has it; null for entries without one. */
export type Value = string | number | null

/** The values of the match at a place; none for an entry without. */
export type ValuesOf = (span: CountedSpan, index: number) => readonly Value[]

const NONE: readonly Value[] = []
const BYTES_OF_A_COUNT = 8

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

/** A group as SQLite counts it, with its first and last times (nanoseconds since 1970). */
export interface GroupRow extends GroupCount {
  readonly first: bigint
  readonly last: bigint
}

/** A group as arrays count it. */
export interface CountedGroup extends GroupCount {
  /** The first and the last minute (since 1970) with matches that are counted; infinite if there are none. */
  readonly firstMinute: number
  readonly lastMinute: number
  /** Its other matches. */
  readonly beside: readonly GroupRow[]
}

export interface Counting {
  readonly by: GroupField
  readonly spans: Spans
  /** Maximum memory for the groups, about. */
  readonly bytesMax: number
  /** Counts the groups of matches that are not counted by the rollup; those without a value are a group, too. */
  countRows(part: RowsPart, groupsMax: number): readonly GroupRow[]
}

type Tally = { -readonly [Name in keyof CountedGroup]: CountedGroup[Name] } & {
  readonly counts: number[]
  readonly beside: GroupRow[]
}

/**
 * Groups the matches of a filter by the arrays of counted entries; those with most matches come first. Null if the arrays lack the field, if
 * spans are narrower than a minute, or if there are too many groups. Only in `Database.read`.
 */
export function countByArrays(
  rollup: Rollup,
  contents: Contents,
  { by, spans, bytesMax, countRows }: Counting,
): { readonly groups: readonly CountedGroup[]; readonly ungrouped: number } | null {
  const take = memoryOf(bytesMax)
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
      for (const value of values) {
        const tally = tallyOf(value)
        add(tally, 1, facts % RANKS, Math.floor(minute / unit) - spans.first)
        if (minute < tally.firstMinute) tally.firstMinute = minute
        if (minute > tally.lastMinute) tally.lastMinute = minute
      }
    })
    for (const part of rollup.beside) {
      for (const row of notTooMany(countRows(part, ROWS_MAX))) {
        if (row.value === null) {
          ungrouped += row.count
          continue
        }
        const tally = tallyOf(row.value)
        for (const [at, more] of row.counts.entries()) if (more > 0) add(tally, more, row.level, at)
        tally.beside.push(row)
      }
    }
  }
  return withinMemory(() => {
    tallyAll()
    const groups = [...tallies.values()].sort((a, b) => b.count - a.count || compareValues(a.value, b.value))
    return { groups, ungrouped }
  })
}

const newTally = (value: Value, { count }: Spans): Tally => ({
  value,
  count: 0,
  level: 0,
  counts: Array.from({ length: count }, () => 0),
  firstMinute: Number.POSITIVE_INFINITY,
  lastMinute: Number.NEGATIVE_INFINITY,
  beside: [],
})

function add(tally: Tally, count: number, level: number, span: number): void {
  tally.count += count
  tally.level = Math.max(tally.level, level)
  tally.counts[span] = (tally.counts[span] ?? 0) + count
}

/** Too many different values or numbers to count them in memory. */
class TooManyError extends Error {}

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
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareTexts(String(a), String(b))
}

/** Compares texts as their bytes in UTF-8, which take five times as long to make: most groups may have the same count. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (x !== y) return rankOf(x) - rankOf(y)
  }
  return a.length - b.length
}

/** Surrogates stand for characters after all others. */
const rankOf = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit)
