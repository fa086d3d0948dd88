import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { type Checked, type Problem, refuse } from '../contract/errors.ts'
import type { ByteShare } from '../runtime/byte-budget.ts'
import { runAtOnce, type Steps } from '../runtime/cooperative.ts'
import { createDeadlines } from '../runtime/deadlines.ts'
import { retryAfterOf, retryHeaders } from './answer.ts'
import { BodyBytes, type BodyMemory, refuseForRoom } from './body-bytes.ts'
import { createInflate, type Inflate } from './inflate.ts'
import { parseInPieces } from './json-pieces.ts'
import { ACCEPTED_CODINGS, type ContentCoding, contentCoding, mediaProblem } from './media-type.ts'
import { isChopped, PIECES_FREE, refuseForPieces } from './pieces.ts'

/** A request as far as its body is read, of whatever version of HTTP. */
export interface BodySource {
  readonly headers: IncomingHttpHeaders
  /** Whether it was cut; HTTP/2 lets its body end all the same. */
  readonly aborted?: boolean
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  destroy(): unknown
}

/** How much is read of a body, by who sends it. */
export interface BodyGrant {
  /** The sender, as far as the headers say. */
  readonly owner: string
  /** Most bytes as sent. */
  readonly wireBytesMax: number
  /** Most bytes after decompression. */
  readonly inflatedBytesMax: number
  /** Why a body that has more is refused; left out: `payload_too_large`. */
  readonly beyond?: Problem
  /** Bounds what bodies hold at once, as sent and inflated; one that finds no room is refused. */
  readonly share: ByteShare
}

/** The sender closed the connection before its body ended: there is nobody to answer. */
export const GONE = Symbol('gone')

/** The content of a body before it is parsed: text where the format is UTF-8, bytes where it is binary. */
export type Content = string | Buffer

/** A body, decompressed. */
export interface Body<Kind extends Content = Content> {
  readonly owner: string
  readonly content: Kind
  /** The bytes of the content; of a text in UTF-8, as many as its characters where all of them are ASCII. */
  readonly contentBytes: number
  /** The memory of the content, to which that of its values is added; to be released when both are let go of. */
  readonly memory: BodyMemory
}

/** Beside a problem, `text` is the text that was read, with U+FFFD for bytes that are no UTF-8. */
type Read<Value> = Checked<Value> & { readonly text?: string }

/** The body of a request, or why it was not read. */
export type ReadBody<Kind extends Content = string> = Read<Body<Kind>> | typeof GONE

/** Makes the content of the bytes of a body, which are then let go of. */
export type Decode<Kind extends Content> = (bytes: BodyBytes) => Read<Kind>

/** Takes off a body what its transport put around it, and tells how the rest is encoded. */
export type Unwrap = (bytes: BodyBytes, headers: IncomingHttpHeaders) => Checked<ContentCoding>

/** Reads the body of a request, once. */
export type BodyReader<Kind extends Content = string, Source extends BodySource = IncomingMessage> = (
  request: Source,
) => Promise<ReadBody<Kind>>

export interface BodyReaderOptions<Kind extends Content = string, Source extends BodySource = IncomingMessage> {
  readonly decode: Decode<Kind>
  /** Decides by its headers how much is read of a request; a problem refuses it before anything is read. */
  readonly admit: (request: Source) => Checked<BodyGrant>
  /** Longest time from the call to the last byte. */
  readonly timeoutMs: number
  readonly inflate?: Inflate
  /** Left out: the body is the content, encoded as Content-Encoding says. */
  readonly unwrap?: Unwrap
}

const unwrapped: Unwrap = (_bytes, headers) => ({ value: contentCoding(headers) ?? 'identity' })

/** So many bytes of a refused body are read on, for its sender to come to the answer; then the connection is cut. */
const READ_ON_BYTES_MAX = 64 * 1024 * 1024

/** A body as it came. */
type Wire = Checked<BodyBytes> | typeof GONE

