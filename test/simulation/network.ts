import type { UnconfirmedOutcome } from '../../shared/journal/journal.ts'
import type { Random } from '../fuzz/random.ts'

/** A simulated process. A dead one has no further visible effects. */
export interface Process {
  readonly name: string
  readonly isAlive: boolean
  /** Resolves when it dies. */
  readonly died: Promise<void>
  /** Ends it at once, like SIGKILL. */
  kill(): void
}

export type Server = 'journal' | 'store'

/** A failed call; the outcome is what its caller can know. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly outcome: UnconfirmedOutcome

  constructor(outcome: UnconfirmedOutcome) {
    super(outcome === 'unknown' ? 'the connection broke' : 'the server refused the call')
    this.outcome = outcome
  }
}

/** The network between processes and servers, with faults until it is healed. */
export interface Network {
  readonly random: Random
  createProcess(name: string): Process
  /**
   * Simulates a call: the request travels, takes effect at the server, and the answer travels back. At each of these points the process can
   * die, and the rest of the call may or may not happen. Rejects with a `CallError`, or like the effect.
   */
  call<T>(process: Process, server: Server, what: string, effect: () => Promise<T>): Promise<T>
  /** Waits for the latency of a message, or for seconds. */
  travel(isLong?: boolean): Promise<void>
  /** True with a probability of 1 / `times`, until the network is healed. */
  fails(times: number): boolean
  /** From now on, nothing fails and nothing dies. */
  heal(): void
  readonly isHealed: boolean
}

interface Fate {
  readonly effects: 0 | 1 | 2
  readonly failure: UnconfirmedOutcome | null
  /** The direction that is slow, so that the caller may have given up by then. */
  readonly long: 'request' | 'answer' | null
}

const FATES = {
  fine: { effects: 1, failure: null, long: null },
  refused: { effects: 0, failure: 'not_written', long: null },
  lost: { effects: 0, failure: 'unknown', long: 'answer' },
  unheard: { effects: 1, failure: 'unknown', long: 'answer' },
  delayed: { effects: 1, failure: null, long: 'request' },
  slow: { effects: 1, failure: null, long: 'answer' },
  twice: { effects: 2, failure: null, long: null },
} as const satisfies Record<string, Fate>

type FateName = keyof typeof FATES

const FAILURES = ['refused', 'lost', 'unheard'] as const satisfies readonly FateName[]
const LONG_MS = [200, 6_000] as const
const OUTAGE_MS = [500, 12_000] as const
/** The period with faults, in milliseconds. */
export const FAULTY_MS = 30_000

/** A new promise each time: a shared one would keep everything that ever waited for it in memory. */
export const never = (): Promise<never> => new Promise(() => undefined)
export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Draws the schedule's faults, if there are to be any. */
export function createNetwork(random: Random, note: (line: string) => void, hasFaults: boolean): Network {
  // First the kinds of faults are drawn: a schedule with all kinds would hide the effects of a single one.
  const latencyMs = random.pick([2, 10, 40])
  const weights = (Object.keys(FATES) as FateName[]).map(
    (name) => [name === 'fine' ? 40 : random.oneIn(2) ? random.size(16) : 0, name] as const,
  )
  const deathIn = random.pick([0, 400, 100, 30])
  const outages = Array.from({ length: random.int(4) }, () => {
    const from = random.int(FAULTY_MS)
    return { server: random.pick<Server>(['journal', 'store']), from, to: from + random.between(...OUTAGE_MS) }
  })
  let isHealed = !hasFaults
  const begun = performance.now()

  function fateName(server: Server): FateName {
    if (isHealed) return 'fine'
    const now = performance.now() - begun
    const isOut = outages.some((outage) => outage.server === server && now >= outage.from && now < outage.to)
    return isOut ? random.pick(FAILURES) : random.weighted(weights)
  }

  const travel = (isLong = false): Promise<void> => wait(isLong ? random.between(...LONG_MS) : random.int(latencyMs))

  const fails = (times: number): boolean => !isHealed && times > 0 && random.oneIn(times)

  function createProcess(name: string): Process {
    const { promise: died, resolve } = Promise.withResolvers<void>()
    let isAlive = true
    return {
      name,
      died,
      get isAlive() {
        return isAlive
      },
      kill: () => {
        if (isAlive) note(`${name} is dead`)
        isAlive = false
        resolve()
      },
    }
  }

  /** A point at which a process can die. Never resolves for a dead process. */
  async function live(process: Process): Promise<void> {
    if (process.isAlive && fails(deathIn)) process.kill()
    if (!process.isAlive) await never()
  }

  return {
    random,
    createProcess,
    travel,
    fails,
    heal: () => {
      isHealed = true
    },
    get isHealed() {
      return isHealed
    },
    call: async (process, server, what, effect) => {
      const name = fateName(server)
      const { effects, failure, long }: Fate = FATES[name]
      await live(process)
      await travel(long === 'request')
      // Messages of a process may arrive after its death.
      if (!process.isAlive && random.oneIn(2)) await never()
      note(
        `${process.name} ${what}${name === 'fine' ? '' : `: ${name}`}${process.isAlive ? '' : ', sent before its death'}`,
      )
      let result: Awaited<ReturnType<typeof effect>> | undefined
      for (let times = 0; times < effects; times += 1) result = await effect()
      await travel(long === 'answer')
      await live(process)
      if (failure !== null) throw new CallError(failure)
      return result as Awaited<ReturnType<typeof effect>>
    },
  }
}
