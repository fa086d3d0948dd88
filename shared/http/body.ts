import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { type Checked, type Problem, refuse } from '../contract/errors.ts'
import { hasLostDigits, unlessTooDeep } from '../contract/exact-json.ts'
import { REFUSED_BODY_BYTES_MAX } from '../contract/refusals.ts'
import type { ByteShare } from '../runtime/byte-budget.ts'
import type { Steps } from '../runtime/cooperative.ts'
import { createDeadlines } from '../runtime/deadlines.ts'
import { retryAfterOf, retryHeaders } from './answer.ts'
import { BodyBytes, NO_ROOM, RequestMemory } from './body-bytes.ts'
import { createInflate, type Inflate } from './inflate.ts'
import { createValueHold, parseInPieces, refuseText } from './json-pieces.ts'
import { ACCEPTED_CODINGS, type ContentCoding, contentCoding, mediaProblem } from './media-type.ts'

/** A request with what is needed to read its body, in any version of HTTP. */
export interface BodySource {
  readonly headers: IncomingHttpHeaders
  /** Whether the request was cut off; HTTP/2 still lets its body end. */
  readonly aborted?: boolean
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  destroy(): unknown
}

/** How much of a body is read, depending on its sender. */
export interface BodyGrant {
  /** The sender, as far as the headers tell. */
  readonly owner: string
  /** Maximum bytes as sent. */
  readonly wireBytesMax: number
  /** Maximum bytes after decompression. */
  readonly inflatedBytesMax: number
  /** The refusal of a larger body; omitted: `payload_too_large`. */
  readonly beyond?: Problem
  /** Limits the bytes that bodies hold at once, as sent and inflated; a body that finds no room is refused. */
  readonly share: ByteShare
}

/** The sender closed the connection before its body ended: there is nobody to answer. */
export const GONE = Symbol('gone')

/** The content of a body before it is parsed: text for formats in UTF-8, bytes for binary ones. */
export type Content = string | Buffer

/** A body, decompressed. */
export interface Body<Kind extends Content = Content> {
  readonly owner: string
  readonly content: Kind
  /** The bytes of the content; for UTF-8 text, as many as its characters if all of them are ASCII. */
  readonly contentBytes: number
  /** The memory of the content, to which that of its values is added; to be released when both are dropped. */
  readonly memory: Pick<RequestMemory, 'hold' | 'release'>
}

/** With a problem, `text` is the beginning of the text that was read, with U+FFFD for bytes that are not UTF-8. */
type Read<Value> = Checked<Value> & { readonly text?: string }

/** The body of a request, or why it was not read. */
export type ReadBody<Kind extends Content = string> = Read<Body<Kind>> | typeof GONE

/** Turns the bytes of a body into its content; the bytes are then dropped. */
type Decode<Kind extends Content> = (bytes: BodyBytes) => Read<Kind>

/** Strips the framing of its transport from a body, and returns the coding of the rest. */
type Unwrap = (bytes: BodyBytes, headers: IncomingHttpHeaders) => Checked<ContentCoding>

/** Reads the body of a request, once. */
export type BodyReader<Kind extends Content = string, Source extends BodySource = IncomingMessage> = (
  request: Source,
) => Promise<ReadBody<Kind>>

export interface BodyReaderOptions<Kind extends Content = string, Source extends BodySource = IncomingMessage> {
  /** The reason not to read the body of this request; undefined if it is read. */
  readonly refusal: (request: Source) => Problem | undefined
  /** Omitted: the body is the content, encoded as Content-Encoding says. */
  readonly unwrap?: Unwrap
  readonly decode: Decode<Kind>
  /** Decides from the headers how much of a request is read; a problem refuses it before anything is read. */
  readonly grant: (request: Source) => Checked<BodyGrant>
  /** Maximum time from the call to the last byte. */
  readonly timeoutMs: number
  readonly inflate?: Inflate
}

const unwrapped: Unwrap = (_bytes, headers) => ({ value: contentCoding(headers) ?? 'identity' })

/** Maximum bytes of a refused body that are still read, so that its sender gets to the answer; then the connection is cut. */
const READ_ON_BYTES_MAX = 64 * 1024 * 1024

/** Each piece of a body costs time, however short it is: this many are free; beyond them, each must bring this many bytes on average. */
export const PIECES_FREE = 2_048
export const PIECE_BYTES_MIN = 64

/** Whether a body arrives in more pieces than its bytes allow. */
export const isChopped = (pieces: number, bytes: number, free = PIECES_FREE): boolean =>
  pieces > free + bytes / PIECE_BYTES_MIN

