/** The database files of the embedded mode: the journal and the log store are opened, written and diagnosed the same way. */
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
export const SQLITE = {
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  NOTADB: 26,
} as const

/** How long a connection waits for others to release the file. */
export const BUSY_TIMEOUT_MS = 5_000
/** Maximum bytes of a write-ahead log that stay when it begins anew. */
export const WAL_BYTES_KEPT = 64 * 1024 * 1024

export interface DatabaseFileOptions {
  readonly file: string
  /** Maximum bytes that the file may grow to; beyond this, writes fail as on a full disk. */
  readonly fileBytesMax?: number
}

/** The layout of a file and the settings of a connection to it. */
export interface DatabaseFormat {
  /** Names the file in messages, such as `journal`. */
  readonly name: string
  /** Marks the file as one of this kind (`PRAGMA application_id`). */
  readonly applicationId: number
  /** The version of the tables (`PRAGMA user_version`), 1 or more. */
  readonly schemaVersion: number
  readonly schema: string
  /** The statements that upgrade an older version to this one, by its number; a file of any other version is refused. */
  readonly upgrades?: Readonly<Record<number, string>>
  readonly pageBytes: number
  /** The write-ahead log is checkpointed when it has this many pages. */
  readonly checkpointPages: number
  readonly cacheKibibytes: number
  /** How long SQLite itself waits for a lock before it fails with BUSY. */
  readonly lockWaitMs: number
}

/** The modes of new folders and files, for their owner alone: they hold the logs and the secrets of all Teams. Existing ones keep theirs. */
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/**
 * Creates a folder and its missing parents; throws the error of the system if it cannot. Node's own `recursive` never returns below a folder
 * that takes no others, such as /proc.
 */
