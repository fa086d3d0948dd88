import type { SQLOutputValue } from 'node:sqlite'
import { LEVELS } from '../../contract/levels.ts'
import { lastArrival } from './arrivals.ts'
import { forgetCounted, NO_FINGERPRINT, type NumberedEntry, storeCounted } from './counted-entries.ts'
import type { Database } from './database.ts'
import type { StoreLimits } from './limits.ts'
import { KINDS, RECOUNT, ROLLUP_DETAILS } from './schema.ts'
import { widenTimes } from './text-tables.ts'

/**
 * Counts of entries by minute, hour and day. Arrivals are counted in order and without gaps, up to `rollup_state.counted`: a write counts
 * once there are enough to count together, and `countMore` at any other time. That number always separates counted entries from uncounted
 * ones, so a store that an older version filled, or one that was killed, needs only `countMore`.
 *
 * A numbered combination of facts counts its entries from the arrival on at which it got its number. Earlier entries with the same facts,
 * which arrived while their Team had no number left, stay in the rest. Both numbers and entries can be removed at any time, and it can
 * always be told where an entry was counted.
 */
export interface Rollups {
  /** Counts entries if many are uncounted. Only in `write`. */
  countMany(): void
  /** Subtracts entries that were just removed, as far as they were counted. Only in `write`. */
  subtract(entries: readonly CountedEntry[]): void
  /** Counts some of the uncounted entries, in a transaction of its own. Returns whether there are more. */
  countMore(): boolean
  /** Deletes all counts; `countMore` rebuilds them. */
  forgetCounts(): void
  /** The number of entries that are counted. */
  countedEntries(): number
}

/** The facts of an entry that are counted. */
export interface CountedEntry {
  readonly arrival: number
  /** Minutes since 1970. */
  readonly minute: number
  /** The values of FACTS, in their order. */
  readonly facts: readonly SQLOutputValue[]
}

/** The columns of `entries` by which entries are counted. Every entry has the first three. */
export const FACTS = ['team', 'kind', 'level', 'environment', 'event', 'step', 'project', 'category'] as const

/** The widths of a row of `rollups` in minutes; each divides the next. */
export const WIDTHS = [1, 60, 1_440] as const

/** The columns of a SELECT whose rows `countedEntry` reads. */
export const COUNTED_COLUMNS = `arrival, timestamp / 60000000000 AS minute, ${FACTS.join(', ')}`

export const countedEntry = (row: Readonly<Record<string, SQLOutputValue>>): CountedEntry => ({
  arrival: Number(row['arrival']),
  minute: Number(row['minute']),
  facts: FACTS.map((fact) => row[fact] ?? null),
})

/** Whether the row has values of its columns' types: those of a damaged one may be others, which the tables of counts do not take. */
const isWhole = ({ minute, facts: [team, kind, level, environment, ...others] }: CountedEntry): boolean =>
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

/** The number of a combination with only a kind and a level. */
const levelFacts = (kind: unknown, level: unknown): number => Number(kind) * RANKS + Number(level)

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
const countedArrival = (database: Database): number =>
  Number(database.prepare('SELECT counted FROM rollup_state').get()?.['counted'])

/** The last counted arrival if few are uncounted; null if they are too many to be read in addition to the counts. */
export function uncountedAfter(database: Database, { countedOfAStep }: StoreLimits): number | null {
  const counted = countedArrival(database)
  return lastArrival(database) - counted <= STEPS_UNCOUNTED_MAX * countedOfAStep ? counted : null
}

export function createRollups(database: Database, limits: StoreLimits): Rollups {
  const setCounted = (arrival: number): void => {
    database.prepare('UPDATE rollup_state SET counted = ?').run(arrival)
  }

  const countStep = (): boolean => {
    const last = lastArrival(database)
    const from = countedArrival(database)
    if (from === last) return false
    const selected = selectCounted(database, from, limits.countedOfAStep)
    const entries = selected.filter(isWhole)
    const numbers = change(database, limits, 1, entries)
    storeCounted(
      database,
      entries.map((entry) => ({ ...entry, facts: numbers.get(entry.arrival) ?? 0 })),
    )
    widenTimes(database, entries)
    const reached = selected.length < limits.countedOfAStep ? last : (selected.at(-1)?.arrival ?? last)
    setCounted(reached)
    return reached < last
  }

  return {
    countMany: () => {
      if (lastArrival(database) - countedArrival(database) >= limits.countedOfAStep) countStep()
    },
    subtract: (entries) => {
      const last = countedArrival(database)
      const counted = entries.filter((entry) => entry.arrival <= last && isWhole(entry))
      change(database, limits, -1, counted)
      forgetCounted(
        database,
        counted.map(({ arrival }) => arrival),
      )
    },
    countMore: () => database.write(countStep),
    forgetCounts: () => database.write(() => database.exec(RECOUNT)),
    countedEntries: () =>
      database.read(() =>
        Number(
          database
            .prepare('SELECT sum(entries) AS sum FROM rollups WHERE detail = ? AND width = ?')
            .get(ROLLUP_DETAILS.level, WIDTHS[2])?.['sum'] ?? 0,
        ),
      ),
  }
}

