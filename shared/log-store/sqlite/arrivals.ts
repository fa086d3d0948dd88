import type { Database } from './database.ts'

/** The highest arrival number ever assigned; 0 before the first. */
export function lastArrival(database: Database): number {
  return Number(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").get()?.['seq'] ?? 0)
}
