import zlib from 'node:zlib'
import { type Checked, refuse } from '../contract/errors.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { BodyBytes, NO_ROOM, type RequestMemory } from './body-bytes.ts'
import type { ContentCoding } from './media-type.ts'

/** RFC 9659: a zstd frame sent over HTTP needs no window larger than 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23

/** An engine has a window of up to 16 MiB; more engines than Node has threads for would only wait. */
const ENGINES_MAX = 4

/**
 * A body of zstd may be several frames (RFC 8878, 3). Each takes an engine of its own, and so 60 µs however short it is: this many are free,
 * and beyond them each must bring this many bytes on average.
 */
export const FRAMES_FREE = 16
export const FRAME_BYTES_MIN = 1_024
export const FRAMES_MAX = 1_000

type Engine = zlib.Gunzip | zlib.Inflate | zlib.InflateRaw | zlib.BrotliDecompress | zlib.ZstdDecompress

const ENGINES: Readonly<Record<Exclude<ContentCoding, 'identity'>, (bytes: Buffer) => Engine>> = {
  gzip: () => zlib.createGunzip(),
  deflate: (bytes) => (hasZlibHeader(bytes) ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(ZSTD),
}

const ZSTD = { params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }

/**
 * Maximum bytes of a body that is inflated in one call, and of what it becomes. The call takes less than a millisecond, and an engine with
 * its thread five times as long. Not for brotli: its decoder fills a window of up to 16 MiB before it returns the first byte, and so works
 * for ten milliseconds on a body of 40 bytes.
 */
const AT_ONCE_BYTES_MAX = 16 * 1024
const AT_ONCE_INFLATED_BYTES_MAX = 256 * 1024

/** The result of the functions of node:zlib with the option `info`; their types do not tell it. */
interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}
type InflateAtOnce = (bytes: Buffer, options: { readonly maxOutputLength: number; readonly info: true }) => unknown

const AT_ONCE: Readonly<Partial<Record<keyof typeof ENGINES, InflateAtOnce>>> = {
  gzip: zlib.gunzipSync,
  deflate: (bytes, options) => (hasZlibHeader(bytes) ? zlib.inflateSync : zlib.inflateRawSync)(bytes, options),
  zstd: (bytes, options) => zlib.zstdDecompressSync(bytes, { ...ZSTD, ...options }),
}

/** The inflated bytes of a short body; undefined if it needs an engine, which also finds what is wrong with it. */
function inflateAtOnce(bytes: Buffer, coding: keyof typeof ENGINES, bytesMax: number): Buffer | undefined {
  const inflateSync = AT_ONCE[coding]
  if (inflateSync === undefined || bytes.length > AT_ONCE_BYTES_MAX) return undefined
  const maxOutputLength = Math.min(bytesMax, AT_ONCE_INFLATED_BYTES_MAX)
  try {
    const { buffer, engine } = inflateSync(bytes, { maxOutputLength, info: true }) as Inflated
    return engine.bytesWritten === bytes.length ? buffer : undefined
  } catch {
    return undefined
  }
}

/**
 * Decodes bytes into memory of their request. Stops with the problem `tooLarge` when there are more than `bytesMax`, and when there is no
 * room, so a small body that would become huge takes no more memory than that; the request then has to release it. Owners take turns.
 */
export type Inflate = (
  bytes: Buffer,
  coding: Exclude<ContentCoding, 'identity'>,
  limits: {
    readonly owner: string
    readonly memory: RequestMemory
    readonly bytesMax: number
    readonly tooLarge: Checked<never>
  },
) => Promise<Checked<BodyBytes>>

export function createInflate(): Inflate {
  const semaphore = createSemaphore(ENGINES_MAX)
  return async (bytes, coding, limits) => {
    // An engine takes memory before it has any output.
    if (!limits.memory.fits(0)) return NO_ROOM
    const atOnce = inflateAtOnce(bytes, coding, limits.bytesMax)
    if (atOnce === undefined) return semaphore.run(() => inflate(bytes, coding, limits), undefined, limits.owner)
    const inflated = new BodyBytes(limits.memory)
    return inflated.add(atOnce) ? { value: inflated } : NO_ROOM
  }
}

const inflate: Inflate = (bytes, coding, { memory, bytesMax, tooLarge }) =>
  new Promise((resolve) => {
    const framesMax = Math.min(FRAMES_MAX, FRAMES_FREE + Math.floor(bytes.length / FRAME_BYTES_MIN))
    const inflated = new BodyBytes(memory)
    let engine: Engine
    let frames = 0
    let isSettled = false
    const settle = (result: Checked<BodyBytes>): void => {
      if (isSettled) return
      isSettled = true
      engine.destroy()
      resolve(result)
    }
    const onPiece = (piece: Buffer): void => {
      if (isSettled) return
      if (inflated.size + piece.length > bytesMax) settle(tooLarge)
      else if (!inflated.add(piece)) settle(NO_ROOM)
    }
    const begin = (left: Buffer): void => {
      engine = ENGINES[coding](left)
      frames += 1
      engine.on('data', onPiece)
      engine.on('error', () => settle(refuse('malformed_body', null, `The body is not valid ${coding}.`)))
      engine.on('end', () => {
        const rest = left.subarray(engine.bytesWritten)
        if (isSettled) return
        if (rest.length === 0) settle({ value: inflated })
        else if (coding !== 'zstd' || !isFrame(rest))
          settle(refuse('malformed_body', null, `The body goes on after the end of its ${coding} data.`))
        else if (frames === framesMax)
          settle(
            refuse(
              'malformed_body',
              null,
              `The body has more than ${framesMax} frames of zstd. Send fewer, longer ones.`,
            ),
          )
        else begin(rest)
      })
      engine.end(left)
    }
    begin(bytes)
  })

const FRAME_MAGIC = 0xfd2fb528
/** The magic number of frames that are skipped, without its last four bits, which are free. */
const SKIPPED_MAGIC = 0x184d2a5

/** Whether a frame of zstd begins here. */
function isFrame(bytes: Buffer): boolean {
  const magic = bytes.length < 4 ? 0 : bytes.readUInt32LE()
  return magic === FRAME_MAGIC || magic >>> 4 === SKIPPED_MAGIC
}

/** "deflate" is zlib's format (RFC 1950), but some senders leave out its two header bytes and its checksum. */
function hasZlibHeader(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
}
