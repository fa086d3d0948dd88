import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { acceptedCoding } from '../../shared/http/accept-encoding.ts'

/** A shorter answer fits into a few packets as it is. */
const COMPRESSED_BYTES_MIN = 8 * 1024

/** Quick settings, which make an eighth of logs: somebody waits for the answer. Node compresses in threads of its own. */
const COMPRESS = {
  zstd: (bytes: Buffer) => promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 1 }),
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
}

/** The quickest first. */
const CODINGS = ['zstd', 'gzip', 'br'] as const

/** Answers 200 with a JSON text, compressed where its reader takes that. */
export async function sendAnswer(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const coding = bytes.length < COMPRESSED_BYTES_MIN ? 'identity' : acceptedCoding(request.headers, CODINGS)
  const body = coding === 'identity' ? bytes : await COMPRESS[coding](bytes)
  response.writeHead(200, {
    ...ANSWER_HEADERS,
    'content-length': body.length,
    ...(coding !== 'identity' && { 'content-encoding': coding }),
  })
  response.end(body)
}

/** The headers of an answer, whatever its body. */
export const ANSWER_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  vary: 'accept-encoding',
  'x-content-type-options': 'nosniff',
}
