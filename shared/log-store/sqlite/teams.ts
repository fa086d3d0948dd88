/**
 * A Team has a key in the file: a number, as its name would stand in the row of each entry and in the indices by time and flow. In a file that
 * an older version made, the name of each Team that it had is its key. All tables have keys; names come in and go out in store.ts, and in the
 * texts of records (sources.ts).
 */
import type { Database } from './database.ts'

const FIND = 'SELECT key FROM teams WHERE name = ?'
/** The next number, beyond those that names of an older version may be. */
const INSERT = `INSERT INTO teams (name, key)
  SELECT ?, coalesce(max(CAST(key AS INTEGER)), 0) + 1 FROM teams WHERE length(key) < 16 RETURNING key`

/** The key of no Team: no name has a NUL. */
const NO_KEY = '\0'

/** The key of a Team; that of none if nothing of it was stored. */
export const keyOf = (database: Database, team: string): string =>
  String(database.prepare(FIND).get(team)?.['key'] ?? NO_KEY)

/** The keys of Teams whose entries or flows are stored in this transaction, which gives new Teams theirs. */
export function createKeys(database: Database): (team: string) => string {
  const known = new Map<string, string>()
  return (team) => {
    const key =
      known.get(team) ?? String((database.prepare(FIND).get(team) ?? database.prepare(INSERT).get(team))?.['key'])
    known.set(team, key)
    return key
  }
}
