import type { IncomingHttpHeaders } from 'node:http'
import { validTraceparent } from '../../shared/contract/headers.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { type Content, isLong } from '../../shared/http/body.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { createDerivedIds, createIdSource } from './ids.ts'

/** The properties that all entries of one request share. */
export interface RequestContext {
  /** Canonical timestamp. */
  readonly receivedAt: string
  /** The id of the entry at this place of the request. */
  readonly idOf: (index: number) => string
  /** A text that is the same each time a request with an `Idempotency-Key` is sent; null without one. */
  readonly repeatKey: string | null
  readonly traceparent: string | undefined
  /** Whether the whole request is certainly ASCII: in JSON, only an escape with "\u" can stand for another character. */
  readonly isAscii: boolean
  /** Whether the entries are in another format; `inSendersNames` then looks for the largest field of one that is too large. */
  readonly isForeign?: boolean
  /** Whether the body is so long that an entry may far exceed `bytesMax`; if not, entries are serialised before they are measured. */
  readonly mayExceed: (bytesMax: number) => boolean
}

/** With an `Idempotency-Key`, the ids of entries are derived from this, the key and the body. */
interface IdNamespace {
  readonly team: string
  /** The path, with the target if the body does not name it: the same body for two targets is two requests. */
  readonly endpoint: string
}

export type RequestContextOf = (received: Received, namespace: IdNamespace) => RequestContext

export function createRequestContexts(clock: Clock): RequestContextOf {
  const nextId = createIdSource(clock)
  const stamp = createStamp(clock)
  return (received, { team, endpoint }) => {
    const { headers, content, contentBytes } = received
    const key = headers['idempotency-key']
    const common = {
      receivedAt: stamp(),
      traceparent: validTraceparent(headers['traceparent']),
      mayExceed: (bytesMax: number) => isLong(content) && contentBytes > bytesMax,
      isAscii: typeof content === 'string' && content.length === contentBytes && !content.includes('\\u'),
    }
    if (typeof key !== 'string' || key === '') return { ...common, idOf: nextId, repeatKey: null }
    const idOf = createDerivedIds([team, endpoint, key], content)
    return { ...common, idOf, repeatKey: idOf(0) }
  }
}

/** The current time as a canonical timestamp, cached because under load many requests share a millisecond. */
function createStamp(clock: Clock): () => string {
  let epochMs = Number.NaN
  let text = ''
  return () => {
    const now = clock.now()
    if (now !== epochMs) text = timestampOf(now)
    epochMs = now
    return text
  }
}

/** A request whose body was read as JSON, or as its equivalent in another format. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  /** Its numbers are those of `parseKeepingDigits`. */
  readonly json: unknown
  /** The body that the JSON was parsed from, decompressed. */
  readonly content: Content
  readonly contentBytes: number
}

/** Finds the entries of a request, as they were sent, by index. */
export type SentEntries = (received: Received) => (index: number) => unknown

/** Text that is not percent-encoded UTF-8 is taken literally; the refusal of an unknown Project lists those there are. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
