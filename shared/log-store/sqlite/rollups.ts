/**
 * Counts entries as they are stored, so that reads need not: by minute, hour and day in the table `rollups`, and one by one in the columns of
 * segments (segments.ts). Each combination of facts, the columns that filters and facets use, has a number in `rollup_facts`. Three event logs:
 *
 *     arrival  time   level        Event          facts
 *     991      12:00  Information  order-placed   18
 *     992      12:00  Information  order-placed   18
 *     993      12:01  Error        order-placed   28
 *
 * add 2 and 1 to the minutes 12:00 and 12:01, and 2 and 1 to the hour 12 and to the day, each under its facts; the same under the kind and
 * the level alone (ROLLUP_DETAILS); and a segment with the columns `minutes` [12:00, 12:00, 12:01] and `facts` [18, 18, 28].
 *
 * Arrivals are counted in order and without gaps, up to `rollup_state.counted`: by a write once there are enough to count together, and by
 * maintenance at any other time. That number always separates counted entries from uncounted ones, so a store that an older version filled,
 * or one that was killed, needs only `countMore`.
 *
 * A Team may have too many combinations (`factsOfTeam`). Entries of a combination without a number are in the detail `unnumbered`. If a number
 * becomes free and the combination gets it at arrival 994, its entries from there on are counted under it, and earlier ones stay where they are:
 * `first_arrival` tells where an entry was counted, when it is removed.
 */
import type { SQLOutputValue } from 'node:sqlite'
import { LEVELS } from '../../contract/levels.ts'
import type { StoreContext, StoreLimits } from './context.ts'
import type { Database } from './database.ts'
import { columnsOf, entriesBy } from './names.ts'
import { KINDS, RECOUNT, ROLLUP_DETAILS } from './schema.ts'
import { addToSegments, NO_FINGERPRINT, removeFromSegments, type SegmentEntry } from './segments.ts'
import { lastArrival, widenTimes } from './text-tables.ts'

/** The facts of an entry that are counted. */
interface CountedEntry {
  readonly arrival: number
  /** Minutes since 1970. */
  readonly minute: number
  /** The values of FACTS, in their order. */
  readonly values: readonly SQLOutputValue[]
}

/** The columns of `entries` by which entries are counted. Every entry has the first three. */
export const FACTS = ['team', 'kind', 'level', 'environment', 'event', 'step', 'project', 'category'] as const

/** The facts of the detail `level` (ROLLUP_DETAILS). */
export const LEVEL_FACTS = FACTS.slice(0, 3)

/** The widths of a row of `rollups` in minutes; each divides the next. */
export const WIDTHS = [1, 60, 1_440] as const

/** The columns of a SELECT over `entriesBy` whose rows `countedEntry` reads. */
export const COUNTED_COLUMNS = `e.arrival AS arrival, e.timestamp / 60000000000 AS minute, ${columnsOf(FACTS)}`

export const countedEntry = (row: Readonly<Record<string, SQLOutputValue>>): CountedEntry => ({
  arrival: Number(row['arrival']),
  minute: Number(row['minute']),
  values: FACTS.map((fact) => row[fact] ?? null),
})

/** Whether the row has values of its columns' types: those of a damaged one may be others, which the tables of counts do not take. */
const isWhole = ({ minute, values: [team, kind, level, environment, ...others] }: CountedEntry): boolean =>
  Number.isInteger(minute) &&
  minute >= 0 &&
  typeof team === 'string' &&
  Object.values<unknown>(KINDS).includes(kind) &&
  typeof level === 'number' &&
  level in LEVELS &&
  typeof environment === 'string' &&
  others.every((fact) => fact === null || typeof fact === 'string')

/** A number of `rollup_facts` divided by this leaves the rank of the level, so that levels are counted without the table. */
export const RANKS = 8

const STEPS_UNCOUNTED_MAX = 3

const FIND_FACTS = `SELECT number, first_arrival FROM rollup_facts WHERE ${FACTS.map((fact) => `${fact} IS ?`).join(' AND ')}`
const INSERT_FACTS = `INSERT INTO rollup_facts (number, first_arrival, entries, ${FACTS.join(', ')})
  VALUES (((SELECT max(number) FROM rollup_facts) / ${RANKS} + 1) * ${RANKS} + ?, ?, 0, ${FACTS.map(() => '?').join(', ')})`
