const SIGNALS = ['SIGTERM', 'SIGINT'] as const

let current: (() => void) | undefined

/**
 * Says what the signals that ask for an end do from now on, in place of what they did before. The first process of a container is
 * deaf to a signal that it has no handler for, so there is one from the start of the program to its end. It stays the same one: a
 * signal that has come, but was not handed over yet, is lost with the listener it came for.
 */
export function onSignals(handle: () => void): void {
  const isFirst = current === undefined
  current = handle
  if (isFirst) for (const signal of SIGNALS) process.on(signal, () => current?.())
}

export function exitAtOnce(): never {
  process.exit(130)
}
