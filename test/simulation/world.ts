import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { createRandom, type Random } from '../fuzz/random.ts'

/** The time and randomness of one schedule. While it runs, they replace Node's timers, clocks and random bytes. */
export interface World {
  /** Chooses what happens. The program under test draws from its own sequences. */
  readonly random: Random
  /** The events, one per line. */
  readonly trace: readonly string[]
  /** Violated rules. */
  readonly findings: readonly string[]
  note(line: string): void
  find(finding: string): void
  /** Advances time turn by turn until the work is done. */
  run(work: () => Promise<void>): Promise<void>
}

interface Turn {
  readonly at: number
  readonly go: () => void
  isCancelled: boolean
}

/** An arbitrary, but fixed time. */
const EPOCH_MS = Date.UTC(2026, 0, 31, 12)
/** A schedule that has not ended by then never will. */
const LIMIT_MS = 5 * 60_000
/** The limits of Node's timers, in milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1
const TIMER_MS_MIN = 1
/** Before one turn in this many, the thread is delayed by other work. */
const STALL_IN = 20
const STALL_MS = [1, 5] as const

const realImmediate = setImmediate
/** Resolves when nothing is left to do at this time: every promise that can settle has settled. */
const restOfTurn = (): Promise<void> => new Promise((resolve) => realImmediate(resolve))

/** Time stops between schedules: a timer left behind by one does not run in the next. */
let queue: Turn[] = []
let now = 0
let chance = createRandom(0, 0)
let find: (finding: string) => void = () => undefined

/** The latest turn comes first, so that the next is at the end; turns at the same time run in the order of planning. */
function plan(at: number, go: () => void): Turn {
  const turn = { at, go, isCancelled: false }
  let index = queue.length
  while (index > 0 && (queue[index - 1]?.at ?? 0) <= at) index -= 1
  queue.splice(index, 0, turn)
  return turn
}

/** A timer like Node's: whole milliseconds, at least one. */
class Timer {
  #turn: Turn
  constructor(ms: number, go: () => void, isRepeated: boolean) {
    if (!(ms >= 0 && ms <= TIMER_MS_MAX)) find(`a timer was set to ${ms} ms`)
    const wait = Math.max(TIMER_MS_MIN, Math.trunc(ms) || 0)
    const fire = (): void => {
      if (isRepeated) this.#turn = plan(now + wait, fire)
      go()
    }
    this.#turn = plan(now + wait, fire)
  }
  cancel(): void {
    this.#turn.isCancelled = true
  }
  ref = (): this => this
  unref = (): this => this
  hasRef = (): boolean => true
}

const cancel = (timer: unknown): void => {
  if (timer instanceof Timer) timer.cancel()
}

/** Resolves after `ms` milliseconds; rejects with the signal's reason, like Node's function. */
const delay = <Value>(ms = 0, value?: Value, { signal }: { signal?: AbortSignal } = {}): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => {
      cancel(timer)
      reject(signal?.reason)
    }
    const timer = new Timer(
      ms,
      () => {
        signal?.removeEventListener('abort', giveUp)
        resolve(value)
      },
      false,
    )
    if (signal?.aborted) giveUp()
    else signal?.addEventListener('abort', giveUp, { once: true })
  })

/** Replaces Node's time and randomness by the world's, in this process, permanently. */
export function takeOver(): void {
  const later = (go: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
    new Timer(ms, () => go(...given), false)
  Object.assign(globalThis, {
    setTimeout: later,
    setInterval: (go: () => void, ms = 0) => new Timer(ms, go, true),
    setImmediate: (go: (...given: unknown[]) => void, ...given: unknown[]) => plan(now, () => go(...given)),
    clearTimeout: cancel,
    clearInterval: cancel,
    clearImmediate: (turn?: Turn) => {
      if (turn !== undefined) turn.isCancelled = true
    },
  })
  Object.assign(performance, { now: () => now })
  Date.now = () => EPOCH_MS + Math.trunc(now)
  Math.random = () => chance.int(2 ** 32) / 2 ** 32
  Object.assign(crypto, {
    randomFillSync: (buffer: Buffer) => buffer.set(chance.bytes(buffer.length)),
    randomBytes: (length: number) => chance.bytes(length),
    randomUUID: () =>
      chance
        .bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  })
  Object.assign(AbortSignal, {
    timeout: (ms: number) => {
      const over = new AbortController()
      later(() => over.abort(new DOMException('it took too long', 'TimeoutError')), ms)
      return over.signal
    },
  })
  Object.assign(timers, { setTimeout: delay })
  syncBuiltinESMExports()
  process.on('unhandledRejection', (error) => find(`nobody waited for a promise that failed: ${textOf(error)}`))
}

/** Creates the world of a seed. `takeOver` has to be called before. */
export function createWorld(seed: number): World {
  const trace: string[] = []
  const findings: string[] = []
  queue = []
  now = 0
  chance = createRandom(seed, 1)
  find = (finding) => {
    findings.push(finding)
    note(`!! ${finding}`)
  }
  const note = (line: string): void => void trace.push(`${now.toFixed(0).padStart(7)} ${line}`)
  const random = createRandom(seed, 0)
  return {
    random,
    trace,
    findings,
    note,
    find,
    run: async (work) => {
      let isOver = false
      const ended = work()
        .catch((error: unknown) => find(textOf(error)))
        .finally(() => {
          isOver = true
        })
      await restOfTurn()
      while (!isOver) {
        const turn = queue.pop()
        if (turn === undefined || turn.at > LIMIT_MS) {
          find(turn === undefined ? 'nothing can happen any more' : `it has not ended after ${LIMIT_MS} ms`)
          return
        }
        if (turn.isCancelled) continue
        // A timer is never early, but late if the thread was busy.
        now = Math.max(now, turn.at) + (random.oneIn(STALL_IN) ? random.between(...STALL_MS) : 0)
        try {
          turn.go()
        } catch (error) {
          find(`a timer threw ${textOf(error)}`)
        }
        await restOfTurn()
      }
      await ended
    },
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))
