import zlib from 'node:zlib'
import { type Checked, refuse } from '../errors.ts'
import type { ContentCoding } from './media-type.ts'

/** RFC 9659: a zstd frame sent over HTTP needs no window larger than 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23

interface Options {
  readonly maxOutputLength: number
  /** Gives back the engine, which knows how many of the bytes it used. */
  readonly info: true
}
type Callback = (error: NodeJS.ErrnoException | null, result: Buffer) => void
type Decompress = (bytes: Buffer, options: Options, callback: Callback) => void

const DECOMPRESS: Readonly<Record<Exclude<ContentCoding, 'identity'>, Decompress>> = {
  gzip: zlib.gunzip,
  deflate: (bytes, options, callback) =>
    (hasZlibHeader(bytes) ? zlib.inflate : zlib.inflateRaw)(bytes, options, callback),
  br: zlib.brotliDecompress,
  zstd: (bytes, options, callback) =>
    zlib.zstdDecompress(
      bytes,
      { ...options, params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } },
      callback,
    ),
}

/**
 * The bytes before they were encoded. Inflating stops at `bytesMax`, so a small body that would become a huge one takes no
 * more memory than that.
 */
export function inflate(bytes: Buffer, coding: ContentCoding, bytesMax: number): Promise<Checked<Buffer>> {
  if (coding === 'identity') return Promise.resolve({ value: bytes })
  return new Promise((resolve) => {
    DECOMPRESS[coding](bytes, { maxOutputLength: bytesMax, info: true }, (error, result) => {
      if (error?.code === 'ERR_BUFFER_TOO_LARGE')
        return resolve(refuse('payload_too_large', { limit: bytesMax }, 'The body is too large after decompression.'))
      if (error !== null) return resolve(refuse('malformed_body', null, `The body is not valid ${coding}.`))
      // With `info` the result is not what the types of Node say.
      const { buffer, engine } = result as unknown as { buffer: Buffer; engine: zlib.Gunzip }
      if (engine.bytesWritten < bytes.length)
        return resolve(refuse('malformed_body', null, `The body goes on after the end of its ${coding} data.`))
      resolve({ value: buffer })
    })
  })
}

/** "deflate" is zlib's format (RFC 1950), but some senders leave out its two bytes of header and its checksum. */
function hasZlibHeader(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}
