/**
 * A value that is read anew by each call, as certificates are that somebody replaces while the process runs. Where `read` throws, the value before
 * stays, and `onRefused` hears of it, once for each reason. Throws where the first reading does.
 */
export function lastGood<Value>(read: () => Value, onRefused: (error: Error) => void): () => Value {
  let value = read()
  let told: string | undefined
  return () => {
    try {
      value = read()
      told = undefined
    } catch (error) {
      const { message } = error as Error
      if (message !== told) onRefused(error as Error)
      told = message
    }
    return value
  }
}
