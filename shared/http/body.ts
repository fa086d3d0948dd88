import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { type ByteBudget, createByteBudget } from '../byte-budget.ts'
import { createDeadlines } from '../deadlines.ts'
import { type Checked, type Problem, refuse } from '../errors.ts'
import { retryHeaders } from './answer.ts'
import { bytesOf, heldBy, heldByAll, inOne, refuseForRoom } from './body-bytes.ts'
import { inflate } from './inflate.ts'
import { ACCEPTED_CODINGS, contentCoding, mediaProblem } from './media-type.ts'

export interface BodyLimits {
  /** Most bytes as sent. */
  readonly wireBytesMax: number
  /** Most bytes after decompression. */
  readonly inflatedBytesMax: number
  /** Longest time from the call to the last byte. */
  readonly timeoutMs: number
  /**
   * Bounds what all readers that share it hold at once, as sent and inflated; a body that finds it full is refused. Left out
   * where bodies are too small for that.
   */
  readonly budget?: ByteBudget
}

/** The sender closed the connection before its body ended: there is nobody to answer. */
export const GONE = Symbol('gone')

export interface JsonBody {
  readonly json: unknown
  /** What the JSON was read from: the body, decompressed. */
  readonly text: string
  /** The bytes of the text in UTF-8; as many as its characters where all of them are ASCII. */
  readonly textBytes: number
}

/** What a body has to be. */
export interface BodyFormat {
  /** Why a body is not read, by what its request says of it; undefined where it is. */
  readonly refusal: (request: IncomingMessage) => Problem | undefined
  /** Reads the text of a body, which is not empty; what is wrong with it is the refusal of the request. */
  readonly parse: (text: string) => Checked<unknown>
}

/** Beside a problem, `text` is what was read, with U+FFFD for what is no UTF-8. */
export type ReadJson = (Checked<JsonBody> & { readonly text?: string }) | typeof GONE

export type JsonReader = (request: IncomingMessage) => Promise<ReadJson>

/** A body as it came; what a value holds is taken from the budget. */
type Wire = Checked<readonly Buffer[]> | typeof GONE

/** A body that is being read. */
interface Reading {
  readonly chunks: Buffer[]
  readonly settle: (wire: Wire) => void
}

const isRead = (wire: Wire): wire is { readonly value: readonly Buffer[] } =>
  wire !== GONE && wire.problem === undefined

/** Makes a reader of bodies that are one JSON value. */
export const createJsonReader = (limits: BodyLimits): JsonReader => createBodyReader(limits, JSON_FORMAT)

/**
 * Makes a reader of bodies that hold JSON in some form. Each body is read once and never more of it kept than the limits allow. What
 * is refused is still taken off the connection, and thrown away, until it ends or the time is up: its sender can then read the
 * answer, and use the connection again, where a closed one would be reset.
 */
