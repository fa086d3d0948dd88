import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { acceptedCoding } from '../../shared/http/accept-encoding.ts'
import { successText } from '../../shared/http/answer.ts'
import { createCooperative, inOneStep } from '../../shared/runtime/cooperative.ts'
import { ZSTD_FAST } from '../../shared/runtime/zlib-call.ts'
import type { Call } from './call.ts'
import type { ReadGate } from './read-gate.ts'

/** Shorter answers fit into a few packets uncompressed. */
const COMPRESSED_BYTES_MIN = 8 * 1024

/** Fast settings, as somebody waits for the answer; logs still shrink to an eighth. Node compresses in its thread pool. */
const COMPRESS = {
  zstd: (bytes: Buffer) => promisify(zstdCompress)(bytes, ZSTD_FAST),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 1 }),
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
}

/** Fastest first. */
const CODINGS = ['zstd', 'gzip', 'br'] as const

/** Reads that need no store take milliseconds, and hundreds can arrive at once: each begins in a turn of its own, the Teams in turn. */
const byTurns = createCooperative()

/**
 * Runs the work when the gate has room and answers with the data, or their JSON text, that it returns; the bytes stay reserved until the
 * response closes.
 */
export async function answerRead(
  gate: ReadGate,
  { team, request, response, signal }: Pick<Call, 'team' | 'request' | 'response' | 'signal'>,
  work: () => Promise<object | string>,
): Promise<void> {
  const bodyText = async (): Promise<string> => {
    const answer = await work()
    return successText(typeof answer === 'string' ? answer : JSON.stringify(answer))
  }
  const { result: text, keep, release } = await gate.run(team, signal, () => byTurns.run(team, inOneStep(bodyText)))
  keep(Buffer.byteLength(text), () => response.destroy())
  response.once('close', release)
  if (response.closed) release()
  else await sendAnswer(request, response, text)
}

/** Aborts when the client disconnects and, unless `deadlineMs` (milliseconds) is null, when the deadline passes. */
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

/** Answers 200 with a JSON text, compressed if the client accepts it. */
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

export const ANSWER_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  vary: 'accept-encoding',
  'x-content-type-options': 'nosniff',
}
