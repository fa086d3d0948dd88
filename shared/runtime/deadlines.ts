/** Something that is to happen at a time, unless it is cancelled before. */
export interface Deadline {
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly at: number
  expire: (() => void) | undefined
}

export interface Deadlines {
  /** Has `expire` called at the time. Times must not go back between calls: one that does is met late. */
  add(at: number, expire: () => void): Deadline
  cancel(deadline: Deadline): void
  /** Lets everything expire now and ends the timer. */
  close(): void
}

/** Many deadlines in the order of their times, with one timer: that of the first. */
export function createDeadlines(): Deadlines {
  const pending = new Set<Deadline>()
  let timer: NodeJS.Timeout | undefined

  const arm = (at: number): void => {
    timer = setTimeout(expireWhatIsDue, Math.max(1, at - performance.now())).unref()
  }
  // A cancelled deadline leaves the timer as it is: most are cancelled long before, and it looks for the next when it fires.
  const expireWhatIsDue = (): void => {
    timer = undefined
    const now = performance.now()
    for (const deadline of pending) {
      if (deadline.at > now) {
        arm(deadline.at)
        return
      }
      expire(deadline)
    }
  }
  const expire = (deadline: Deadline): void => {
    const { expire: call } = deadline
    cancel(deadline)
    call?.()
  }
  // The function is let go of by hand. A set leaves behind the tables it outgrew, and what they still refer to would be carried
  // into the old generation: here that would be whole requests.
  const cancel = (deadline: Deadline): void => {
    pending.delete(deadline)
    deadline.expire = undefined
  }

  return {
    add: (at, expire) => {
      const deadline = { at, expire }
      pending.add(deadline)
      if (timer === undefined) arm(at)
      return deadline
    },
    cancel,
    close: () => {
      clearTimeout(timer)
      timer = undefined
      for (const deadline of pending) expire(deadline)
    },
  }
}
