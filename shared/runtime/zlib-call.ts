import type { Transform } from 'node:stream'
import zlib from 'node:zlib'

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

/** The fastest of the usual levels of Zstandard: better ones save a tenth more at most, and take three times as long. */
export const ZSTD_FAST: zlib.ZstdOptions = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } }

export const gzip = (options: zlib.ZlibOptions): ZlibCallOptions => ({
  open: () => zlib.createGzip(options),
  end: zlib.constants.Z_FINISH,
  resets: true,
  once: (bytes) => zlib.gzipSync(bytes, options),
})

export const zstdCompress = (options: zlib.ZstdOptions): ZlibCallOptions => ({
  open: () => zlib.createZstdCompress(options),
  end: zlib.constants.ZSTD_e_end,
  resets: false,
  once: (bytes) => zlib.zstdCompressSync(bytes, options),
})

export const zstdDecompress = (options: zlib.ZstdOptions = {}): ZlibCallOptions => ({
  open: () => zlib.createZstdDecompress(options),
  end: zlib.constants.ZSTD_e_end,
  resets: false,
  once: (bytes) => zlib.zstdDecompressSync(bytes, options),
})

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
  let isUsable = true
  return (bytes) => {
    if (!isUsable) return once(bytes)
    const stream: ZlibStream = idle ?? open()
    const { _handle: handle, _processChunk: process, reset } = stream
    if (handle == null || process === undefined || reset === undefined) {
      isUsable = false
      stream.destroy()
      return once(bytes)
    }
    // A stream that fails is not used again.
    idle = undefined
    const { close } = handle
    handle.close = () => {}
    try {
      const result = process.call(stream, bytes, end)
      // `_processChunk` has set `_handle` to null, as if the stream were closed, and has left a listener.
      stream._handle = handle
      stream.removeAllListeners('error')
      if (resets) reset.call(stream)
      idle = stream
      return result
    } finally {
      handle.close = close
    }
  }
}
