/** Work that can be interrupted: it takes at most a few milliseconds between two `yield`s. */
export type Steps<Result> = Generator<void, Result>

/** Runs long work in slices, so that a thread serves other work in between. */
export interface Cooperative {
  /**
   * Runs one piece of work per owner at a time, and the owners in turn; the short work of an owner has a turn apart from the long. Rejects
   * with the error that the work throws; the work may also return a promise.
   */
  run<Result>(owner: string, work: Steps<Result | Promise<Result>>, length?: 'long' | 'short'): Promise<Result>
  /**
   * Runs at most `stepsMax` steps of short work at once; the rest is left to be run. Undefined if such work has taken a slice of this turn of
   * the event loop already: however many connections have something to read, they must not hold the turn up.
   */
  begin<Result>(work: Steps<Result>, stepsMax: number): IteratorResult<void, Result> | undefined
}

/** Long enough to make switching worthwhile, and short enough for those who wait. */
const SLICE_MS = 15

/** Runs its work until `end` (`performance.now()`), and returns whether that is done. */
type Slice = (end: number) => boolean

/** In each event loop turn, one owner has a slice of time: for one piece of its work, or for all that fit into it. */
export function createCooperative(pieces: 'one' | 'all' = 'one', sliceMs = SLICE_MS): Cooperative {
  /** The unfinished work of each owner, by its length and the owner; the queue at the front has the next slice. */
  const queues = new Map<string, Slice[]>()
  /** When no further work is begun at once in this turn; undefined if none was. */
  let beginUntil: number | undefined

  function takeTurn(): void {
    const [next] = queues
    if (next === undefined) return
    const [key, queue] = next
    queues.delete(key)
    const end = performance.now() + sliceMs
    while (queue[0]?.(end) === true) {
      queue.shift()
      if (pieces === 'one' || performance.now() >= end) break
    }
    if (queue.length > 0) queues.set(key, queue)
    if (queues.size > 0) setImmediate(takeTurn)
  }

  function add(key: string, slice: Slice): void {
    if (queues.size === 0) setImmediate(takeTurn)
    const queue = queues.get(key)
    if (queue === undefined) queues.set(key, [slice])
    else queue.push(slice)
  }

  return {
    run: (owner, work, length = 'long') =>
      new Promise((resolve, reject) => {
        add(`${length} ${owner}`, (end) => {
          try {
            let step = work.next()
            while (step.done !== true && performance.now() < end) step = work.next()
            if (step.done === true) resolve(step.value)
            return step.done === true
          } catch (error) {
            reject(error)
            return true
          }
        })
      }),
    begin: (work, stepsMax) => {
      const now = performance.now()
      if (beginUntil === undefined) {
        beginUntil = now + sliceMs
        setImmediate(() => {
          beginUntil = undefined
        })
      } else if (now >= beginUntil) return undefined
      return runSteps(work, stepsMax)
    },
  }
}

/** Work of a few milliseconds, or a few tens at most, that gets a turn of its own. */
// biome-ignore lint/correctness/useYield: it is never interrupted
export function* inOneStep<Result>(work: () => Result): Steps<Result> {
  return work()
}

/** The result for each item; each takes a few milliseconds, or a few tens at most. */
export function* mapInSteps<Item, Result>(items: readonly Item[], of: (item: Item) => Result): Steps<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    results.push(of(item))
    yield
  }
  return results
}

/** Runs at most `stepsMax` steps of work; the rest is left to be run. */
export function runSteps<Result>(work: Steps<Result>, stepsMax: number): IteratorResult<void, Result> {
  let step = work.next()
  for (let steps = 1; steps < stepsMax && step.done !== true; steps += 1) step = work.next()
  return step
}
