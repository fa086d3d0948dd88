/** A piece of work; jobs with the same key never run concurrently. */
export interface Job {
  readonly owner: string
  readonly key: string
  /** Whether all jobs that are no repeats go before it. */
  readonly isRepeat?: boolean
  /** Must not reject. */
  readonly run: () => Promise<void>
}

/**
 * Runs jobs with limits on concurrency in total and per owner. Repeats come after all others. Jobs of one owner otherwise run in order; the
 * owner served longest ago is next.
 */
interface Lanes {
  isRunning(key: string): boolean
  /** Replaces the waiting jobs. */
  offer(jobs: readonly Job[]): void
  /** Drops the waiting jobs, and resolves when all running ones have ended. */
  end(): Promise<void>
}

export function createLanes(lanesMax: number, ownerLanesMax: number): Lanes {
  const running = new Map<string, { readonly owner: string; readonly done: Promise<void> }>()
  let waiting: readonly Job[] = []
  /** The number of each owner's last job that began. */
  const lastBegun = new Map<string, number>()
  let begun = 0
  const turnOf = ({ owner }: Job): number => lastBegun.get(owner) ?? 0

  const goesBefore = (job: Job, other: Job): boolean =>
    (job.isRepeat ?? false) === (other.isRepeat ?? false) ? turnOf(job) < turnOf(other) : !job.isRepeat

  const fits = ({ owner, key }: Job): boolean =>
    !running.has(key) && [...running.values()].filter((one) => one.owner === owner).length < ownerLanesMax

  /** The first job that fits. Thousands of jobs can wait, so few of them are asked whether they fit. */
  function nextJob(): Job | undefined {
    let next: Job | undefined
    for (const job of waiting) if ((next === undefined || goesBefore(job, next)) && fits(job)) next = job
    return next
  }

  function begin(): void {
    while (running.size < lanesMax) {
      const job = nextJob()
      if (job === undefined) return
      begun += 1
      lastBegun.set(job.owner, begun)
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
