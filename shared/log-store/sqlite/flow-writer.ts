import type { FlowDelta } from '../../contract/documents.ts'
import { searchText } from '../../contract/keyword.ts'
import { levelRank } from '../../contract/levels.ts'
import { toNanos } from '../../contract/timestamp.ts'
import { joinFlowValues } from '../flow-deltas.ts'
import type { StoreContext } from './context.ts'
import { setBytes, setMembers } from './leaf-bytes.ts'
import { createKeys } from './teams.ts'

/** Characters of a timestamp up to its minute. */
export const MINUTE_CHARACTERS = 16

const SETS = ['environments', 'events', 'steps', 'projects'] as const

/** The values in a row are cast, as damaged ones may be of any type. */
const least = (column: string): string => `${column} = min(CAST(${column} AS INTEGER), excluded.${column})`
const most = (column: string, type = 'INTEGER'): string =>
  `${column} = max(CAST(${column} AS ${type}), excluded.${column})`
/** The later of two times, or the only one. */
const latest = (column: string): string => {
  const [known, told] = [`CAST(${column} AS INTEGER)`, `excluded.${column}`]
  return `${column} = max(coalesce(${known}, ${told}), coalesce(${told}, ${known}))`
}

const SELECT = `SELECT ${SETS.join(', ')} FROM flows WHERE team = ? AND key = ?`
/** Times and level are merged as by `mergeDeltas`, the sets before. */
const UPSERT = `INSERT INTO flows (team, key, key_lower, first_at, last_at, last_error_at, last_progress_at, last_day, worst_level,
    ${SETS.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (team, key) DO UPDATE SET ${least('first_at')}, ${most('last_at')}, ${latest('last_error_at')},
    ${latest('last_progress_at')}, ${most('last_day', 'TEXT')}, ${most('worst_level')},
    ${SETS.map((column) => `${column} = excluded.${column}`).join(', ')}`

/** Folds the deltas into the summaries, in one transaction. */
export function mergeFlows({ database }: StoreContext, deltas: readonly FlowDelta[]): void {
  const merge = (delta: FlowDelta, team: string): void => {
    const { correlationKey: key } = delta
    const known = database.prepare(SELECT).get(team, key)
    const sets = SETS.map((name) => joinFlowValues(setMembers(known?.[name]), delta[name].map(searchText)))
    const { firstAt, lastAt, lastErrorAt, lastProgressAt, lastReceivedAt, worstLevel } = delta
    const times = [firstAt, lastAt, lastErrorAt, lastProgressAt].map((time) => (time === null ? null : toNanos(time)))
    database
      .prepare(UPSERT)
      .run(
        ...[team, key, key.toLowerCase(), ...times, lastReceivedAt.slice(0, MINUTE_CHARACTERS), levelRank(worstLevel)],
        ...sets.map(setBytes),
      )
  }
  if (deltas.length === 0) return
  database.write(() => {
    const keyOf = createKeys(database)
    for (const delta of deltas) merge(delta, keyOf(delta.team))
  })
}
