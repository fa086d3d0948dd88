import { DatabaseSync } from 'node:sqlite'

/** Has the file of a log store be as version 1 left it: without rollups, fingerprints and the later facts of flows. Nobody may have it open. */
export function toVersion1(file: string): void {
  const database = new DatabaseSync(file)
  try {
    database.exec(`DROP TABLE rollups; DROP TABLE rollup_facts; DROP TABLE rollup_teams; DROP TABLE rollup_state;
      DROP TABLE text_table_times;
      ALTER TABLE entries DROP COLUMN template; ALTER TABLE entries DROP COLUMN exception_group;
      ALTER TABLE flows DROP COLUMN last_error_at; ALTER TABLE flows DROP COLUMN last_progress_at;
      PRAGMA user_version = 1`)
  } finally {
    database.close()
  }
}