const CHANGE = `INSERT INTO rollups (team, detail, width, start, facts, entries) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET entries = entries + excluded.entries`
const CHANGE_FACTS = 'UPDATE rollup_facts SET entries = entries + ? WHERE number = ?'
const REMOVE_EMPTY_FACTS = 'DELETE FROM rollup_facts WHERE number = ? AND entries = 0'
const REMOVE_EMPTY =
  'DELETE FROM rollups WHERE team = ? AND detail = ? AND width = ? AND start = ? AND facts = ? AND entries = 0'

/** The last counted arrival. */
export const countedArrival = (database: Database): number =>
  Number(database.prepare('SELECT counted FROM rollup_state').get()?.['counted'])

/** The last counted arrival if few are uncounted; null if they are too many to be read in addition to the counts. */
export function uncountedAfter(database: Database, { countedOfAStep }: StoreLimits): number | null {
  const counted = countedArrival(database)
  return lastArrival(database) - counted <= STEPS_UNCOUNTED_MAX * countedOfAStep ? counted : null
}

/** Counts some of the uncounted entries. Returns whether there are more. */
export function countMore({ database, limits }: StoreContext): boolean {
  const last = lastArrival(database)
  const from = countedArrival(database)
  if (from === last) return false
  const selected = selectCounted(database, from, limits.countedOfAStep)
  const entries = selected.filter(isWhole)
  const numbers = change(database, limits, 1, entries)
  addToSegments(
    database,
    entries.map((entry) => ({ ...entry, facts: numbers.get(entry.arrival) ?? 0 })),
  )
  widenTimes(database, entries)
  const reached = selected.length < limits.countedOfAStep ? last : (selected.at(-1)?.arrival ?? last)
  database.prepare('UPDATE rollup_state SET counted = ?').run(reached)
  return reached < last
}

/** Counts entries if many are uncounted. */
export function countMany(context: StoreContext): void {
  const uncounted = lastArrival(context.database) - countedArrival(context.database)
  if (uncounted >= context.limits.countedOfAStep) countMore(context)
}

/** Subtracts entries that were just removed, as far as they were counted. */
export function subtractCounts({ database, limits }: StoreContext, entries: readonly CountedEntry[]): void {
  const last = countedArrival(database)
  const counted = entries.filter((entry) => entry.arrival <= last && isWhole(entry))
  change(database, limits, -1, counted)
  removeFromSegments(
    database,
    counted.map(({ arrival }) => arrival),
  )
}

/** Deletes all counts; `countMore` rebuilds them. */
export const forgetCounts = ({ database }: StoreContext): void => database.exec(RECOUNT)

/** The number of entries that are counted. */
export const countedEntries = ({ database }: StoreContext): number =>
  Number(
    database
      .prepare('SELECT sum(entries) AS sum FROM rollups WHERE detail = ? AND width = ?')
      .get(ROLLUP_DETAILS.level, WIDTHS[2])?.['sum'] ?? 0,
  )

/** The first entries after an arrival, with their fingerprints. */
function selectCounted(
  database: Database,
  after: number,
  limit: number,
): readonly (CountedEntry & Omit<SegmentEntry, 'facts'>)[] {
  const statement = database.prepare(
    // A damaged number may be beyond those that JavaScript reads as integers.
    `SELECT CAST(e.template AS REAL), CAST(e.exception_group AS REAL), ${COUNTED_COLUMNS} FROM ${entriesBy('NOT INDEXED')}
      WHERE e.arrival > ? ORDER BY e.arrival LIMIT ?`,
  )
  // Objects with a name for each column would take most of the time.
  statement.setReturnArrays(true)
  const rows = statement.all(after, limit) as unknown as readonly (readonly SQLOutputValue[])[]
  return rows.map(([template, exceptionGroup, arrival, minute, ...values]) => ({
    template: Number(template ?? NO_FINGERPRINT),
    exceptionGroup: Number(exceptionGroup ?? NO_FINGERPRINT),
    arrival: Number(arrival),
    minute: Number(minute),
    values,
  }))
}

/** Entries with the same values. */
type Group = readonly [CountedEntry, ...CountedEntry[]]

