import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Database } from './database.ts'
import { lastArrival } from './entry-writer.ts'
import type { StoreLimits } from './limits.ts'
import { ROLLUP_DETAILS } from './schema.ts'
import { widenTimes } from './text-tables.ts'

/**
 * Counts of entries by minute, hour and day, kept in the transactions that store and remove the entries. Arrivals are counted in
 * their order and without gaps, up to `rollup_state.counted`: a write counts its entries where all before them are counted already, and
 * leaves them to `countMore` otherwise. So a store that an older version filled, and one that was killed in between, need nothing but
 * `countMore`.
 *
 * An entry belongs to the combination of its facts that has a number, from the arrival on at which it got the number. Earlier entries
 * of the same facts, which came while their Team had no number left, stay in the rest; both numbers and entries can be removed at any
 * time, and it can always be told where an entry was counted.
 */
export interface Rollups {
  /** Counts entries that were just stored, in the order of arrival; `before` was the last arrival until then. In `write` only. */
  add(before: number, entries: readonly CountedEntry[]): void
  /** Subtracts entries that were just removed. In `write` only. */
  subtract(entries: readonly CountedEntry[]): void
  /** Counts some of the stored entries that are not counted yet, in a transaction of its own. Returns whether there are more. */
  countMore(): boolean
  /** Forgets all counts; `countMore` makes them again. */
  forgetCounts(): void
}

/** An entry as far as it is counted. */
export interface CountedEntry {
  readonly arrival: number
  /** Minutes since 1970. */
  readonly minute: number
  /** The values of FACTS, in their order. */
  readonly facts: readonly SQLInputValue[]
}

/** The columns of `entries` that are counted by. The first three belong to every entry. */
export const FACTS = ['team', 'kind', 'level', 'environment', 'event', 'step', 'project', 'category'] as const

/** Minutes of a row of `rollups`, each a part of the next. */
export const WIDTHS = [1, 60, 1_440] as const

/** A SELECT of it gives what `countedEntry` reads. */
export const COUNTED_COLUMNS = `arrival, timestamp / 60000000000 AS minute, ${FACTS.join(', ')}`

export const countedEntry = (row: Readonly<Record<string, SQLOutputValue>>): CountedEntry => ({
  arrival: Number(row['arrival']),
  minute: Number(row['minute']),
  facts: FACTS.map((fact) => row[fact] ?? null),
})

/** The number of a combination that is of this kind and level alone. */
export const levelFacts = (kind: number, level: number): number => kind * 8 + level

const FIND_FACTS = `SELECT number, first_arrival FROM rollup_facts WHERE ${FACTS.map((fact) => `${fact} IS ?`).join(' AND ')}`
const INSERT_FACTS = `INSERT INTO rollup_facts (number, first_arrival, entries, ${FACTS.join(', ')})
  VALUES (((SELECT max(number) FROM rollup_facts) / 8 + 1) * 8 + ?, ?, 0, ${FACTS.map(() => '?').join(', ')})`
const CHANGE = `INSERT INTO rollups (team, detail, width, start, facts, entries) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET entries = entries + excluded.entries`
const REMOVE_EMPTY =
  'DELETE FROM rollups WHERE team = ? AND detail = ? AND width = ? AND start = ? AND facts = ? AND entries = 0'

/** Whether all entries are counted. In `Database.read` only. */
export const isCounted = (database: Database): boolean => countedArrival(database) === lastArrival(database)

const countedArrival = (database: Database): number =>
  Number(database.prepare('SELECT counted FROM rollup_state').get()?.['counted'])

export function createRollups(database: Database, limits: StoreLimits): Rollups {
  const setCounted = (arrival: number): void => {
    database.prepare('UPDATE rollup_state SET counted = ?').run(arrival)
  }

  const change = (sign: 1 | -1, entries: readonly CountedEntry[]): void => {
    const changes = createChanges(database, limits)
    for (const group of groupsOf(entries)) changes.count(sign, group)
    changes.write(sign)
  }

  const count = (entries: readonly CountedEntry[]): void => {
    change(1, entries)
    widenTimes(database, entries)
  }

  const countMore = (): boolean => {
    const from = countedArrival(database)
    const last = lastArrival(database)
    if (from === last) return false
    const entries = database
      .prepare(`SELECT ${COUNTED_COLUMNS} FROM entries NOT INDEXED WHERE arrival > ? ORDER BY arrival LIMIT ?`)
      .all(from, limits.countedOfAStep)
      .map(countedEntry)
    count(entries)
    const reached = entries.length < limits.countedOfAStep ? last : (entries.at(-1)?.arrival ?? last)
    setCounted(reached)
    return reached < last
  }

  return {
    add: (before, entries) => {
      const last = lastArrival(database)
      if (last === before || countedArrival(database) !== before) return
      count(entries)
      setCounted(last)
    },
    subtract: (entries) => {
      const last = countedArrival(database)
      change(
        -1,
        entries.filter(({ arrival }) => arrival <= last),
      )
    },
    countMore: () => database.write(countMore),
    forgetCounts: () =>
      database.write(() => {
        database.exec('DELETE FROM rollups; DELETE FROM rollup_facts WHERE team > 0')
        setCounted(0)
      }),
  }
}