/** The first entries after an arrival, with their fingerprints. */
function selectCounted(
  database: Database,
  after: number,
  limit: number,
): readonly (CountedEntry & Pick<NumberedEntry, 'template' | 'exceptionGroup'>)[] {
  const statement = database.prepare(
    // A damaged number may be beyond those that JavaScript reads as integers.
    `SELECT CAST(template AS REAL), CAST(exception_group AS REAL), ${COUNTED_COLUMNS} FROM entries NOT INDEXED WHERE arrival > ? ORDER BY arrival LIMIT ?`,
  )
  // Objects with a name for each column would take most of the time.
  statement.setReturnArrays(true)
  const rows = statement.all(after, limit) as unknown as readonly (readonly SQLOutputValue[])[]
  return rows.map(([template, exceptionGroup, arrival, minute, ...facts]) => ({
    template: Number(template ?? NO_FINGERPRINT),
    exceptionGroup: Number(exceptionGroup ?? NO_FINGERPRINT),
    arrival: Number(arrival),
    minute: Number(minute),
    facts,
  }))
}

/** Entries of the same facts. */
type Group = readonly [CountedEntry, ...CountedEntry[]]

/** The number of FACTS in the smallest detail: the Team, kind and level. */
const KIND_AND_LEVEL = 3

/** The entries, grouped by their first `facts` facts. */
function groupsOf(entries: readonly CountedEntry[], facts: number): Iterable<Group> {
  const groups = new Map<string, [CountedEntry, ...CountedEntry[]]>()
  for (const entry of entries) {
    const key = JSON.stringify(facts === FACTS.length ? entry.facts : entry.facts.slice(0, facts))
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
  for (const group of groupsOf(entries, KIND_AND_LEVEL)) {
    const [name = null, kind, level] = group[0].facts
    const team = teams.get(name) ?? teamOf(database, name)
    teams.set(name, team)
    changeRows(database, [team.number, ROLLUP_DETAILS.level, levelFacts(kind, level)], sign, group, WIDTHS)
  }
  for (const group of groupsOf(entries, FACTS.length)) {
    const [name = null, kind, level] = group[0].facts
    const team = teams.get(name) ?? teamOf(database, name)
    const facts = factsOf(database, team, group[0], sign === 1 && team.combinations < limits.factsOfTeam)
    const [numbered, rest] = parted(group, facts?.firstArrival ?? Number.POSITIVE_INFINITY)
    changeRows(database, [team.number, ROLLUP_DETAILS.rest, levelFacts(kind, level)], sign, rest, [1])
    if (facts === null || numbered.length === 0) continue
    for (const { arrival } of numbered) numbers.set(arrival, facts.number)
    changeRows(database, [team.number, ROLLUP_DETAILS.facts, facts.number], sign, numbered, WIDTHS)
    database.prepare(CHANGE_FACTS).run(sign * numbered.length, facts.number)
    if (sign === -1) database.prepare(REMOVE_EMPTY_FACTS).run(facts.number)
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
function factsOf(database: Database, team: CountedTeam, { arrival, facts }: CountedEntry, mayAdd: boolean) {
  const values = [team.number, ...facts.slice(1)]
  const row = database.prepare(FIND_FACTS).get(...values)
  if (row !== undefined) return { number: Number(row['number']), firstArrival: Number(row['first_arrival']) }
  if (!mayAdd) return null
  team.combinations += 1
  const level = facts[FACTS.indexOf('level')] ?? 0
  const { lastInsertRowid } = database.prepare(INSERT_FACTS).run(level, arrival, ...values)
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
  let counts = byMinute(entries)
  for (const width of widths) {
    counts = width === 1 ? counts : byStart(counts, width)
    for (const [start, count] of counts) {
      database.prepare(CHANGE).run(team, detail, width, start, facts, sign * count)
      if (sign === -1) database.prepare(REMOVE_EMPTY).run(team, detail, width, start, facts)
    }
  }
}

/** Sums counts by minutes, or by longer spans, into spans of `width` minutes. */
function byStart(counts: ReadonlyMap<number, number>, width: number): ReadonlyMap<number, number> {
  const starts = new Map<number, number>()
  for (const [minute, count] of counts) {
    const start = minute - (minute % width)
    starts.set(start, (starts.get(start) ?? 0) + count)
  }
  return starts
}

function byMinute(entries: readonly CountedEntry[]): ReadonlyMap<number, number> {
  const minutes = new Map<number, number>()
  for (const { minute } of entries) minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
  return minutes
}

/** The entries from an arrival on, and the earlier ones. */
function parted(entries: Group, arrival: number): readonly [readonly CountedEntry[], readonly CountedEntry[]] {
  if (entries[0].arrival >= arrival) return [entries, []]
  return [entries.filter((entry) => entry.arrival >= arrival), entries.filter((entry) => entry.arrival < arrival)]
}
