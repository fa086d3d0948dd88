import type { Health } from '../../runtime/lifecycle.ts'
import { JournalFileError } from './failures.ts'

/** Remembers that the file could not be written, until it can. */
export interface WriteHealth {
  /** The same call, with its outcome recorded. */
  watch<Args extends unknown[]>(write: (...args: Args) => Promise<void>): (...args: Args) => Promise<void>
  check(): Promise<Health>
}

/**
 * After a failed write, a check writes something itself: a process that is taken out of service because it is not ready gets no appends,
 * and would otherwise never learn that writes work again.
 */
export function createWriteHealth(probe: () => Promise<void>): WriteHealth {
  let failure: string | null = null

  const note = (error: unknown): void => {
    const cause = error instanceof Error && error.cause instanceof JournalFileError ? error.cause : error
    if (cause instanceof JournalFileError) failure = cause.message
  }

  return {
    watch:
      (write) =>
      async (...args) => {
        try {
          await write(...args)
          failure = null
        } catch (error) {
          note(error)
          throw error
        }
      },
    check: async () => {
      if (failure !== null) {
        await probe().then(
          () => {
            failure = null
          },
          (error: Error) => {
            failure = error.message
          },
        )
      }
      return failure === null ? { name: 'journal', ready: true } : { name: 'journal', ready: false, reason: failure }
    },
  }
}
