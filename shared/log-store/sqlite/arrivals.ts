import type { Database } from './database.ts'

/**
 * An entry's arrival is its number in the order in which entries were stored, from 1 on and never reused. It is the entry's row id in
 * `entries` and in a full-text table, and its place in blocks and segments. This range is from `after` (exclusive) to `last` (inclusive).
 */
export interface ArrivalRange {
  readonly after: number
  readonly last: number
}

/** The highest arrival ever assigned; 0 before the first. */
export function lastArrival(database: Database): number {
  return Number(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").get()?.['seq'] ?? 0)
}