export const refuseForPieces = () =>
  refuse(
    'malformed_request',
    { pieceBytesMin: PIECE_BYTES_MIN },
    `The body comes in too many small pieces: send chunks of at least ${PIECE_BYTES_MIN} bytes.`,
  )

/** A body as received. */
type Wire = Checked<BodyBytes> | typeof GONE

/**
 * Creates a reader of bodies. Each body is read once, and no more of it is kept than its grant allows. A refused body is still read and
 * discarded until it ends or the time is up: its sender can then read the answer and reuse the connection, where a closed one would be
 * reset.
 */
export function createBodyReader<Kind extends Content, Source extends BodySource = IncomingMessage>({
  refusal,
  unwrap = unwrapped,
  decode,
  grant: grantOf,
  timeoutMs,
  inflate = createInflate(),
}: BodyReaderOptions<Kind, Source>): BodyReader<Kind, Source> {
  const deadlines = createDeadlines()

  /** Calls `settle` once. */
  function readWire(request: BodySource, grant: Checked<BodyGrant>, settle: (wire: Wire) => void): void {
    const { wireBytesMax = 0, share = NO_SHARE } = grant.value ?? {}
    // Cleared at the end: the request lives until its answer, and everything that it refers to would live as long.
    let reading: { readonly bytes: BodyBytes; readonly settle: (wire: Wire) => void } | undefined
    reading = { bytes: new BodyBytes(new RequestMemory(share)), settle }
    let size = 0
    let pieces = 0
    const end = (wire: Wire): void => {
      const ended = reading
      if (ended === undefined) return
      reading = undefined
      if (wire === GONE || wire.problem !== undefined) ended.bytes.memory.release()
      ended.settle(wire)
    }
    const expire = (): void => {
      if (reading === undefined) request.destroy()
      else end(refuse('request_timeout', null, `The body did not arrive in time, within ${timeoutMs} ms.`))
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
      else if (!reading.bytes.add(chunk, isWhole(request, size))) end(NO_ROOM)
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

  // Not async, as an async frame would keep the body as sent alive until it is inflated.
  function bodyOf(
    wire: Wire,
    grant: Checked<BodyGrant>,
    request: BodySource,
  ): ReadBody<Kind> | Promise<ReadBody<Kind>> {
    if (wire === GONE || wire.problem !== undefined) return wire
    if (grant.value === undefined) return grant
    const { value: bytes } = wire
    const { value: coding, problem } = unwrap(bytes, request.headers)
    if (problem !== undefined) return refused({ problem }, bytes)
    const { owner, inflatedBytesMax: bytesMax } = grant.value
    if (coding === 'identity' || bytes.size === 0) return decoded(bytes, owner)
    const { memory } = bytes
    const beyond = tooLarge(grant.value, bytesMax, ' after decompression')
    return inflate(bytes.joined(), coding, { owner, memory, bytesMax, tooLarge: beyond })
      .finally(() => bytes.release())
      .then((inflated) => (inflated.problem === undefined ? decoded(inflated.value, owner) : refused(inflated, bytes)))
  }

  function decoded(bytes: BodyBytes, owner: string): ReadBody<Kind> {
    const content = decode(bytes)
    if (content.problem !== undefined) return refused(content, bytes)
    bytes.clear()
    return { value: { owner, content: content.value, contentBytes: bytes.size, memory: bytes.memory } }
  }

  // One promise per request: each costs as much as a check.
  return (request) =>
    new Promise((resolve, reject) => {
      const cause = refusal(request)
      const grant = cause === undefined ? grantOf(request) : { problem: cause }
      readWire(request, grant, (wire) => {
        try {
          resolve(bodyOf(wire, grant, request))
        } catch (error) {
          reject(error)
        }
      })
    })
}

/** The refusal of a body, whose memory is returned. */
function refused<Refusal extends Read<never>>(refusal: Refusal, { memory }: BodyBytes): Refusal {
  memory.release()
  return refusal
}

const NO_SHARE: ByteShare = { held: 0, fits: () => true, take: () => undefined, give: () => undefined }

const tooLarge = (grant: BodyGrant | undefined, limit: number, where = ''): Checked<never> =>
  grant?.beyond === undefined
    ? refuse('payload_too_large', { limit }, `The body has more than ${limit} bytes${where}.`)
    : { problem: grant.beyond }

/**
 * Whether these are all bytes of a body. A complete body takes no memory beyond this event loop turn, so small requests are served even
 * while slow bodies hold the budget.
 */
const isWhole = ({ headers }: BodySource, size: number): boolean => Number(headers['content-length']) === size

/** The buffer in which the bytes of a body are joined, if they fit: a buffer per body would keep the garbage collector running all the time. */
const scratch = Buffer.allocUnsafeSlow(1024 * 1024)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes non-empty text in UTF-8. */
export const decodeText: Decode<string> = (bytes) => {
  const joined = bytes.joined(scratch)
  let text: string
  try {
    text = utf8.decode(joined)
  } catch {
    const refusal = isGzip(joined) ? UNNAMED_GZIP : refuse('malformed_json', null, 'The body is not valid UTF-8.')
    // A note of a refused body keeps no more than this; to decode 20 MB of other bytes would take half a second.
    return { text: joined.toString('utf8', 0, REFUSED_BODY_BYTES_MAX + 1), ...refusal }
  }
  return text === '' ? refuse('malformed_json', null, 'The body is empty.') : { value: text }
}

/** Whether bytes begin as gzip does (RFC 1952, 2.3.1); senders often forget the header that says so. */
const isGzip = ([first, second]: Buffer): boolean => first === 0x1f && second === 0x8b

const UNNAMED_GZIP = refuse('malformed_body', null, 'The body is in gzip, which Content-Encoding does not say.')

/**
 * Keeps Protobuf, which never begins as gzip does, as it is; not in the scratch buffer, as it is read later, when other bodies may be in
 * there.
 */
export const decodeBinary: Decode<Buffer> = (bytes) => {
  const content = bytes.lent()
  return isGzip(content) ? UNNAMED_GZIP : { value: content }
}

/** The extra headers of the answer to a refused body. */
export function refusedBodyHeaders(cause: Problem, { headers }: Pick<BodySource, 'headers'>): OutgoingHttpHeaders {
  const retry = retryHeaders(retryAfterOf(cause))
  switch (cause.code) {
    case 'request_timeout':
    case 'malformed_request':
      // A sender that is too slow, or sends too small pieces, may still be sending; after any other refusal the connection can be reused.
      return { ...retry, connection: 'close' }
    case 'unsupported_media_type':
      // RFC 9110, 12.5.3: only if the coding is the reason.
      return contentCoding(headers) === undefined ? { 'accept-encoding': ACCEPTED_CODINGS } : {}
    default:
      return retry
  }
}

/** A longer body is parsed and checked in slices of time; a shorter one takes a few milliseconds at most, whatever it holds. */
export const isLong = (content: Content): boolean => content.length > 256 * 1024

/** The value of a body that is one JSON text, with its numbers as `parseKeepingDigits` keeps them. */
export function* parseJsonBody({ content: text, memory }: Body<string>): Steps<Checked<unknown>> {
  return isLong(text) ? yield* parseInPieces(text, createValueHold(memory)) : yield* parseShortJson(text)
}

/** Characters of a short text that are parsed per step where digits would be lost, as that takes a hundred times as long. */
const EXACT_PIECE_CHARACTERS = 8 * 1024

/** The value of a JSON text that is not long (`isLong`), which needs no memory of the budget. A text beyond `JSON_LIMITS` loses digits. */
export function* parseShortJson(text: string): Steps<Checked<unknown>> {
  const parsed = parseJson(text)
  if (!unlessTooDeep(() => hasLostDigits(parsed.value), false)) return parsed
  const exact = yield* parseInPieces(text, () => undefined, EXACT_PIECE_CHARACTERS)
  return exact.problem === undefined ? exact : parsed
}

function parseJson(text: string): Checked<unknown> {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return refuseText((error as Error).message)
  }
}

/** Reads a JSON body that is too small to need a budget. */
type SmallJsonReader = (request: IncomingMessage) => Promise<Checked<unknown> | typeof GONE>

export function createSmallJsonReader(limits: { bytesMax: number; timeoutMs: number }): SmallJsonReader {
  const { bytesMax, timeoutMs } = limits
  const granted: BodyGrant = { owner: '', wireBytesMax: bytesMax, inflatedBytesMax: bytesMax, share: NO_SHARE }
  const read = createBodyReader({
    refusal: ({ headers }) => mediaProblem(headers),
    decode: decodeText,
    grant: () => ({ value: granted }),
    timeoutMs,
  })
  return async (request) => {
    const body = await read(request)
    if (body === GONE || body.problem !== undefined) return body
    return parseJson(body.value.content)
  }
}
