/** Does the work unless it is under way; whoever asks for it meanwhile shares what comes of it. */
export function singleFlight<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let flight: Promise<Value> | undefined
  return () => {
    flight ??= work().finally(() => {
      flight = undefined
    })
    return flight
  }
}

/**
 * Asks something that may not answer, such as another thread, and waits no longer than `limitMs`: undefined where there is no answer
 * by then. It is not asked again before it has answered, so that no questions pile up.
 */
export function askWithin<Value>(limitMs: number, ask: () => Promise<Value>): () => Promise<Value | undefined> {
  const asked = singleFlight(ask)
  return singleFlight(async () => {
    const expired = Promise.withResolvers<undefined>()
    const timer = setTimeout(expired.resolve, limitMs)
    try {
      return await Promise.race([asked(), expired.promise])
    } finally {
      clearTimeout(timer)
    }
  })
}