/** Entries of the same facts. */
type Group = readonly [CountedEntry, ...CountedEntry[]]

function groupsOf(entries: readonly CountedEntry[]): Iterable<Group> {
  const groups = new Map<string, [CountedEntry, ...CountedEntry[]]>()
  for (const entry of entries) {
    const key = JSON.stringify(entry.facts)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups.values()
}

/** The key of a row of `rollups`. */
type RowKey = readonly [team: number, detail: number, width: number, start: number, facts: number]

/** What one transaction changes, gathered so that each row is written once. */
function createChanges(database: Database, limits: StoreLimits) {
  const rows = new Map<string, { readonly key: RowKey; entries: number }>()
  const teams = new Map<SQLInputValue, { readonly number: number; combinations: number }>()

  const countRow = (key: RowKey, entries: number): void => {
    const text = key.join()
    const row = rows.get(text)
    if (row === undefined) rows.set(text, { key, entries })
    else row.entries += entries
  }

  const teamOf = (team: SQLInputValue) => {
    const known = teams.get(team)
    if (known !== undefined) return known
    database.prepare('INSERT INTO rollup_teams (team) VALUES (?) ON CONFLICT DO NOTHING').run(team)
    const number = Number(database.prepare('SELECT number FROM rollup_teams WHERE team = ?').get(team)?.['number'])
    const found = database.prepare('SELECT count(*) AS count FROM rollup_facts WHERE team = ?').get(number)
    const added = { number, combinations: Number(found?.['count']) }
    teams.set(team, added)
    return added
  }

  const factsOf = (team: { readonly number: number; combinations: number }, [entry]: Group, sign: 1 | -1) => {
    const values = [team.number, ...entry.facts.slice(1)]
    const row = database.prepare(FIND_FACTS).get(...values)
    if (row !== undefined) return { number: Number(row['number']), firstArrival: Number(row['first_arrival']) }
    if (sign === -1 || team.combinations >= limits.factsOfTeam) return null
    team.combinations += 1
    const level = entry.facts[FACTS.indexOf('level')] ?? 0
    const { lastInsertRowid } = database.prepare(INSERT_FACTS).run(level, entry.arrival, ...values)
    return { number: Number(lastInsertRowid), firstArrival: entry.arrival }
  }

  const countWidths = (team: number, detail: number, facts: number, sign: 1 | -1, entries: readonly CountedEntry[]) => {
    for (const [minute, count] of byMinute(entries)) {
      for (const width of WIDTHS) countRow([team, detail, width, minute - (minute % width), facts], sign * count)
    }
  }

  return {
    count(sign: 1 | -1, group: Group): void {
      const [name, kind, level] = group[0].facts
      const team = teamOf(name ?? '')
      const alone = levelFacts(Number(kind), Number(level))
      countWidths(team.number, ROLLUP_DETAILS.level, alone, sign, group)
      const facts = factsOf(team, group, sign)
      const [numbered, rest] = parted(group, facts?.firstArrival ?? Number.POSITIVE_INFINITY)
      for (const [minute, count] of byMinute(rest)) {
        countRow([team.number, ROLLUP_DETAILS.rest, 1, minute, alone], sign * count)
      }
      if (facts === null || numbered.length === 0) return
      countWidths(team.number, ROLLUP_DETAILS.facts, facts.number, sign, numbered)
      const entries = sign * numbered.length
      database.prepare('UPDATE rollup_facts SET entries = entries + ? WHERE number = ?').run(entries, facts.number)
      if (sign === -1) database.prepare('DELETE FROM rollup_facts WHERE number = ? AND entries = 0').run(facts.number)
    },
    write(sign: 1 | -1): void {
      for (const { key, entries } of rows.values()) {
        database.prepare(CHANGE).run(...key, entries)
        if (sign === -1) database.prepare(REMOVE_EMPTY).run(...key)
      }
    },
  }
}

function byMinute(entries: readonly CountedEntry[]): ReadonlyMap<number, number> {
  const minutes = new Map<number, number>()
  for (const { minute } of entries) minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
  return minutes
}

/** The entries from an arrival on, and those before it. */
function parted(entries: Group, arrival: number): readonly [readonly CountedEntry[], readonly CountedEntry[]] {
  if (entries[0].arrival >= arrival) return [entries, []]
  return [entries.filter((entry) => entry.arrival >= arrival), entries.filter((entry) => entry.arrival < arrival)]
}
