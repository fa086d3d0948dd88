/** Work that can be interrupted: it takes at most a few milliseconds between two `yield`s. */
export type Steps<Result> = Generator<void, Result>

/** Runs long work in slices, so that a thread serves other work in between. */
export interface Cooperative {
  /**
   * Runs one piece of work per owner at a time, and the owners in turn. Rejects with the error that the work throws; the work may also
   * return a promise.
   */
  run<Result>(owner: string, work: Steps<Result | Promise<Result>>): Promise<Result>
}

/** Long enough to make switching worthwhile, and short enough for those who wait. */
const SLICE_MS = 15

/** In each event loop turn, one owner has a slice of time. */
export function createCooperative(sliceMs = SLICE_MS): Cooperative {
  /** The unfinished work of each owner; the owner at the front has the next slice. */
  const queues = new Map<string, (() => boolean)[]>()

  function takeTurn(): void {
    const [next] = queues
    if (next === undefined) return
    const [owner, queue] = next
    queues.delete(owner)
    if (queue[0]?.() === true) queue.shift()
    if (queue.length > 0) queues.set(owner, queue)
    if (queues.size > 0) setImmediate(takeTurn)
  }

  /** The slice returns whether its work is done. */
  function add(owner: string, slice: () => boolean): void {
    if (queues.size === 0) setImmediate(takeTurn)
    const queue = queues.get(owner)
    if (queue === undefined) queues.set(owner, [slice])
    else queue.push(slice)
  }

  return {
    run: (owner, work) =>
      new Promise((resolve, reject) => {
        add(owner, () => {
          try {
            const end = performance.now() + sliceMs
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

/** Runs work that is short enough for a single turn. */
export function runAtOnce<Result>(work: Steps<Result>): Result {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

/** Runs at most `stepsMax` steps of work; the rest is left to be run. */
export function runSteps<Result>(work: Steps<Result>, stepsMax: number): IteratorResult<void, Result> {
  let step = work.next()
  for (let steps = 1; steps < stepsMax && step.done !== true; steps += 1) step = work.next()
  return step
}
