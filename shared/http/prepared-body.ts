import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedCoding } from './accept-encoding.ts'

/** An answer that is the same for all clients, in all codings in which it is sent. */
export interface PreparedBody {
  /** A media type. */
  readonly type: string
  /** Its bytes in a coding; they are encoded on first use, by another thread, and kept. */
  encoded(coding: Coding): Promise<Buffer>
}

type Coding = 'identity' | keyof typeof ENCODERS

/** The best quality takes 15 times as long and saves a tenth. */
const BROTLI_QUALITY = 9

const ENCODERS = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

/** The coding with the smallest result first. */
const CODINGS = ['br', 'gzip'] as const

/** Prepares the bytes that `read` returns; it is called on first use. */
export function prepareBody(type: string, read: () => Buffer | Promise<Buffer>): PreparedBody {
  const made = new Map<Coding, Promise<Buffer>>()
  const make = async (coding: Coding): Promise<Buffer> =>
    coding === 'identity' ? read() : ENCODERS[coding](await encoded('identity'))
  const encoded = (coding: Coding): Promise<Buffer> => {
    const found = made.get(coding) ?? make(coding)
    made.set(coding, found)
    found.catch(() => made.delete(coding))
    return found
  }
  return { type, encoded }
}

/** Answers 200 with the body in the best coding for the client. */
export async function answerPrepared(
  request: IncomingMessage,
  response: ServerResponse,
  body: PreparedBody,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const coding = acceptedCoding(request.headers, CODINGS)
  const bytes = await body.encoded(coding)
  response.writeHead(200, {
    ...headers,
    'content-type': body.type,
    'content-length': bytes.length,
    vary: 'accept-encoding',
    ...(coding !== 'identity' && { 'content-encoding': coding }),
  })
  response.end(bytes)
}
