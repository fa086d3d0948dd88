import { levelOf } from '../../contract/levels.ts'
import type { LeafName } from '../../query/ast.ts'
import { type EntryFilter, type GroupColumn, type GroupField, withLeaf } from '../log-store.ts'
import type { Spans } from '../spans.ts'
import { KEYWORDS, NUMBERS } from './compile-query.ts'
import type { Contents } from './contents.ts'
import type { StoreContext } from './context.ts'
import { type Matches, minutesOfSpan, planOf } from './counts.ts'
import type { Database } from './database.ts'
import { fingerprintText } from './ids.ts'
import { LEAF_TEXTS, leafNeedle, leafTexts, needleText } from './leaf-bytes.ts'
import { type Slice, scanOf } from './scan.ts'
import { NO_FINGERPRINT, type Segment } from './segments.ts'
import { allOf, compose, type Sql, sql } from './sql.ts'

/**
 * The value of a field that the entries of a group or of a series share, as SQLite has it; null for entries without one. There are two ways
 * to it: from segments, for fields that these and the blocks have (`valueMatches`), and from the rows of entries (`valueRows`).
 */
export type Value = string | number | null

/** The matches of a filter with their values, by segments and, for what these do not have, by rows. */
export interface ValueMatches extends Pick<Matches, 'forEach'> {
  /** The values of a match: null alone if it has none, and if `by` is null. */
  readonly valuesOf: (segment: Segment, index: number) => readonly Value[]
  /** The minutes of a span. */
  readonly unit: number
  readonly slices: readonly Slice[]
}

/**
 * The matches that have a leaf at the path `leaf`, if one is given. Null for a field that only rows have, if segments do not answer the
 * filter, and for spans narrower than a minute.
 */
export function valueMatches(
  context: StoreContext,
  filter: EntryFilter,
  by: GroupField | null,
  spans: Spans,
  leaf: LeafName | null = null,
): ValueMatches | null {
  const { contents } = context
  const wanted = by === 'template' || by === 'exceptionGroup' ? 'fingerprints' : 'facts'
  const { counted, slices } = planOf(context, filter, wanted)
  const unit = minutesOfSpan(spans)
  const valuesOf = counted && (by === null ? () => NONE : segmentValues(counted, contents, by))
  if (counted === null || valuesOf === null || unit === null) return null
  if (leaf === null) return { forEach: counted.forEach, valuesOf, unit, slices }
  const leavesOf = segmentLeaves(contents, leaf)
  return {
    forEach: (each) =>
      counted.forEach((segment, index) => {
        if (leavesOf(segment, index).length > 0) each(segment, index)
      }),
    valuesOf,
    unit,
    slices: slices.map((slice) => ({ ...slice, filter: withLeaf(slice.filter, leaf) })),
  }
}

const NONE: readonly Value[] = [null]

function segmentValues(matches: Matches, contents: Contents, by: GroupField): ValueMatches['valuesOf'] | null {
  if (typeof by !== 'string') {
    const leavesOf = segmentLeaves(contents, by)
    return (segment, index) => {
      const leaves = leavesOf(segment, index)
      return leaves.length === 0 ? NONE : leaves
    }
  }
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
      const values = new Map([...matches.combinations()].map(([number, facts]) => [number, [facts[by] as Value]]))
      return ({ facts }, index) => values.get(facts[index] ?? 0) ?? NONE
    }
  }
}

const fingerprints = (fingerprint = NO_FINGERPRINT): readonly Value[] =>
  fingerprint === NO_FINGERPRINT ? NONE : [fingerprint]

/** The different values of the leaves at a path. */
export function segmentLeaves(contents: Contents, { field, path }: LeafName) {
  const needle = leafNeedle(field, path)
  return ({ first }: Segment, index: number): readonly string[] => {
    const leaves = contents.leaves(first + index)
    return leaves === null ? [] : leafTexts(leaves, needle)
  }
}

/** Matches, with a row for each value: `value` in SQL over `source`, null for an entry without any. */
export interface ValueRows {
  readonly source: Sql
  readonly where: Sql
  readonly value: string
}

export const COLUMNS: Readonly<Record<GroupColumn, string>> = {
  ...KEYWORDS,
  ...NUMBERS,
  level: 'e.level',
  template: 'e.template',
  exceptionGroup: 'e.exception_group',
}

/** The rows of a slice; with one value for all, null, if `by` is null. */
export function valueRows(database: Database, slice: Slice, by: GroupField | null): ValueRows {
  const { from, where } = scanOf(database, slice)
  if (by === null) return { source: sql(from), where, value: 'NULL' }
  if (typeof by === 'string') return { source: sql(from), where, value: COLUMNS[by] }
  const source = compose`${from} LEFT JOIN json_each(${leafArray(LEAF_TEXTS, by)}) AS v`
  return { source, where, value: 'v.value' }
}

/** The JSON array, in SQL, that a function makes of an entry's leaves at a path; null if the entry has none. */
export const leafArray = (make: string, { field, path }: LeafName): Sql =>
  sql(`${make}(e.arrival, ?)`, needleText(field, path))

/** The rows that have one of these values. */
export const withOneOf = ({ source, where, value }: ValueRows, values: readonly Value[]): ValueRows => ({
  source,
  where: allOf([where, sql(`${value} IN (${values.map(() => '?').join()})`, ...values)]),
  value,
})

export function valueText(value: Value, by: GroupField): string {
  if (by === 'level') return levelOf(Number(value))
  return by === 'template' || by === 'exceptionGroup' ? fingerprintText(value) : String(value)
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

/** The rows; throws a `TooManyError` if they are as many as their reader asked for at most. */
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

/** Compares values in the order of SQLite. */
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
