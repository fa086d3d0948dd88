import type { Transform } from 'node:stream'

/** Compresses a buffer without waiting. The result is valid until the next call. */
export type Compress = (bytes: Buffer) => Buffer

/** Undocumented members of the streams of node:zlib, which keeps them for backwards compatibility; minizlib, and so npm, rest on them. */
interface ZlibStream extends Transform {
  _handle?: { close(): void } | null
  _processChunk?(bytes: Buffer, flush: number): Buffer
  reset?(): void
}

/**
 * Compresses with one stream of node:zlib, whose `end` is the flush that ends a frame. The synchronous functions of node:zlib open a stream
 * for each call, which takes 10 µs, and the garbage collector follows their memory (268 KB for gzip) by running over the whole heap every two
 * seconds: the slowest hundredth of single requests took 25 ms, and takes 7. `once` is used if Node has no such members.
 */
export function createCompressor(open: () => Transform, end: number, once: Compress): Compress {
  let idle: ZlibStream | undefined
  return (bytes) => {
    const stream: ZlibStream = idle ?? open()
    // Not used again if it fails.
    idle = undefined
    const handle = stream._handle
    if (handle == null || stream._processChunk === undefined || stream.reset === undefined) return once(bytes)
    handle.close = () => {}
    const compressed = stream._processChunk(bytes, end)
    // It has taken the stream for closed, and listens for errors.
    stream._handle = handle
    stream.removeAllListeners('error')
    stream.reset()
    idle = stream
    return compressed
  }
}
