import zlib from 'node:zlib'
import { type Checked, refuse } from '../contract/errors.ts'
import type { ByteShare } from '../runtime/byte-budget.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { BodyBytes, refuseForRoom } from './body-bytes.ts'
import type { ContentCoding } from './media-type.ts'

/** RFC 9659: a zstd frame sent over HTTP needs no window larger than 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23

/** An engine has a window of up to 16 MiB; more engines than Node has threads for would only wait. */
const ENGINES_MAX = 4

type Engine = zlib.Gunzip | zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress | zlib.ZstdDecompress

const ENGINES: Readonly<Record<Exclude<ContentCoding, 'identity'>, (bytes: Buffer) => Engine>> = {
  gzip: () => zlib.createGunzip(),
  deflate: (bytes) => (hasZlibHeader(bytes) ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
}

/**
 * Decodes bytes into memory taken from the share. Stops with the problem `tooLarge` when there are more than `bytesMax`, and when the share
 * has no room, so a small body that would become huge takes no more memory than that.
 */
export type Inflate = (
  bytes: Buffer,
  coding: Exclude<ContentCoding, 'identity'>,
  limits: { readonly share: ByteShare; readonly bytesMax: number; readonly tooLarge: Checked<never> },
) => Promise<Checked<BodyBytes>>

export function createInflate(): Inflate {
  const semaphore = createSemaphore(ENGINES_MAX)
  return async (bytes, coding, limits) => {
    // An engine takes memory before it has any output.
    if (!limits.share.fits(0)) return refuseForRoom()
    return semaphore.run(() => inflate(bytes, coding, limits))
  }
}

const inflate: Inflate = (bytes, coding, { share, bytesMax, tooLarge }) =>
  new Promise((resolve) => {
    const engine = ENGINES[coding](bytes)
    const inflated = new BodyBytes(share)
    let isSettled = false
    const settle = (result: Checked<BodyBytes>): void => {
      if (isSettled) return
      isSettled = true
      if (result.problem !== undefined) inflated.release()
      engine.destroy()
      resolve(result)
    }
    engine.on('data', (piece: Buffer) => {
      if (isSettled) return
      if (inflated.size + piece.length > bytesMax) settle(tooLarge)
      else if (!inflated.add(piece)) settle(refuseForRoom())
    })
    engine.on('error', () => settle(refuse('malformed_body', null, `The body is not valid ${coding}.`)))
    engine.on('end', () => {
      if (engine.bytesWritten === bytes.length) settle({ value: inflated })
      else settle(refuse('malformed_body', null, `The body goes on after the end of its ${coding} data.`))
    })
    engine.end(bytes)
  })

/** "deflate" is zlib's format (RFC 1950), but some senders leave out its two header bytes and its checksum. */
function hasZlibHeader(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}
