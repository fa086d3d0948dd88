import { ProblemError, problem } from '../../shared/contract/errors.ts'
import { isTimeout, PAGE_BYTES_MAX } from '../../shared/log-store/log-store.ts'
import { createByteBudget } from '../../shared/runtime/byte-budget.ts'

/** Most reads of one Team that work at once, and most that may wait for that. */
export const TEAM_READS_MAX = 8
export const TEAM_READS_WAITING_MAX = 64

/** Taken for a read while it works: a page as it comes from the store, and what is made of it. */
export const READ_BYTES = 2 * PAGE_BYTES_MAX

/** The bytes of one Team's reads may be three times as many as it leaves to others. */
const TEAM_WEIGHT = 3

/** A read that has worked; its bytes are held until its reader has taken them. */
export interface Held<Result> {
  readonly result: Result
  /** How many bytes are held from now on. */
  keep(bytes: number): void
  /** To be called when the reader has taken the result, or is gone. Safe to call twice. */
  release(): void
}

/** Bounds what the reads of a process hold in memory, and how many of each Team work at once, so that no Team is in the way of another. */
export interface ReadGate {
  /** The bytes that are held. */
  readonly held: number
  /**
   * Does the work when there is room for it. Throws `rate_limited` where too many reads of the Team wait already, unless the caller is
   * one of few (`patient`), or where the signal's time is over before it begins; else rejects with the signal's reason.
   */
  run<Result>(
    team: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
    options?: { readonly patient?: boolean },
  ): Promise<Held<Result>>
}

interface Waiting {
  readonly team: string
  readonly begin: () => void
}

export function createReadGate(bytesMax: number): ReadGate {
  const budget = createByteBudget(bytesMax)
  const working = new Map<string, number>()
  const waiting = new Set<Waiting>()

  const shareOf = (team: string) => budget.share(team, TEAM_WEIGHT)
  const fits = (team: string): boolean => (working.get(team) ?? 0) < TEAM_READS_MAX && shareOf(team).fits(READ_BYTES)

  function beginWaiting(): void {
    for (const one of waiting) {
      if (!fits(one.team)) continue
      waiting.delete(one)
      one.begin()
    }
  }

  function take(team: string): void {
    working.set(team, (working.get(team) ?? 0) + 1)
    shareOf(team).take(READ_BYTES)
  }

  function endWork(team: string): void {
    const left = (working.get(team) ?? 1) - 1
    if (left === 0) working.delete(team)
    else working.set(team, left)
    beginWaiting()
  }

  /** Returns once the place is taken. */
  function enter(team: string, signal: AbortSignal, patient: boolean): Promise<void> | void {
    if (fits(team) && ![...waiting].some((one) => one.team === team)) return take(team)
    const ahead = [...waiting].filter((one) => one.team === team).length
    if (!patient && ahead >= TEAM_READS_WAITING_MAX) throw limited('The Team has too many reads under way.')
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        waiting.delete(place)
        reject(isTimeout(signal.reason) ? waitedTooLong() : signal.reason)
      }
      const place: Waiting = {
        team,
        begin: () => {
          signal.removeEventListener('abort', giveUp)
          take(team)
          resolve()
        },
      }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.add(place)
    })
  }

  /** Of a read that has worked; one that failed holds nothing. */
  function createHeld<Result>(team: string, result: Result): Held<Result> {
    let held = READ_BYTES
    const keep = (bytes: number): void => {
      shareOf(team).give(held - bytes)
      held = bytes
      beginWaiting()
    }
    return { result, keep, release: () => keep(0) }
  }

  return {
    get held() {
      return budget.held
    },
    run: async (team, signal, work, { patient = false } = {}) => {
      signal.throwIfAborted()
      await enter(team, signal, patient)
      try {
        const result = await work()
        endWork(team)
        return createHeld(team, result)
      } catch (error) {
        endWork(team)
        createHeld(team, undefined).release()
        throw error
      }
    },
  }
}

/** Refuses a read whose time was over before its turn. */
export const waitedTooLong = (): ProblemError => limited('The read waited too long for others.')

const limited = (message: string): ProblemError => new ProblemError(problem('rate_limited', null, message))
