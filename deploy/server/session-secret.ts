import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, rereadSecret } from '../../shared/runtime/config.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Secrets } from '../../views/session/token.ts'
import { DataDirUnusableError } from './data-dir-lock.ts'
import { type Role, showsLogs, usesFiles } from './roles.ts'

const FILE = 'session-secret'
const SECRET_BYTES = 32
/** The minimum length of the setting. */
const CHARACTERS_MIN = 32

/**
 * The secrets that sign the page's cookies and its tickets for a gateway; the first one signs, at present. They are the setting's or else
 * one that is made for the data folder and kept there. A process that shows the page without a data folder makes a secret that ends with it,
 * and so do its sessions. Null in a process that does not show the page and was given none.
 */
export function sessionSecrets(config: Config, role: Role, logger: Logger): (() => Secrets) | null {
  const [first] = config.SESSION_SECRET
  if (first !== undefined) {
    const newest = rereadSecret(config, 'SESSION_SECRET', logger)
    return () => {
      const [signing = first, ...others] = newest()
      return [signing, ...others]
    }
  }
  if (!showsLogs(role)) return null
  const isKept = usesFiles(config, role)
  if (!isKept)
    logger.warn(
      'SESSION_SECRET is not set: sessions of the page end with this process, and other processes do not take them',
    )
  const made: Secrets = [isKept ? keptSecret(config.DATA_DIR) : newSecret()]
  return () => made
}

/** The secret in the data folder; made if there is none. As this process has the lock on the folder, no other makes one at the same time. */
function keptSecret(dataDir: string): string {
  const path = join(dataDir, FILE)
  try {
    const kept = read(path)
    if (kept.length >= CHARACTERS_MIN) {
      makePrivate(path)
      return kept
    }
    const secret = newSecret()
    writeFileSync(path, `${secret}\n`, { mode: 0o600 })
    return secret
  } catch (error) {
    throw new DataDirUnusableError(dataDir, error)
  }
}

/** Takes the file from all others, as a backup may have restored it with other permissions. Only its owner can change them. */
function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')
