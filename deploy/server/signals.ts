/** SIGHUP comes with the end of a terminal or of its connection, and by default would end the process without an answer to what it took. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

let current: (() => void) | undefined

/**
 * Sets the handler of the termination signals, in place of the previous one. The first process of a container ignores signals without a
 * handler, so there is one from the start of the program to its end. The listener itself stays the same: a signal that has arrived but was
 * not yet delivered would be lost with its listener.
 */
export function onSignals(handle: () => void): void {
  const isFirst = current === undefined
  current = handle
  if (isFirst) for (const signal of SIGNALS) process.on(signal, () => current?.())
}

/** Ends the process with the exit code of one that SIGINT has ended. */
export function exitAtOnce(): never {
  process.exit(130)
}
