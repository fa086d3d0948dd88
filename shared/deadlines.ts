/** Something that must be over by a time on the clock of `performance.now()`, in milliseconds. */
export interface Due {
  readonly deadline: number
}

export interface Deadlines<Item extends Due> {
  add(item: Item): void
  delete(item: Item): void
  /** Expires everything now and ends the timer. */
  close(): void
}

/**
 * Expires items at their deadlines with one timer, that of the first. Items have to be added in the order of their deadlines;
 * one that is out of order expires late, together with the one before it.
 */
export function createDeadlines<Item extends Due>(onExpired: (item: Item) => void): Deadlines<Item> {
  const items = new Set<Item>()
  let timer: NodeJS.Timeout | undefined

  const arm = (deadline: number): void => {
    timer = setTimeout(expire, Math.max(1, deadline - performance.now())).unref()
  }
  // The timer is left to run when its item goes, and looks for the next one when it fires: most items go long before.
  const expire = (): void => {
    timer = undefined
    const now = performance.now()
    for (const item of items) {
      if (item.deadline > now) {
        arm(item.deadline)
        return
      }
      items.delete(item)
      onExpired(item)
    }
  }

  return {
    add: (item) => {
      items.add(item)
      if (timer === undefined) arm(item.deadline)
    },
    delete: (item) => {
      items.delete(item)
    },
    close: () => {
      clearTimeout(timer)
      timer = undefined
      for (const item of items) {
        items.delete(item)
        onExpired(item)
      }
    },
  }
}
