import { accessSync, constants, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder, SQLITE, sqliteCode } from '../../shared/sqlite/database-file.ts'

/** Another server holds the folder. */
class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError'

  constructor(dataDir: string) {
    super(`another sluice server is running on DATA_DIR=${dataDir}; stop it, or give this one a DATA_DIR of its own`)
  }
}

/** The folder, or a file in it, cannot be used by this process. */
export class DataDirUnusableError extends Error {
  override readonly name = 'DataDirUnusableError'

  constructor(dataDir: string, cause: unknown) {
    const user = process.getuid === undefined ? 'the user of this process' : `this process's user (${process.getuid()})`
    const remedy = `it must be a folder that ${user} can write, with all files in it`
    super(`DATA_DIR=${dataDir} cannot be used (${(cause as Error).message}); ${remedy}`, { cause })
  }
}

/** The folder has no data of a server. */
class DataDirMissingError extends Error {
  override readonly name = 'DataDirMissingError'

  constructor(dataDir: string, file: string, server: string) {
    const remedy = `set DATA_DIR to the data folder of the server, or ${server} if it has none`
    super(`DATA_DIR=${dataDir} is no data folder: there is no ${resolve(dataDir, file)}; ${remedy}`)
  }
}

/**
 * Makes sure that the data folder has the file, as a command would otherwise create a mistyped folder and find nothing in it. `server` is
 * the setting that replaces the file by a server. Throws a `DataDirMissingError`, or a `DataDirUnusableError` if the folder cannot be read.
 */
export function expectDataFile(dataDir: string, file: string, server: 'KAFKA_BROKERS' | 'ELASTICSEARCH_URL'): void {
  let found: unknown
  try {
    found = statSync(join(dataDir, file), { throwIfNoEntry: false })
  } catch (error) {
    throw new DataDirUnusableError(dataDir, error)
  }
  if (found === undefined) throw new DataDirMissingError(dataDir, file, server)
}

/**
 * Claims the data folder for this server, and creates it if it is missing. The claim is an exclusive lock on a small database: the
 * operating system releases it with the process, however that ends, so no stale file can block a start. Commands for operators, except
 * `views rebuild --from topics`, do not claim the folder and so work beside a running server. Returns a function that releases the claim.
 * Also gives SQLite a place for temporary files. Throws a `DataDirInUseError` when another server has it, and a `DataDirUnusableError` when
 * the folder cannot be created or written.
 */
export function lockDataDir(dataDir: string): () => void {
  let database: DatabaseSync | undefined
  try {
    makeFolder(dataDir)
    database = new DatabaseSync(join(dataDir, 'server.lock'), { timeout: 0 })
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    // SQLite opens a file that it cannot write for reading, without an exclusive lock; this write, never committed, then fails.
    database.exec('PRAGMA user_version = 1')
    placeTemporaryFiles(database, dataDir)
  } catch (error) {
    database?.close()
    if (sqliteCode(error) === SQLITE.BUSY) throw new DataDirInUseError(dataDir)
    throw new DataDirUnusableError(dataDir, error)
  }
  const locked = database
  return () => {
    if (locked.isOpen) locked.close()
  }
}

/**
 * Lets SQLite put temporary files into the data folder where the system's folder for them cannot be written, as in a container without a
 * `/tmp`: large sorts need them, and statements that change many rows. This is a setting of the process, and may change only while no other
 * thread uses SQLite.
 */
function placeTemporaryFiles(database: DatabaseSync, dataDir: string): void {
  try {
    accessSync(tmpdir(), constants.W_OK)
  } catch {
    database.exec(`PRAGMA temp_store_directory = '${resolve(dataDir).replaceAll("'", "''")}'`)
  }
}
