import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FOLDER_MODE } from '../../shared/sqlite/database-file.ts'

/** Another server holds the folder. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError'

  constructor(dataDir: string) {
    super(`another sluice server is running on DATA_DIR=${dataDir}; stop it, or give this one a DATA_DIR of its own`)
  }
}

/**
 * Claims the data folder for this server, and creates it if it is missing. The claim is an exclusive lock on a small database: the
 * operating system releases it with the process, however that ends, so no stale file can block a start. Commands for operators do not claim
 * the folder and so work beside a running server. Returns a function that releases the claim. Throws a `DataDirInUseError` when another
 * server has it.
 */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: FOLDER_MODE })
  const database = new DatabaseSync(join(dataDir, 'server.lock'), { timeout: 0 })
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (/locked|busy/i.test((error as Error).message)) throw new DataDirInUseError(dataDir)
    throw error
  }
  return () => {
    if (database.isOpen) database.close()
  }
}
