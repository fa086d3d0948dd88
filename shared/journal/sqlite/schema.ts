/** Marks the file as a journal (`PRAGMA application_id`): the letters "SLJ1". */
export const APPLICATION_ID = 0x534c4a31

/** The version of the tables (`PRAGMA user_version`). */
export const SCHEMA_VERSION = 1

/** A page holds some ten records of 1 KB: fewer pages a commit, and so less to write and to sync. */
export const PAGE_BYTES = 16_384

/** Offsets of one partition are below this; it leaves 13 bits of a safe integer for the partition's id. */
const OFFSETS_MAX = 2 ** 40
export const PARTITIONS_MAX = 2 ** 13 - 1

/**
 * - `records.id` is the partition's id and the offset in one number, so that an append goes to the end of a range of the
 *   table's own tree and no index is needed. Keys and values are TEXT or BLOB as they were given; headers are JSON.
 * - `partitions.bytes` counts keys, values and headers of the records kept.
 * - `readers.start` is the first offset kept when the group came; `position` is null until it commits.
 */
export const SCHEMA = `
  CREATE TABLE topics (
    name TEXT PRIMARY KEY,
    cleanup TEXT NOT NULL,
    retention_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE partitions (
    id INTEGER PRIMARY KEY CHECK (id <= ${PARTITIONS_MAX}),
    topic TEXT NOT NULL REFERENCES topics (name),
    number INTEGER NOT NULL,
    first_offset INTEGER NOT NULL DEFAULT 0,
    next_offset INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic, number)
  ) STRICT;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    appended_at INTEGER NOT NULL,
    key ANY,
    value ANY,
    headers TEXT NOT NULL
  ) STRICT;
  CREATE TABLE readers (
    group_name TEXT NOT NULL,
    partition_id INTEGER NOT NULL REFERENCES partitions (id),
    start INTEGER NOT NULL,
    position INTEGER,
    PRIMARY KEY (group_name, partition_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB) STRICT;
`

export const recordId = (partitionId: number, offset: number): number => partitionId * OFFSETS_MAX + offset
export const offsetOf = (id: number): number => id % OFFSETS_MAX

/** The size of a stored record in SQL, as `partitions.bytes` counts it. */
export const RECORD_BYTES = 'ifnull(octet_length(key), 0) + ifnull(octet_length(value), 0) + octet_length(headers)'
