/** A piece of work of an owner; of one key there is one at a time. */
export interface Job {
  readonly owner: string
  readonly key: string
  /** Must not reject. */
  readonly run: () => Promise<void>
}

/** Does jobs in their order, so many at a time, in all and of one owner. */
export interface Lanes {
  /** Whether a job with this key is running. */
  isRunning(key: string): boolean
  /** The jobs that wait from now on, in the place of those that waited before. */
  offer(jobs: readonly Job[]): void
  /** Lets go of what waits, and resolves when all that runs has ended. */
  end(): Promise<void>
}

export function createLanes(lanesMax: number, ownerLanesMax: number): Lanes {
  const running = new Map<string, { readonly owner: string; readonly done: Promise<void> }>()
  let waiting: readonly Job[] = []

  const fits = ({ owner, key }: Job): boolean =>
    !running.has(key) && [...running.values()].filter((one) => one.owner === owner).length < ownerLanesMax

  function begin(): void {
    while (running.size < lanesMax) {
      const job = waiting.find(fits)
      if (job === undefined) return
      waiting = waiting.filter((one) => one !== job)
      const done = job.run().finally(() => {
        running.delete(job.key)
        begin()
      })
      running.set(job.key, { owner: job.owner, done })
    }
  }

  return {
    isRunning: (key) => running.has(key),
    offer: (jobs) => {
      waiting = jobs
      begin()
    },
    end: async () => {
      waiting = []
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}
