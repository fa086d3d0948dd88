import zlib from 'node:zlib'
import type { ByteBudget } from '../byte-budget.ts'
import { type Checked, refuse } from '../errors.ts'
import { heldBy, heldByAll, refuseForRoom } from './body-bytes.ts'
import type { ContentCoding } from './media-type.ts'

/** RFC 9659: a zstd frame sent over HTTP needs no window larger than 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23

type Engine = zlib.Gunzip | zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress | zlib.ZstdDecompress

const ENGINES: Readonly<Record<Exclude<ContentCoding, 'identity'>, (bytes: Buffer) => Engine>> = {
  gzip: () => zlib.createGunzip(),
  deflate: (bytes) => (hasZlibHeader(bytes) ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
}

/**
 * The bytes before they were encoded, in pieces, taken from the budget as they come; where it is refused, they are given back.
 * Inflating stops at `bytesMax` and where the budget is full, so a small body that would become a huge one takes no more memory
 * than that.
 */
export function inflate(
  bytes: Buffer,
  coding: Exclude<ContentCoding, 'identity'>,
  bytesMax: number,
  budget: ByteBudget,
): Promise<Checked<readonly Buffer[]>> {
  // An engine takes memory before there is any output.
  if (!budget.fits(0)) return Promise.resolve(refuseForRoom())
  return new Promise((resolve) => {
    const engine = ENGINES[coding](bytes)
    let kept: Buffer[] | undefined = []
    let size = 0
    const settle = (inflated: Checked<readonly Buffer[]>): void => {
      if (kept !== undefined && inflated.problem !== undefined) budget.give(heldByAll(kept))
      kept = undefined
      engine.destroy()
      resolve(inflated)
    }
    engine.on('data', (piece: Buffer) => {
      if (kept === undefined) return
      size += piece.length
      if (size > bytesMax)
        return settle(refuse('payload_too_large', { limit: bytesMax }, 'The body is too large after decompression.'))
      const held = heldBy(piece)
      if (!budget.fits(held)) return settle(refuseForRoom())
      budget.take(held)
      kept.push(piece)
    })
    engine.on('error', () => settle(refuse('malformed_body', null, `The body is not valid ${coding}.`)))
    engine.on('end', () => {
      if (kept === undefined) return
      if (engine.bytesWritten === bytes.length) settle({ value: kept })
      else settle(refuse('malformed_body', null, `The body goes on after the end of its ${coding} data.`))
    })
    engine.end(bytes)
  })
}

/** "deflate" is zlib's format (RFC 1950), but some senders leave out its two bytes of header and its checksum. */
function hasZlibHeader(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}
