import { X509Certificate } from 'node:crypto'

/**
 * A value that is read again by a call once `everyMs` have passed since the last reading, such as certificates that are replaced while the
 * process runs. If `read` throws, the previous value stays, and `onRefused` is called once per reason. Throws if the first reading does.
 */
export function lastGood<Value>(read: () => Value, onRefused: (error: Error) => void, everyMs = 0): () => Value {
  let value = read()
  let readAt = performance.now()
  let told: string | undefined
  return () => {
    if (performance.now() - readAt < everyMs) return value
    readAt = performance.now()
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

/**
 * The certificates of a PEM text, one or more. Throws unless each is whole: of a file that is still being written, OpenSSL would take the
 * first ones alone.
 */
export function parseCertificates(text: string): readonly X509Certificate[] {
  const blocks = text.split(/(?=-----BEGIN )/).filter((block) => /^-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(block))
  return (blocks.length === 0 ? [text] : blocks).map((block) => new X509Certificate(block))
}
