/** Marks the file as a journal (`PRAGMA application_id`): the letters "SLJ1". */
export const APPLICATION_ID = 0x534c4a31

/** The version of the tables (`PRAGMA user_version`). */
export const SCHEMA_VERSION = 5

/**
 * Earlier versions, with the statements that upgrade to this one. Version 2 had no compressed content, and version 3 none with a dictionary
 * (record-codec.ts). Version 4 has all headers, and would read none where they have no bytes. All are read as they are.
 */
export const UPGRADES: Readonly<Record<number, string>> = { 2: '', 3: '', 4: '' }

/** Large pages: fewer of them per commit, and shorter chains for a batch that fills many. */
export const PAGE_BYTES = 16_384

/** Offsets of one partition are below this; it leaves 13 bits of a safe integer for the partition's id. */
const OFFSETS_MAX = 2 ** 40
const PARTITIONS_MAX = 2 ** 13 - 1

/**
 * - `batches.id` combines the partition's id and the offset of the first record in one number, so that an append goes to the end of a
 *   range of the table's own tree and no index is needed. `content` is packed by `record-codec.ts`, and compressed if that makes it
 *   smaller. In a compacted topic each record is a batch of its own, with its key, and whether it deletes that key, in columns; elsewhere
 *   these are null.
 * - `partitions.bytes` counts the contents of the batches kept.
 * - `readers.start` is the first offset kept when the group joined; `position` is null until it commits.
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
  CREATE TABLE batches (
    id INTEGER PRIMARY KEY,
    appended_at INTEGER NOT NULL,
    records INTEGER NOT NULL,
    key BLOB,
    deletes INTEGER,
    content BLOB NOT NULL
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

/** The `batches.id` of the batch that begins at this offset, and the offset in an id. */
export const batchId = (partitionId: number, firstOffset: number): number => partitionId * OFFSETS_MAX + firstOffset
export const offsetOf = (id: number): number => id % OFFSETS_MAX
