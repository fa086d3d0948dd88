import { EXPORT_PATH } from '../../gateway/otlp/grpc.ts'

/** The beginning of an HTTP/2 connection (RFC 9113, 3.4), in raw bytes. */
export const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  rawFrame(4, 0, Buffer.alloc(0), 0),
])

export const DATA = 0
const RST_STREAM = 3
const HEADERS = 1
const END_HEADERS = 4

/** An HTTP/2 frame on stream 1, or another stream. */
export function rawFrame(type: number, flags: number, payload: Uint8Array, stream = 1): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The headers of a call as a frame, uncompressed. */
export function rawCall(key: string, stream = 1, type = 'application/grpc'): Buffer {
  const headers = {
    ':method': 'POST',
    ':scheme': 'http',
    ':authority': 'x',
    ':path': EXPORT_PATH,
    'content-type': type,
    'x-api-key': key,
  }
  const fields = Object.entries(headers).flatMap(([name, value]) => [0, name.length, name, value.length, value])
  const block = Buffer.concat(
    fields.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))),
  )
  return rawFrame(HEADERS, END_HEADERS, block, stream)
}

/** Cancels a call. */
export const rawCancel = (stream = 1): Buffer => rawFrame(RST_STREAM, 0, Buffer.from([0, 0, 0, 8]), stream)
