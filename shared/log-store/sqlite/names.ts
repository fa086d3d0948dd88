import type { Database } from './database.ts'

/**
 * The names that many entries share are stored once: the table `names` numbers the combinations in use, and an entry has the number of its
 * own. Ten categories in each of four Projects make forty rows, and a store with many entries a tenth smaller.
 *
 * An entry has its names in columns of its own instead if an older version stored it, or if too many combinations were in use (`namesMax`):
 * a client may send a new category with each entry. `columnOf` reads both.
 */
export const NAMED = ['environment', 'event', 'step', 'project', 'category', 'event_name'] as const

/** The values of the columns NAMED, in their order. */
export type Names = readonly [environment: string, ...others: (string | null)[]]

/** `entries AS e` by an index, with their names for `columnOf`. SQLite leaves the names out where nothing reads them. */
export const entriesBy = (index: string): string => `entries AS e ${index} LEFT JOIN names AS n ON n.number = e.names`

/** The combinations of facts (rollups.ts) in the place of entries. They have their names themselves: no number of `names` is 0. */
export const FACTS_AS_ENTRIES = 'rollup_facts AS e LEFT JOIN names AS n ON n.number = 0'

/** A column of an entry of `entriesBy`, in SQL. */
export const columnOf = (column: string): string =>
  (NAMED as readonly string[]).includes(column) ? `coalesce(n.${column}, e.${column})` : `e.${column}`

/** The same for the columns of a SELECT, by their names. */
export const columnsOf = (columns: readonly string[]): string =>
  columns.map((column) => `${columnOf(column)} AS ${column}`).join(', ')

const FIND = `SELECT number, last_table FROM names WHERE ${NAMED.map((name) => `${name} IS ?`).join(' AND ')}`
const INSERT = `INSERT INTO names (last_table, ${NAMED.join(', ')}) VALUES (?, ${NAMED.map(() => '?').join(', ')})`

/** Numbers the combinations of names that are written, of which it remembers those in the current full-text table. */
export function createNamesWriter(database: Database, namesMax: number) {
  const known = new Map<string, number>()
  let knownIn = 0

  return {
    /**
     * Begins a transaction that writes to a full-text table. Numbers new combinations while there are fewer than `namesMax`; null for others.
     */
    begin(table: number): (names: Names) => number | null {
      let room: number | undefined
      if (table !== knownIn) known.clear()
      knownIn = table

      const numberOf = (names: Names): number | null => {
        const found = database.prepare(FIND).get(...names)
        if (found !== undefined) {
          const number = Number(found['number'])
          if (found['last_table'] !== table)
            database.prepare('UPDATE names SET last_table = ? WHERE number = ?').run(table, number)
          return number
        }
        room ??= namesMax - Number(database.prepare('SELECT count(*) AS count FROM names').get()?.['count'])
        if (room <= 0) return null
        room -= 1
        return Number(database.prepare(INSERT).run(table, ...names).lastInsertRowid)
      }

      return (names) => {
        const key = JSON.stringify(names)
        const before = known.get(key)
        if (before !== undefined) return before
        const number = numberOf(names)
        if (number !== null) known.set(key, number)
        return number
      }
    },
    /** Called after a transaction that failed, as the combinations that it added have no numbers. */
    forget: (): void => known.clear(),
  }
}

/** Removes the combinations of which no entry is left, as the full-text tables in which they were last used are dropped. */
export function removeUnusedNames(database: Database): void {
  database.exec('DELETE FROM names WHERE last_table < (SELECT min(number) FROM text_tables)')
}
