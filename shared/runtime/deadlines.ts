/** An action at a certain time, unless it is cancelled before. */
export interface Deadline {
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly at: number
  expire: (() => void) | undefined
}

export interface Deadlines {
  /** Calls `expire` at that time. Times must not decrease between calls; an earlier one expires late. */
  add(at: number, expire: () => void): Deadline
  cancel(deadline: Deadline): void
  /** Makes everything expire now and ends the timer. */
  close(): void
}

/** Many deadlines in order of time, with a single timer, for the first. */
export function createDeadlines(): Deadlines {
  const pending = new Set<Deadline>()
  let timer: NodeJS.Timeout | undefined

  const arm = (at: number): void => {
    timer = setTimeout(expireWhatIsDue, Math.max(1, at - performance.now())).unref()
  }
  // Cancelling leaves the timer as it is: most deadlines are cancelled long before, and when it fires it finds the next one.
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
  // The function is cleared explicitly. A set leaves behind the tables it outgrew, and everything they still refer to would be promoted to
  // the old generation: here, whole requests.
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
