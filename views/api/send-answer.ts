import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { acceptedCoding } from '../../shared/http/accept-encoding.ts'
import type { ReadGate } from './read-gate.ts'

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

/** A read and its reader. */
interface Reading {
  readonly team: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signal: AbortSignal
}

/** Answers with the JSON text that the work makes when the gate has room for it; its bytes are held until the last is on its way. */
export async function answerRead(
  gate: ReadGate,
  { team, request, response, signal }: Reading,
  work: () => Promise<string>,
): Promise<void> {
  const { result: text, keep, release } = await gate.run(team, signal, work)
  keep(Buffer.byteLength(text))
  response.once('close', release)
  if (response.closed) release()
  else await sendAnswer(request, response, text)
}

/** Aborts when the client goes and, where the read has a time, in milliseconds, when that is over. */
export function signalOf(response: ServerResponse, deadlineMs: number | null): AbortSignal {
  const controller = new AbortController()
  const expire = (): void => controller.abort(new DOMException('the time of the read is over', 'TimeoutError'))
  const timer = deadlineMs === null ? undefined : setTimeout(expire, deadlineMs)
  response.once('close', () => {
    clearTimeout(timer)
    controller.abort(new Error('the reader is gone'))
  })
  return controller.signal
}

/** Answers 200 with a JSON text, compressed where its reader takes that. */
async function sendAnswer(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
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
