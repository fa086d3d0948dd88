import { closeSync, openSync, readSync } from 'node:fs'

/** More than any file of settings or backup of a registry has; devices and pipes may never end. */
const BYTES_MAX = 256 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024

/** The content of a file, or of a descriptor such as standard input (0). Throws for more than `bytesMax`. */
export function readFile(file: string | 0, bytesMax = BYTES_MAX): Buffer {
  const descriptor = file === 0 ? 0 : openSync(file, 'r')
  try {
    const chunks: Buffer[] = []
    for (let bytes = 0; bytes <= bytesMax; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const read = readSync(descriptor, chunk)
      if (read === 0) return Buffer.concat(chunks)
      chunks.push(chunk.subarray(0, read))
      bytes += read
    }
    throw new Error(`it has more than ${bytesMax / (1024 * 1024)} MiB`)
  } finally {
    if (descriptor !== 0) closeSync(descriptor)
  }
}