export function makeFolder(path: string): void {
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolder(parent)
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/**
 * Opens the file and creates it if it is missing. `guard` runs work that may fail in SQLite; `refuse` makes the error for a file that
 * cannot be created, is foreign or of another version.
 */
export function openDatabaseFile(
  { file, fileBytesMax }: DatabaseFileOptions,
  format: DatabaseFormat,
  guard: <T>(work: () => T) => T,
  refuse: (message: string) => Error,
): DatabaseSync {
  try {
    makeFolder(dirname(file))
    // SQLite would let everybody read it; its other files get the mode of this one.
    if (!existsSync(file)) closeSync(openSync(file, 'a', FILE_MODE))
  } catch (error) {
    const remedy = 'set DATA_DIR to a folder with free space that this process can write'
    throw refuse(`the ${format.name} ${file} cannot be created (${(error as Error).message}); ${remedy}`)
  }
  const sqlite = guard(() => new DatabaseSync(file, { timeout: format.lockWaitMs }))
  try {
    guard(() => prepareFile(sqlite, file, format, refuse))
    if (fileBytesMax !== undefined) sqlite.exec(`PRAGMA max_page_count = ${Math.ceil(fileBytesMax / format.pageBytes)}`)
    return sqlite
  } catch (error) {
    sqlite.close()
    throw error
  }
}

/**
 * Every commit is synced (`synchronous = FULL`): appends are answered after it, and positions are committed in the journal after writes to
 * the store. Neither promise may survive a power failure that its data does not. On macOS a plain sync leaves the data in the drive's cache
 * (`fullfsync`).
 */
function prepareFile(
  sqlite: DatabaseSync,
  file: string,
  { name, applicationId, schemaVersion, schema, upgrades, pageBytes, checkpointPages, cacheKibibytes }: DatabaseFormat,
  refuse: (message: string) => Error,
): void {
  const pragma = (setting: string): unknown => sqlite.prepare(`PRAGMA ${setting}`).get()?.[setting]
  const transactions = transactionsOf(sqlite)
  /** Called within a transaction, as two connections may open an empty file at the same time; throws for another program's database. */
  const ownVersion = (): unknown => {
    const version = pragma('user_version')
    const isForeign =
      version === 0
        ? sqlite.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] !== 0
        : pragma('application_id') !== applicationId
    if (isForeign) throw refuse(`${file} is an SQLite database but no Sluice ${name}; set DATA_DIR to another folder`)
    return version
  }
  // Read before the settings below, as the mode of the journal is a change of the file.
  if (transactions.read(ownVersion) === 0) sqlite.exec(`PRAGMA page_size = ${pageBytes}`)
  sqlite.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = ${checkpointPages};
    PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
    PRAGMA cache_size = -${cacheKibibytes};
  `)
  transactions.write(() => {
    const version = ownVersion()
    if (version === 0) {
      sqlite.exec(`${schema} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion};`)
      return
    }
    const upgrade = upgrades?.[version as number]
    if (upgrade !== undefined) sqlite.exec(`${upgrade} PRAGMA user_version = ${schemaVersion};`)
    else if (version !== schemaVersion) {
      throw refuse(
        `the ${name} ${file} has schema version ${version}, this program knows ${schemaVersion}; run the version of Sluice that wrote it, or a newer one`,
      )
    }
  })
}

/**
 * A check before each write that the file, and those that SQLite keeps beside it, are where they were opened; it throws what `refuse` makes.
 * SQLite itself writes on to files that were deleted, whose content no later start would find.
 */
export function createPlaceCheck(file: string, name: string, refuse: (message: string) => Error): () => void {
  /** Another file system may have a file of the same number. */
  const identity = (path: string): string | undefined => {
    try {
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats && `${stats.dev} ${stats.ino}`
    } catch (error) {
      throw refuse(
        `the ${name} ${path} cannot be found while it is open (${(error as Error).message}); make its folder accessible`,
      )
    }
  }
  const opened = [file, `${file}-wal`, `${file}-shm`].map((path) => ({ path, is: identity(path) }))
  const remedy = 'move it back, or stop the process and start it with the DATA_DIR that has it'
  return () => {
    for (const { path, is } of opened) {
      if (identity(path) !== is) throw refuse(`the ${name} ${path} was moved or deleted while it was open; ${remedy}`)
    }
  }
}

export interface Transactions {
  /** Everything that the work reads is from one moment. */
  read<T>(work: () => T): T
  /** Everything that the work writes is durable on return, or none of it was done. */
  write<T>(work: () => T): T
}

/** The statements are compiled once, as they run with every append. */
export function transactionsOf(sqlite: DatabaseSync): Transactions {
  const commit = sqlite.prepare('COMMIT')
  const beginningWith = (sql: string): (<T>(work: () => T) => T) => {
    const begin = sqlite.prepare(sql)
    return (work) => {
      begin.run()
      try {
        const result = work()
        commit.run()
        return result
      } catch (error) {
        // SQLite rolls back by itself after some errors, such as a full disk.
        if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
        throw error
      }
    }
  }
  return { read: beginningWith('BEGIN'), write: beginningWith('BEGIN IMMEDIATE') }
}

/** The primary result code of an error of `node:sqlite`, which has extended codes; null for other errors. */
export function sqliteCode(thrown: unknown): number | null {
  const extended = (thrown as { readonly errcode?: unknown } | null | undefined)?.errcode
  return typeof extended === 'number' ? extended & 0xff : null
}

const PASSING: readonly number[] = [SQLITE.FULL, SQLITE.BUSY, SQLITE.LOCKED, SQLITE.IOERR, SQLITE.NOMEM]

/** Whether a failure with this primary result code may pass by itself: a full disk or an I/O error may. */
export const isPassing = (code: number): boolean => PASSING.includes(code)

/** Tries of work that fails with CORRUPT: SQLite calls a file damaged also where only a read of the disk failed (EIO). */
const DAMAGE_TRIES = 8

/** The patience with one piece of work: a check of each of its failures, whether to try again. Damage is believed after a few tries. */
export function createPatience(
  mayPass: (error: unknown) => boolean,
  isDamage: (error: unknown) => boolean,
): (error: unknown) => boolean {
  let triesLeft = DAMAGE_TRIES
  return (error) => (isDamage(error) ? --triesLeft > 0 : mayPass(error))
}

/** The ways in which some of the content of a damaged file that was moved away comes back. */
const REFILL = {
  journal: '`sluice registry restore FILE` brings back the Teams and keys that it had',
  'log store': 'the next start brings back what the journal still has',
} as const

/** Names the file, the problem and the remedy; `kind` is the format's name, `message` is SQLite's. */
export function explainSqliteError(code: number, message: string, kind: keyof typeof REFILL, file: string): string {
  const name = `the ${kind} ${file}`
  switch (code) {
    case SQLITE.FULL:
      return `the disk is full: ${name} cannot grow; free space in ${dirname(file)}`
    case SQLITE.IOERR:
      // A full disk is such an error, too, where SQLite needs room for the file of its index (-shm).
      return `${name} cannot be read or written (${message}): its disk is full or fails; free space in ${dirname(file)}, and see the log of the system`
    case SQLITE.BUSY:
    case SQLITE.LOCKED:
      return `${name} was locked by another process for ${BUSY_TIMEOUT_MS} ms`
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      return `${name} is damaged (${message}), or its disk fails to read it, as the log of the system would say; if it is damaged, move it away together with its -wal and -shm files, which would damage another one, and restore a backup or start with an empty one: ${REFILL[kind]}`
    case SQLITE.CANTOPEN:
      return `${name} cannot be opened (${message}); the process needs write access to the file and to ${dirname(file)}, and the disk needs room for more files (df -i)`
    case SQLITE.READONLY:
      return `${name} cannot be written (${message}); the process needs write access to the file and to ${dirname(file)}`
    default:
      return `${name} failed: ${message}`
  }
}
