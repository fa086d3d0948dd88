import type { Transform } from 'node:stream'

/** Compresses or decompresses a buffer without waiting. The result is valid until the next call. */
export type ZlibCall = (bytes: Uint8Array) => Buffer

export interface ZlibCallOptions {
  readonly open: () => Transform
  /** The flush that ends a frame. */
  readonly end: number
  /** Whether a stream is reset before the next frame. Those of Zstandard begin one by themselves, and a reset would lose their parameters. */
  readonly resets: boolean
  /** The function of node:zlib that does the same. */
  readonly once: ZlibCall
}

/** Undocumented members of the streams of node:zlib, which keeps them for backwards compatibility; minizlib, and so npm, rest on them. */
interface ZlibStream extends Transform {
  _handle?: { close(): void } | null
  _processChunk?(bytes: Uint8Array, flush: number): Buffer
  reset?(): void
}

/**
 * Uses one stream of node:zlib for many short buffers. The synchronous functions of node:zlib open one for each: that takes 10 to 30 µs, and
 * the garbage collector follows its memory (268 KB for gzip) by running over the whole heap. Bytes to decompress have to be known to be
 * whole, as the next ones would continue a part. `once` is used if Node has no such members.
 */
export function createZlibCall({ open, end, resets, once }: ZlibCallOptions): ZlibCall {
  let idle: ZlibStream | undefined
  return (bytes) => {
    const stream: ZlibStream = idle ?? open()
    // Not used again if it fails.
    idle = undefined
    const handle = stream._handle
    if (handle == null || stream._processChunk === undefined || stream.reset === undefined) return once(bytes)
    handle.close = () => {}
    const result = stream._processChunk(bytes, end)
    // It has taken the stream for closed, and listens for errors.
    stream._handle = handle
    stream.removeAllListeners('error')
    if (resets) stream.reset()
    idle = stream
    return result
  }
}
