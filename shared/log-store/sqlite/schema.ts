import type { EntryKind } from '../../contract/records.ts'
import { INDEXED_ID } from './ids.ts'

/** Marks the file as a log store (`PRAGMA application_id`): the letters "SLL1". */
export const APPLICATION_ID = 0x534c4c31

/** The version of the tables (`PRAGMA user_version`). */
export const SCHEMA_VERSION = 10

/** Documents of 1 KB waste a quarter of a 4 KiB page, but little of one of 8 KiB. */
export const PAGE_BYTES = 8_192

/**
 * - `entries.arrival` numbers the documents in the order in which they were stored and is never reused; it is also their row
 *   in a full-text table. The columns for filters, sorting and counting are here, in short rows; the shown text is in `blocks`.
 * - `entries.id` is a BLOB of 16 bytes for a GUID in canonical form and TEXT for any other id. Times are nanoseconds since
 *   1970; `received` may be a difference (`storedReceived`). `texts` says which texts are not empty (TEXT_BITS).
 * - `entries.team` and `flows.team` are keys of `teams` (teams.ts).
 * - `entries.names` is a number of `names`; then `environment` is empty, and the five columns of other names are NULL.
 * - `entries.template` and `entries.exception_group` are fingerprints as numbers (shared/fingerprint).
 * - `entries_by_id` has a part of the id (ids.ts); in older files it has all of it, and is unique.
 * - `entries_by_flow` lacks the id, which older files have in it: the few entries of a flow that have one time are sorted as they are read.
 * - `text_tables` lists the full-text tables (text-tables.ts): `texts_<number>` holds the arrivals from `first_arrival` up to
 *   that of the next table.
 * - `flows.key_lower` is the key in lower case; the four sets are texts between NULs (leaf-bytes.ts); `last_day` is the minute
 *   (yyyy-mm-ddThh:mm, UTC) in which the last entry was received, and only its day in rows from before version 6.
 */
const ENTRIES_SCHEMA = `
  CREATE TABLE entries (
    arrival INTEGER PRIMARY KEY AUTOINCREMENT,
    id ANY NOT NULL,
    team TEXT NOT NULL,
    kind INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    received INTEGER NOT NULL,
    level INTEGER NOT NULL,
    texts INTEGER NOT NULL,
    environment TEXT NOT NULL,
    correlation_key TEXT,
    event TEXT,
    step TEXT,
    project TEXT,
    category TEXT,
    event_id INTEGER,
    event_name TEXT,
    template INTEGER,
    exception_group INTEGER,
    names INTEGER
  ) STRICT;
  CREATE INDEX entries_by_id ON entries (${INDEXED_ID});
  CREATE INDEX entries_by_time ON entries (team, kind, timestamp, id, level);
  CREATE INDEX entries_by_flow ON entries (team, correlation_key, timestamp) WHERE correlation_key IS NOT NULL;
  CREATE TABLE text_tables (
    number INTEGER PRIMARY KEY,
    first_arrival INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE flows (
    team TEXT NOT NULL,
    key TEXT NOT NULL,
    key_lower TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    last_day TEXT NOT NULL,
    worst_level INTEGER NOT NULL,
    environments BLOB NOT NULL,
    events BLOB NOT NULL,
    steps BLOB NOT NULL,
    projects BLOB NOT NULL,
    last_error_at INTEGER,
    last_progress_at INTEGER,
    PRIMARY KEY (team, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX flows_by_last ON flows (team, last_at DESC, key);
  CREATE INDEX flows_by_day ON flows (last_day);
`

/** Teams, by their keys in this file (teams.ts). */
const TEAMS_SCHEMA = `
  CREATE TABLE teams (
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT, WITHOUT ROWID;
`

/** The different Teams of a table that has an index by Team: one search in it for each. */
const teamsOf = (table: string): string => `
  SELECT team, team FROM (WITH RECURSIVE of_${table} (team) AS (
    SELECT min(team) FROM ${table}
    UNION ALL SELECT (SELECT min(next.team) FROM ${table} AS next WHERE next.team > of_${table}.team)
      FROM of_${table} WHERE of_${table}.team IS NOT NULL
  ) SELECT team FROM of_${table} WHERE typeof(team) = 'text')`

/** For a file that has all other tables. */
const TEAMS_UPGRADE = `${TEAMS_SCHEMA} INSERT INTO teams (key, name)
  ${['entries', 'flows', 'rollup_teams'].map(teamsOf).join(' UNION ')};`

