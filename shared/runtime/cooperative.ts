/** Work that can be interrupted: between two `yield`s it takes a few milliseconds at most. */
export type Steps<Result> = Generator<void, Result>

/** Runs long work in slices, so that a thread serves others in between. */
export interface Cooperative {
  /**
   * Runs one piece of work of each owner at a time, those of several owners by turns. Rejects with what the work throws, which may
   * also be returned as a promise.
   */
  run<Result>(owner: string, work: Steps<Result | Promise<Result>>): Promise<Result>
}

/** Long enough to be worth the change, and short enough for whoever waits. */
const SLICE_MS = 15

/** In a turn of the event loop one owner has a slice of time. */
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

  /** The slice says whether its work is done. */
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

/** Work that takes a few milliseconds, or a few tens at most, and has a turn of its own. */
// biome-ignore lint/correctness/useYield: it is never interrupted
export function* inOneStep<Result>(work: () => Result): Steps<Result> {
  return work()
}

/** The result of each item, which take a few milliseconds at most, or a few tens. */
export function* mapInSteps<Item, Result>(items: readonly Item[], of: (item: Item) => Result): Steps<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    results.push(of(item))
    yield
  }
  return results
}

/** Does work that is short enough to be done in one go. */
export function runAtOnce<Result>(work: Steps<Result>): Result {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

/** Does so many steps of work, or all of it where it has fewer; the rest is left to be run. */
export function runSteps<Result>(work: Steps<Result>, stepsMax: number): IteratorResult<void, Result> {
  let step = work.next()
  for (let steps = 1; steps < stepsMax && step.done !== true; steps += 1) step = work.next()
  return step
}
