import { LEVELS } from '../../contract/levels.ts'
import type { EntryFilter } from '../log-store.ts'
import { type CountedSpan, createSpanReader, spansWithin } from './counted-entries.ts'
import type { Database } from './database.ts'
import { storedFingerprint } from './ids.ts'
import {
  combinationsOf,
  countedFacts,
  type Facts,
  isWithin,
  type Matches,
  type Minutes,
  type RollupCounts,
} from './rollup.ts'
import { RANKS } from './rollups.ts'
import { matchesIn, type TimedTable, tablesWithin, timedTables } from './text-tables.ts'

/** `match`: a full-text query; null if the filter has no words. `rest`: the rest of the filter. */
interface FilterParts {
  readonly match: string | null
  readonly rest: EntryFilter
  readonly team: number
  readonly range: Minutes
  readonly counted: number
}

export function matchesOf(database: Database, { match, rest, team, range, counted }: FilterParts): Matches {
  let known: ReadonlyMap<number, Facts> | undefined
  const combinations = (): ReadonlyMap<number, Facts> => (known ??= combinationsOf(database, rest, team))
  const template = rest.template === null ? undefined : storedFingerprint(rest.template)
  const exceptionGroup = rest.exceptionGroup === null ? undefined : storedFingerprint(rest.exceptionGroup)
  return {
    combinations,
    forEach: (each) => {
      const wanted = combinations()
      const offer = (span: CountedSpan, index: number): void => {
        if (!isWithin(range, span.minutes[index]) || !wanted.has(span.facts[index] ?? 0)) return
        if (template !== undefined && span.templates[index] !== template) return
        if (exceptionGroup === undefined || span.exceptionGroups[index] === exceptionGroup) each(span, index)
      }
      // One for all tables, as a span may have entries of two.
      const spanOf = createSpanReader(database)
      for (const table of tablesWithin(timedTables(database, counted), [rest.from], [rest.to])) {
        if (match === null) offerAll(database, table, offer)
        else offerMatches(matchesIn(database, table, match), spanOf, offer)
      }
    },
  }
}

/** Offers all counted entries of a full-text table's range. */
function offerAll(
  database: Database,
  { firstArrival, nextArrival }: TimedTable,
  offer: Parameters<Matches['forEach']>[0],
) {
  for (const span of spansWithin(database, firstArrival, nextArrival - 1)) {
    const end = Math.min(nextArrival - 1, span.last) - span.first
    for (let index = Math.max(0, firstArrival - span.first); index <= end; index += 1) offer(span, index)
  }
}

/** Offers those of these arrivals that are counted. */
function offerMatches(
  arrivals: readonly number[],
  spanOf: ReturnType<typeof createSpanReader>,
  offer: Parameters<Matches['forEach']>[0],
) {
  for (const arrival of arrivals) {
    const span = spanOf(arrival)
    if (span !== undefined) offer(span, arrival - span.first)
  }
}

/** The counts of a filter with words or fingerprints, whose matches are counted when they are asked for. */
export function countsOfArrays(filter: EntryFilter, { combinations, forEach }: Matches): RollupCounts {
  const countFacts = (): ReadonlyMap<number, number> => {
    const counts = new Map<number, number>()
    forEach(({ facts }, index) => {
      const number = facts[index] ?? 0
      counts.set(number, (counts.get(number) ?? 0) + 1)
    })
    return counts
  }

  return {
    count: () => [...countFacts().values()].reduce((a, b) => a + b, 0),
    levels: function* (unit) {
      const counts = new Map<number, number>()
      forEach(({ facts, minutes }, index) => {
        const key = Math.floor((minutes[index] ?? 0) / unit) * RANKS + ((facts[index] ?? 0) % RANKS)
        counts.set(key, (counts.get(key) ?? 0) + 1)
      })
      for (const [key, count] of counts) {
        const level = LEVELS[key % RANKS]
        if (level !== undefined) yield { minute: Math.floor(key / RANKS) * unit, level, count }
      }
    },
    facts: () => countedFacts(combinations(), countFacts()),
    // The first match of a list is found faster than all matches are counted.
    edge: () => ({ filter }),
  }
}
