import type { Health } from '../../runtime/lifecycle.ts'
import type { Logger } from '../../runtime/logger.ts'
import { insist } from '../../runtime/waiting.ts'
import { DAMAGE_TRIES } from '../../sqlite/database-file.ts'
import { StoreHaltError } from '../log-store.ts'
import { StoreUnavailableError } from './failures.ts'

const FIRST_PAUSE_MS = 50

/** Retries writes for as long as their failure may pass, a few times where it says that the file is damaged, and reports it. */
export interface Persistence {
  /** Rejects with the signal's reason, and with any failure that will not pass. */
  persist<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T>
  /** Not ready while a write fails. */
  health(): Health
}

export function createPersistence(logger: Pick<Logger, 'warn'>): Persistence {
  const failing = new Map<symbol, string>()

  const persist = async <T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const write = Symbol('write')
    let triesLeft = DAMAGE_TRIES
    try {
      return await insist(attempt, signal, FIRST_PAUSE_MS, (error, isFirst) => {
        if (error instanceof StoreHaltError) triesLeft -= 1
        else if (!(error instanceof StoreUnavailableError)) throw error
        if (triesLeft === 0) throw error
        if (isFirst) logger.warn({ reason: error.message }, 'the log store cannot be written; retrying')
        failing.set(write, error.message)
      })
    } finally {
      failing.delete(write)
    }
  }

  return {
    persist,
    health: () => {
      const [reason] = failing.values()
      return { name: 'log-store', ready: reason === undefined, ...(reason !== undefined && { reason }) }
    },
  }
}
