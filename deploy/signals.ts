const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Says what the signals that ask for an end do from now on, in place of what they did before. The first process of a container is
 * deaf to a signal that it has no handler for, so there is one from the start of the program to its end.
 */
export function onSignals(handle: () => void): void {
  for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, handle)
}

export function exitAtOnce(): never {
  process.exit(130)
}