/**
 * Makes a reader of bodies. Each body is read once and never more of it kept than its grant allows. A body that is refused is still
 * taken off the connection, and thrown away, until it ends or the time is up: its sender can then read the answer, and use the
 * connection again, where a closed one would be reset.
 */
export function createBodyReader<Kind extends Content, Source extends BodySource = IncomingMessage>({
  decode,
  admit,
  timeoutMs,
  inflate = createInflate(),
  unwrap = unwrapped,
}: BodyReaderOptions<Kind, Source>): BodyReader<Kind, Source> {
  const deadlines = createDeadlines()

  /** Calls `settle` once. */
  function readWire(request: BodySource, grant: Checked<BodyGrant>, settle: (wire: Wire) => void): void {
    const { wireBytesMax = 0, share = NO_SHARE } = grant.value ?? {}
    // Let go of at the end: the request lives until its answer, and all that it refers to would live as long.
    let reading: { readonly bytes: BodyBytes; readonly settle: (wire: Wire) => void } | undefined
    reading = { bytes: new BodyBytes(share), settle }
    let size = 0
    let pieces = 0
    const end = (wire: Wire): void => {
      if (reading === undefined) return
      const { bytes, settle } = reading
      reading = undefined
      if (wire === GONE || wire.problem !== undefined) bytes.release()
      settle(wire)
    }
    const expire = (): void => {
      if (reading === undefined) request.destroy()
      else end(refuse('request_timeout'))
    }
    const deadline = deadlines.add(performance.now() + timeoutMs, expire)
    if (grant.problem !== undefined) end(grant)
    else if (Number(request.headers['content-length'] ?? 0) > wireBytesMax) end(tooLarge(grant.value, wireBytesMax))
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      pieces += 1
      if (reading === undefined) {
        if (size > READ_ON_BYTES_MAX || isChopped(pieces, size, 2 * PIECES_FREE)) request.destroy()
        return
      }
      if (isChopped(pieces, size)) end(refuseForPieces())
      else if (size > wireBytesMax) end(tooLarge(grant.value, wireBytesMax))
      else if (!reading.bytes.add(chunk, isWhole(request, size))) end(refuseForRoom())
    })
    request.on('end', () => {
      deadlines.cancel(deadline)
      if (reading !== undefined) end(request.aborted === true ? GONE : { value: reading.bytes })
    })
    request.on('close', () => {
      deadlines.cancel(deadline)
      end(GONE)
    })
  }

  // Not async, as in the frame of such a function the body as sent would live until it is inflated.
  function bodyOf(
    wire: Wire,
    grant: Checked<BodyGrant>,
    request: BodySource,
  ): ReadBody<Kind> | Promise<ReadBody<Kind>> {
    if (wire === GONE || wire.problem !== undefined) return wire
    if (grant.value === undefined) return grant
    const { value: bytes } = wire
    const { value: coding, problem } = unwrap(bytes, request.headers)
    if (problem !== undefined) {
      bytes.release()
      return { problem }
    }
    if (coding === 'identity' || bytes.size === 0) return decoded(bytes, grant.value)
    const { value: granted } = grant
    const { share, inflatedBytesMax: bytesMax } = granted
    const beyond = tooLarge(granted, bytesMax, 'The body is too large after decompression.')
    return inflate(bytes.joined(), coding, { share, bytesMax, tooLarge: beyond })
      .finally(() => bytes.release())
      .then((inflated) => (inflated.problem === undefined ? decoded(inflated.value, granted) : inflated))
  }

  function decoded(bytes: BodyBytes, { owner }: BodyGrant): ReadBody<Kind> {
    const content = decode(bytes)
    if (content.problem !== undefined) {
      bytes.release()
      return content
    }
    bytes.clear()
    return { value: { owner, content: content.value, contentBytes: bytes.size, memory: bytes } }
  }

  // One promise a request: each costs as much as a check.
  return (request) =>
    new Promise((resolve, reject) => {
      const grant = admit(request)
      readWire(request, grant, (wire) => {
        try {
          resolve(bodyOf(wire, grant, request))
        } catch (error) {
          reject(error)
        }
      })
    })
}

