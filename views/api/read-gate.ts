import { ProblemError, problem } from '../../shared/contract/errors.ts'
import { PAGE_BYTES_MAX } from '../../shared/log-store/log-store.ts'
import { createByteBudget } from '../../shared/runtime/byte-budget.ts'
import { isTimeout } from '../../shared/runtime/waiting.ts'

/** Maximum number of concurrent reads per Team, and of reads waiting for a slot. */
export const TEAM_READS_MAX = 8
export const TEAM_READS_WAITING_MAX = 64

/** Reserved for a running read: a page as it comes from the store, and its serialised form. */
export const READ_BYTES = 2 * PAGE_BYTES_MAX

/** The part of all bytes that streams leave to reads that end: the page of a stream is held while its reader takes it. */
const UNSTREAMED_SHARE = 1 / 4

/** The result of a finished read; its bytes stay reserved until the client has received it. */
export interface Held<Result> {
  readonly result: Result
  /**
   * Sets the number of bytes held from now on. `letGo` is to cut a client off that takes long: it is called for the oldest of the Team that
   * holds most while a read of a Team that holds less finds no room.
   */
  keep(bytes: number, letGo?: () => void): void
  /** To be called when the client has received the result or disconnected. Idempotent. */
  release(): void
}

/** Bounds the memory held by a process's reads and the concurrent reads of each Team, so that no Team starves another. */
export interface ReadGate {
  /** The bytes held now. */
  readonly held: number
  /**
   * Runs the work when there is room. Throws `rate_limited` when too many of the Team's reads are waiting, unless the caller is one of the
   * Team's few streams (`isStream`), or when the signal times out before the work begins; for other aborts it rejects with the signal's reason.
   */
  run<Result>(
    team: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
    options?: { readonly isStream?: boolean },
  ): Promise<Held<Result>>
}

/** A client that has its answer for less than this, in milliseconds, is not cut off. */
const TAKEN_WITHIN_MS = 5_000

/** An answer that its client has not taken in full. */
interface UntakenAnswer {
  readonly team: string
  /** From when on the client may be cut off, on the clock of `performance.now()`. */
  readonly lateAt: number
  readonly letGo: () => void
}

const isLate = ({ lateAt }: UntakenAnswer): boolean => performance.now() >= lateAt

interface Waiting {
  readonly team: string
  readonly isStream: boolean
  readonly begin: () => void
}

/** A client takes its answer within `takenWithinMs`, unless there is room for others too. */
export function createReadGate(bytesMax: number, takenWithinMs = TAKEN_WITHIN_MS): ReadGate {
  const budget = createByteBudget(bytesMax)
  const working = new Map<string, number>()
  const waiting = new Set<Waiting>()
  const untaken = new Set<UntakenAnswer>()

  const fits = ({ team, isStream }: Pick<Waiting, 'team' | 'isStream'>): boolean =>
    (working.get(team) ?? 0) < TEAM_READS_MAX &&
    budget.share(team).fits(READ_BYTES) &&
    (!isStream || budget.fits(READ_BYTES + bytesMax * UNSTREAMED_SHARE))

  const heldBy = ({ team }: Pick<Waiting, 'team'>): number => budget.share(team).held

  /** Begins with the Teams that hold least: others would take at once what was let go for them. */
  function beginWaiting(): void {
    for (const one of [...waiting].sort((a, b) => heldBy(a) - heldBy(b))) {
      if (!fits(one)) continue
      waiting.delete(one)
      one.begin()
    }
  }

  /** Lets go of the oldest answer of one. Two Teams whose clients take nothing could leave no room for a third. */
  function makeRoomFor(waits: string): void {
    if ((working.get(waits) ?? 0) >= TEAM_READS_MAX) return
    const [first] = [...untaken].filter(isLate).sort((a, b) => heldBy(b) - heldBy(a))
    if (first !== undefined && heldBy(first) > heldBy({ team: waits })) first.letGo()
  }

  function take(team: string): void {
    working.set(team, (working.get(team) ?? 0) + 1)
    budget.share(team).take(READ_BYTES)
  }

  function endWork(team: string): void {
    const left = (working.get(team) ?? 1) - 1
    if (left === 0) working.delete(team)
    else working.set(team, left)
    beginWaiting()
  }

  /** Resolves once the read has its slot. */
  function enter(team: string, signal: AbortSignal, isStream: boolean): Promise<void> | void {
    // A stream may wait where another read need not.
    const ahead = [...waiting].filter((one) => one.team === team && (isStream || !one.isStream)).length
    if (fits({ team, isStream }) && ahead === 0) return take(team)
    if (!isStream && ahead >= TEAM_READS_WAITING_MAX) throw limited('The Team has too many reads under way.')
    return new Promise((resolve, reject) => {
      const timer = setInterval(makeRoomFor, takenWithinMs / 5, team)
      const giveUp = (): void => {
        clearInterval(timer)
        waiting.delete(place)
        reject(isTimeout(signal.reason) ? waitedTooLong() : signal.reason)
      }
      const place: Waiting = {
        team,
        isStream,
        begin: () => {
          clearInterval(timer)
          signal.removeEventListener('abort', giveUp)
          take(team)
          resolve()
        },
      }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.add(place)
    })
  }

  /** Hands the bytes reserved for a read to its holder. */
  function createHeld<Result>(team: string, result: Result): Held<Result> {
    let held = READ_BYTES
    let taking: UntakenAnswer | undefined
    const keep = (bytes: number, letGo?: () => void): void => {
      if (taking !== undefined) untaken.delete(taking)
      taking = letGo && { team, lateAt: performance.now() + takenWithinMs, letGo }
      if (taking !== undefined) untaken.add(taking)
      budget.share(team).give(held - bytes)
      held = bytes
      beginWaiting()
    }
    return { result, keep, release: () => keep(0) }
  }

  return {
    get held() {
      return budget.held
    },
    run: async (team, signal, work, { isStream = false } = {}) => {
      signal.throwIfAborted()
      await enter(team, signal, isStream)
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

/**
 * Reads for a stream, by a deadline of its own, at which the signal aborts that `read` is given. Rejects with `invalid_api_key` if the
 * request's key or session is no longer valid when its turn comes.
 */
export function readForStream<Result>(
  {
    team,
    signal,
    stillAuthorised,
  }: { readonly team: string; readonly signal: AbortSignal; readonly stillAuthorised: () => boolean },
  { gate, deadlineMs }: { readonly gate: ReadGate; readonly deadlineMs: number },
  read: (signal: AbortSignal) => Promise<Result>,
): Promise<Held<Result>> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
  const work = async (): Promise<Result> => {
    if (!stillAuthorised()) throw new ProblemError(problem('invalid_api_key'))
    return read(either)
  }
  return gate.run(team, either, work, { isStream: true })
}

/** Refuses a read that timed out before its turn. */
export const waitedTooLong = (): ProblemError => limited('The read waited too long for others.')

const limited = (message: string): ProblemError => new ProblemError(problem('rate_limited', null, message))
