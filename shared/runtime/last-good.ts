/**
 * A value that is read again by each call, such as certificates that are replaced while the process runs. If `read` throws, the previous
 * value stays, and `onRefused` is called once per reason. Throws if the first reading does.
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