/** Combinations of names (names.ts). `last_table` is the number of the last full-text table with an entry of the combination. */
const NAMES_SCHEMA = `
  CREATE TABLE names (
    number INTEGER PRIMARY KEY,
    last_table INTEGER NOT NULL,
    environment TEXT NOT NULL,
    event TEXT,
    step TEXT,
    project TEXT,
    category TEXT,
    event_name TEXT
  ) STRICT;
  CREATE INDEX names_by_name ON names (category, event, step, project, environment, event_name);
`

/**
 * - `blocks` holds the records of entries and the leaves of their payload and scope data, compressed (block-codec.ts): those with arrivals
 *   from `first` to `last`. `bytes` is their size before.
 * - `contents` holds what an older version has stored of entries, until it is moved into blocks (renewal.ts).
 */
const BLOCKS_SCHEMA = `
  CREATE TABLE blocks (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    content BLOB NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS contents (
    arrival INTEGER PRIMARY KEY,
    leaves BLOB,
    source TEXT NOT NULL
  ) STRICT;
`

/**
 * `text_table_times`: the minutes since 1970 between which the entries of a full-text table are; removals do not narrow them.
 *
 * Rollups: the number of entries in each minute, hour and day, by the facts that filters and facets use (rollups.ts).
 *
 * - `rollup_teams` gives each Team, by its key, a number from 1 on.
 * - `rollup_facts` gives a number to each combination of facts: its lowest three bits are the level. Those of Team 0 have only a kind and
 *   a level. The others count entries from `first_arrival` on; `entries` is the number of these.
 * - `rollups.width` is 1, 60 or 1,440; `start` the first minute since 1970. `detail` says which facts are counted (ROLLUP_DETAILS).
 * - `rollup_state.counted`: the entries up to this arrival are in the rollups and in `text_table_times`, the later ones are not.
 */
const ROLLUPS_SCHEMA = `
  CREATE TABLE text_table_times (
    number INTEGER PRIMARY KEY,
    first_minute INTEGER NOT NULL,
    last_minute INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE rollup_state (counted INTEGER NOT NULL) STRICT;
  INSERT INTO rollup_state (counted) VALUES (0);
  CREATE TABLE rollup_teams (
    number INTEGER PRIMARY KEY,
    team TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE rollup_facts (
    number INTEGER PRIMARY KEY,
    team INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    level INTEGER NOT NULL,
    environment TEXT NOT NULL,
    event TEXT,
    step TEXT,
    project TEXT,
    category TEXT,
    first_arrival INTEGER NOT NULL,
    entries INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX rollup_facts_by_team
    ON rollup_facts (team, kind, level, category, event, step, project, environment);
  INSERT INTO rollup_facts (number, team, kind, level, environment, first_arrival, entries)
    SELECT kind.value * 8 + level.value, 0, kind.value, level.value, '', 0, 0
    FROM json_each('[0,1]') AS kind, json_each('[0,1,2,3,4,5]') AS level;
  CREATE TABLE rollups (
    team INTEGER NOT NULL,
    detail INTEGER NOT NULL,
    width INTEGER NOT NULL,
    start INTEGER NOT NULL,
    facts INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (team, detail, width, start, facts)
  ) STRICT, WITHOUT ROWID;
`

/** `counted_entries` has the minute, facts and fingerprints of each counted entry, by arrival (segments.ts). */
const COUNTED_ENTRIES_SCHEMA = `
  CREATE TABLE counted_entries (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    content BLOB NOT NULL
  ) STRICT;
`

/** Removes all counts; they are then made anew, in the background. */
export const RECOUNT = `
  DELETE FROM rollups; DELETE FROM counted_entries; DELETE FROM rollup_facts WHERE team > 0;
  UPDATE rollup_state SET counted = 0;
`

/** The full-text table that is filled beside the one that it will replace (renewal.ts). */
export const RENEWED_TABLE = 'texts_renewed'

/**
 * `renewal_state`: entries up to the arrival `until` may be from an older version; those after `renewed` still lack what this version
 * derives from them. `number` is that of the full-text table whose successor is being filled, or 0 (renewal.ts).
 */
const RENEWAL_SCHEMA = `
  CREATE TABLE renewal_state (renewed INTEGER NOT NULL, until INTEGER NOT NULL, number INTEGER NOT NULL) STRICT;
  INSERT INTO renewal_state (renewed, until, number)
    SELECT 0, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'entries'), 0), 0;
`