export function createBodyReader(limits: BodyLimits, format: BodyFormat): JsonReader {
  const { wireBytesMax, inflatedBytesMax, timeoutMs, budget = createByteBudget(Number.POSITIVE_INFINITY) } = limits
  const deadlines = createDeadlines()

  /** Calls `settle` once. What was refused before it began, or is refused on the way, is read to its end but not kept. */
  function readWire(request: IncomingMessage, refused: Wire | undefined, settle: (wire: Wire) => void): void {
    // Let go of at the end: the request lives until its answer, and what it refers to would live as long.
    let reading: Reading | undefined = { chunks: [], settle }
    let size = 0
    const end = (wire: Wire): void => {
      if (reading === undefined) return
      const { chunks, settle } = reading
      reading = undefined
      if (!isRead(wire)) budget.give(heldByAll(chunks))
      settle(wire)
    }
    const expire = (): void => {
      if (reading === undefined) request.destroy()
      else end(refuse('request_timeout'))
    }
    const deadline = deadlines.add(performance.now() + timeoutMs, expire)
    if (refused !== undefined) end(refused)
    request.on('data', (chunk: Buffer) => {
      if (reading === undefined) return
      size += chunk.length
      if (size > wireBytesMax) return end(tooLarge)
      const held = heldBy(chunk)
      if (!budget.fits(held) && !isWhole(request, size)) return end(refuseForRoom())
      budget.take(held)
      reading.chunks.push(chunk)
    })
    request.on('end', () => {
      deadlines.cancel(deadline)
      if (reading !== undefined) end({ value: reading.chunks })
    })
    request.on('close', () => {
      deadlines.cancel(deadline)
      end(GONE)
    })
  }

  const tooLarge = refuse('payload_too_large', { limit: wireBytesMax })

  function refusalOf(request: IncomingMessage): Wire | undefined {
    const refusal = format.refusal(request)
    if (refusal !== undefined) return { problem: refusal }
    return Number(request.headers['content-length'] ?? 0) > wireBytesMax ? tooLarge : undefined
  }

  function parseAndGive(chunks: readonly Buffer[]): ReadJson {
    try {
      return parse(chunks, format)
    } finally {
      budget.give(heldByAll(chunks))
    }
  }

  // Not async, as in the frame of such a function the body as sent would live until it is inflated.
  function readText(request: IncomingMessage, wire: Wire): ReadJson | Promise<ReadJson> {
    if (!isRead(wire)) return wire
    const coding = contentCoding(request.headers) ?? 'identity'
    if (coding === 'identity' || wire.value.length === 0) return parseAndGive(wire.value)
    const held = heldByAll(wire.value)
    return inflate(inOne(wire.value), coding, inflatedBytesMax, budget)
      .finally(() => budget.give(held))
      .then((inflated) => (inflated.problem === undefined ? parseAndGive(inflated.value) : inflated))
  }

  // One promise a request: each costs as much as a check.
  return (request) =>
    new Promise((resolve, reject) => {
      readWire(request, refusalOf(request), (wire) => {
        try {
          resolve(readText(request, wire))
        } catch (error) {
          reject(error)
        }
      })
    })
}

/**
 * Whether these are all bytes of a body. One that is here as a whole takes no memory for longer than this turn of the event loop, so
 * small requests are served while bodies that dawdle hold the budget.
 */
const isWhole = ({ headers }: IncomingMessage, size: number): boolean => Number(headers['content-length']) === size

/** The headers that belong to the answer for a body that was refused. */
export function refusedBodyHeaders({ code, retryable }: Problem, { headers }: IncomingMessage): OutgoingHttpHeaders {
  switch (code) {
    case 'request_timeout':
      // Whoever was too slow may still be sending; after any other refusal the connection is fit for the next request.
      return { ...retryHeaders(retryable), connection: 'close' }
    case 'unsupported_media_type':
      // RFC 9110, 12.5.3: only where the coding is at fault.
      return contentCoding(headers) === undefined ? { 'accept-encoding': ACCEPTED_CODINGS } : {}
    default:
      return retryHeaders(retryable)
  }
}

/** Where the chunks of a body are put together, if they fit: a buffer for each body would have the collector run all the time. */
const scratch = Buffer.allocUnsafeSlow(1024 * 1024)

/** The bytes of a body in one piece; good until the next call. */
function joined(chunks: readonly Buffer[]): Buffer {
  const size = bytesOf(chunks)
  if (chunks.length === 1 || size > scratch.length) return inOne(chunks)
  let at = 0
  for (const chunk of chunks) at += chunk.copy(scratch, at)
  return scratch.subarray(0, size)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parse(chunks: readonly Buffer[], format: BodyFormat): ReadJson {
  const bytes = joined(chunks)
  if (bytes.length === 0) return refuse('malformed_json', null, 'The body is empty.')
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return { text: bytes.toString(), ...refuse('malformed_json', null, 'The body is not valid UTF-8.') }
  }
  const { value: json, problem } = format.parse(text)
  return problem === undefined ? { value: { json, text, textBytes: bytes.length } } : { text, problem }
}

/** The value of a JSON text; `what` is wrong where it is none. */
export function parseJson(text: string, what = 'The body'): Checked<unknown> {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return refuse('malformed_json', { reason: (error as Error).message }, `${what} is not valid JSON.`)
  }
}

export const JSON_FORMAT: BodyFormat = { refusal: ({ headers }) => mediaProblem(headers), parse: parseJson }
