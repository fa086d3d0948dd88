import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../shared/runtime/config.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import type { Secrets } from '../../views/session/token.ts'
import { usesFiles } from './backends.ts'
import type { Role } from './roles.ts'

const FILE = 'session-secret'
const SECRET_BYTES = 32
/** As many as the setting has to have. */
const CHARACTERS_MIN = 32

/**
 * The secrets of the page's cookies, of which the first one signs: the setting, else a secret that was made for the data folder and is kept
 * there, else, in a process without one, a secret that ends with the process, and its sessions with it.
 */
export function sessionSecrets(config: Config, role: Role, logger: Logger): Secrets {
  const given = secretsOf(config)
  if (given !== null) return given
  if (usesFiles(config, role)) return [keptSecret(join(config.DATA_DIR, FILE))]
  logger.warn(
    { role },
    'SESSION_SECRET is not set: sessions of the page end with this process, and other processes do not take them',
  )
  return [newSecret()]
}

/** The secrets of the setting; null where it is unset. */
export function secretsOf({ SESSION_SECRET: [first, ...others] }: Pick<Config, 'SESSION_SECRET'>): Secrets | null {
  return first === undefined ? null : [first, ...others]
}

/** The folder is this process's own by now, so nobody else makes the file at the same time. */
function keptSecret(path: string): string {
  const kept = read(path)
  if (kept.length >= CHARACTERS_MIN) {
    // It may have been copied here from a backup, whose modes are not those that it was made with.
    chmodSync(path, 0o600)
    return kept
  }
  const secret = newSecret()
  writeFileSync(path, `${secret}\n`, { mode: 0o600 })
  return secret
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