export const SCHEMA = `${TEAMS_SCHEMA}${ENTRIES_SCHEMA}${NAMES_SCHEMA}${BLOCKS_SCHEMA}${ROLLUPS_SCHEMA}${COUNTED_ENTRIES_SCHEMA}${RENEWAL_SCHEMA}`

const NAMES_UPGRADE = `${NAMES_SCHEMA} ALTER TABLE entries ADD COLUMN names INTEGER;`

/**
 * Version 1 had no rollups and no fingerprints, and versions 1 and 2 indexed fewer words; these are made from the entries in the
 * background. A version that changes fingerprints or words has to reset `renewal_state`. Version 1 also stored fewer facts about flows; its
 * flows are not read again. Version 3 had neither blocks nor `counted_entries`, which had no fingerprints in
 * version 4. Version 5 kept whole sources (sources.ts), and reads no others. Version 6
 * stored the names of each entry in its row. Version 7 has no differences in `received`, and would read none. Version 8 knows
 * neither sources without the beginning of their record (sources.ts) nor keys of Teams. Version 9 needs an index that keeps ids unique.
 */
export const UPGRADES: Readonly<Record<number, string>> = {
  1: `${NAMES_UPGRADE}${BLOCKS_SCHEMA}${ROLLUPS_SCHEMA}${COUNTED_ENTRIES_SCHEMA}${RENEWAL_SCHEMA}
    ALTER TABLE entries ADD COLUMN template INTEGER;
    ALTER TABLE entries ADD COLUMN exception_group INTEGER;
    ALTER TABLE flows ADD COLUMN last_error_at INTEGER;
    ALTER TABLE flows ADD COLUMN last_progress_at INTEGER;
    ${TEAMS_UPGRADE}
  `,
  2: `${NAMES_UPGRADE}${BLOCKS_SCHEMA}${COUNTED_ENTRIES_SCHEMA}${RECOUNT}
    DROP TABLE IF EXISTS ${RENEWED_TABLE}; DROP TABLE renewal_state; ${RENEWAL_SCHEMA}${TEAMS_UPGRADE}`,
  3: `${NAMES_UPGRADE}${BLOCKS_SCHEMA}${COUNTED_ENTRIES_SCHEMA}${RECOUNT}${TEAMS_UPGRADE}`,
  4: `${NAMES_UPGRADE}${RECOUNT}${TEAMS_UPGRADE}`,
  5: `${NAMES_UPGRADE}${TEAMS_UPGRADE}`,
  6: `${NAMES_UPGRADE}${TEAMS_UPGRADE}`,
  7: TEAMS_UPGRADE,
  8: TEAMS_UPGRADE,
  9: '',
}

/**
 * - `level`: every entry, by kind and level.
 * - `facts`: entries by all facts, as long as their Team has few enough combinations of them.
 * - `unnumbered`: the other entries, by kind and level, in minutes only: if there are any, `facts` is incomplete.
 */
export const ROLLUP_DETAILS = { level: 0, facts: 1, unnumbered: 2 } as const

export const KINDS = { event: 0, application: 1 } as const satisfies Record<EntryKind, number>

export const TEXT_BITS = { message: 1, exception: 2, payload: 4 } as const

export const TEXT_COLUMNS = ['message', 'exception', 'payload', 'leaves'] as const
export type TextColumn = (typeof TEXT_COLUMNS)[number]

/**
 * A full-text table has words and their positions, but no text: phrases are exact, and nothing is stored twice. It cannot delete a single
 * row, so retention drops it as a whole. `leaves` takes the details (details-text.ts) and the words of values (words-index.ts); earlier
 * releases wrote fewer words. A word takes two bytes less in the first column, so that is the one with the most text.
 */
export const textTableSchema = (table: string, first: TextColumn = 'leaves'): string => `
  CREATE VIRTUAL TABLE ${table} USING fts5(
    ${[first, ...TEXT_COLUMNS.filter((column) => column !== first)].join(', ')},
    content = '', columnsize = 0, detail = full, tokenize = 'unicode61 remove_diacritics 0'
  );
  INSERT INTO ${table} (${table}, rank) VALUES ('automerge', ${AUTOMERGE});
`

/** Segments of one size that are merged at a time: merging more at a time makes writes cheaper and reads little slower. */
const AUTOMERGE = 16