const NO_SHARE: ByteShare = { held: 0, fits: () => true, take: () => undefined, give: () => undefined }

const tooLarge = (grant: BodyGrant | undefined, limit: number, message?: string): Checked<never> =>
  grant?.beyond === undefined ? refuse('payload_too_large', { limit }, message) : { problem: grant.beyond }

/**
 * Whether these are all bytes of a body. One that is here as a whole takes no memory for longer than this turn of the event loop, so
 * small requests are served while bodies that dawdle hold the budget.
 */
const isWhole = ({ headers }: BodySource, size: number): boolean => Number(headers['content-length']) === size

/** Where the bytes of a body are put together, if they fit: a buffer for each body would have the collector run all the time. */
const scratch = Buffer.allocUnsafeSlow(1024 * 1024)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** For formats that are text in UTF-8, and never empty. */
export const decodeText: Decode<string> = (bytes) => {
  const joined = bytes.joined(scratch)
  let text: string
  try {
    text = utf8.decode(joined)
  } catch {
    return { text: joined.toString(), ...refuse('malformed_json', null, 'The body is not valid UTF-8.') }
  }
  return text === '' ? refuse('malformed_json', null, 'The body is empty.') : { value: text }
}

/** For binary formats. Not in the scratch buffer, as the bytes are read when others may be in there. */
export const decodeBinary: Decode<Buffer> = (bytes) => ({ value: bytes.joined() })

/** The headers that belong to the answer for a body that was refused. */
export function refusedBodyHeaders(cause: Problem, { headers }: Pick<BodySource, 'headers'>): OutgoingHttpHeaders {
  const retry = retryHeaders(retryAfterOf(cause))
  switch (cause.code) {
    case 'request_timeout':
    case 'malformed_request':
      // A sender that is too slow, or sends too small pieces, may still be sending; after any other refusal the connection is fit for
      // the next request.
      return { ...retry, connection: 'close' }
    case 'unsupported_media_type':
      // RFC 9110, 12.5.3: only where the coding is at fault.
      return contentCoding(headers) === undefined ? { 'accept-encoding': ACCEPTED_CODINGS } : {}
    default:
      return retry
  }
}

/** A longer body is parsed and judged in slices of time; a shorter one takes some milliseconds at most, whatever it holds. */
export const isLong = (content: Content): boolean => content.length > 256 * 1024

/** The value of a body that is one JSON text. In a long one every number is as it was written (`parseExactly`). */
export function* parseJsonBody({ content: text, memory }: Body<string>): Steps<Checked<unknown>> {
  return isLong(text) ? yield* parseInPieces(text, memory) : parseJson(text)
}

/** The value of a JSON text; `what` is wrong where it is none. */
export function parseJson(text: string, what = 'The body'): Checked<unknown> {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return refuse('malformed_json', { reason: (error as Error).message }, `${what} is not valid JSON.`)
  }
}

/** Reads a body that is JSON and too small to be worth a budget. */
export type SmallJsonReader = (request: IncomingMessage) => Promise<Checked<unknown> | typeof GONE>

export function createSmallJsonReader({
  bytesMax,
  timeoutMs,
}: {
  bytesMax: number
  timeoutMs: number
}): SmallJsonReader {
  const grant: BodyGrant = { owner: '', wireBytesMax: bytesMax, inflatedBytesMax: bytesMax, share: NO_SHARE }
  const read = createBodyReader({
    decode: decodeText,
    timeoutMs,
    admit: ({ headers }) => {
      const cause = mediaProblem(headers)
      return cause === undefined ? { value: grant } : { problem: cause }
    },
  })
  return async (request) => {
    const body = await read(request)
    if (body === GONE || body.problem !== undefined) return body
    return runAtOnce(parseJsonBody(body.value))
  }
}