/** The entries, grouped by the first `count` of FACTS. */
function groupsOf(entries: readonly CountedEntry[], count: number): Iterable<Group> {
  const groups = new Map<string, [CountedEntry, ...CountedEntry[]]>()
  for (const entry of entries) {
    const key = JSON.stringify(count === FACTS.length ? entry.values : entry.values.slice(0, count))
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups.values()
}

/** A Team, and the number of its combinations. */
interface CountedTeam {
  readonly number: number
  combinations: number
}

/** Adds entries to the rollups, in the order of arrival, or subtracts them. Returns the number of the facts of each that has one. */
function change(
  database: Database,
  limits: StoreLimits,
  sign: 1 | -1,
  entries: readonly CountedEntry[],
): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>()
  const teams = new Map<SQLOutputValue, CountedTeam>()
  for (const ofLevel of groupsOf(entries, LEVEL_FACTS.length)) {
    const [name = null, kind, level] = ofLevel[0].values
    const team = teams.get(name) ?? teamOf(database, name)
    teams.set(name, team)
    // The number of the combination with only a kind and a level.
    const levelFacts = Number(kind) * RANKS + Number(level)
    changeRows(database, [team.number, ROLLUP_DETAILS.level, levelFacts], sign, ofLevel, WIDTHS)
    for (const group of groupsOf(ofLevel, FACTS.length)) {
      const combination = combinationOf(database, team, group[0], sign === 1 && team.combinations < limits.factsOfTeam)
      const [numbered, unnumbered] = parted(group, combination?.firstArrival ?? Number.POSITIVE_INFINITY)
      changeRows(database, [team.number, ROLLUP_DETAILS.unnumbered, levelFacts], sign, unnumbered, [1])
      if (combination === null || numbered.length === 0) continue
      const facts = combination.number
      for (const { arrival } of numbered) numbers.set(arrival, facts)
      changeRows(database, [team.number, ROLLUP_DETAILS.facts, facts], sign, numbered, WIDTHS)
      database.prepare(CHANGE_FACTS).run(sign * numbered.length, facts)
      if (sign === -1) database.prepare(REMOVE_EMPTY_FACTS).run(facts)
    }
  }
  return numbers
}

function teamOf(database: Database, team: SQLOutputValue): CountedTeam {
  database.prepare('INSERT INTO rollup_teams (team) VALUES (?) ON CONFLICT DO NOTHING').run(team)
  const number = Number(database.prepare('SELECT number FROM rollup_teams WHERE team = ?').get(team)?.['number'])
  const found = database.prepare('SELECT count(*) AS count FROM rollup_facts WHERE team = ?').get(number)
  return { number, combinations: Number(found?.['count']) }
}

/** The combination of an entry; a new one if it has none and `mayAdd`, else null. */
function combinationOf(database: Database, team: CountedTeam, { arrival, values }: CountedEntry, mayAdd: boolean) {
  const facts = [team.number, ...values.slice(1)]
  const row = database.prepare(FIND_FACTS).get(...facts)
  if (row !== undefined) return { number: Number(row['number']), firstArrival: Number(row['first_arrival']) }
  if (!mayAdd) return null
  team.combinations += 1
  const level = values[FACTS.indexOf('level')] ?? 0
  const { lastInsertRowid } = database.prepare(INSERT_FACTS).run(level, arrival, ...facts)
  return { number: Number(lastInsertRowid), firstArrival: arrival }
}

/** Changes the rows, in each of these widths, of entries that are counted under one key. */
function changeRows(
  database: Database,
  [team, detail, facts]: readonly [team: number, detail: number, facts: number],
  sign: 1 | -1,
  entries: readonly CountedEntry[],
  widths: readonly number[],
): void {
  const [add, removeEmpty] = [database.prepare(CHANGE), database.prepare(REMOVE_EMPTY)]
  // Each width is summed from the one before, which has few counts.
  let counts: Iterable<readonly [minute: number, count: number]> = entries.map(({ minute }) => [minute, 1] as const)
  for (const width of widths) {
    const sums = new Map<number, number>()
    for (const [minute, count] of counts) {
      const start = minute - (minute % width)
      sums.set(start, (sums.get(start) ?? 0) + count)
    }
    for (const [start, count] of sums) {
      add.run(team, detail, width, start, facts, sign * count)
      if (sign === -1) removeEmpty.run(team, detail, width, start, facts)
    }
    counts = sums
  }
}

/** The entries from an arrival on, and the earlier ones. */
function parted(entries: Group, arrival: number): readonly [readonly CountedEntry[], readonly CountedEntry[]] {
  if (entries[0].arrival >= arrival) return [entries, []]
  return [entries.filter((entry) => entry.arrival >= arrival), entries.filter((entry) => entry.arrival < arrival)]
}
