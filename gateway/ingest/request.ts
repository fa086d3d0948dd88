import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { hasLostDigits, parseExactly, unlessTooDeep } from '../../shared/contract/exact-json.ts'
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
  /** The same text whenever the request is sent again, where it has an `Idempotency-Key`; else null. */
  readonly repeatKey: string | null
  readonly traceparent: string | undefined
  /** Whether all that the request says is certainly ASCII: escapes of JSON stand for other characters only where there is a "\u". */
  readonly isAscii: boolean
  /** Whether the request is so long that an entry of it may have far more bytes than these; else it is written before it is measured. */
  readonly mayExceed: (bytesMax: number) => boolean
  /** The body with every number as it was written; parsed anew, at most once. */
  readonly exactBody: () => unknown
}

/** The origin of a request with an `Idempotency-Key`: its ids are derived from this, its key and its body. */
export interface Origin {
  readonly team: string
  /** The path, with the target where the body does not name it: the same body for two targets is two requests. */
  readonly endpoint: string
}

export type RequestContextOf = (received: Received, origin: Origin) => RequestContext

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
      exactBody: onDemand(() => exactBodyOf(received)),
    }
    if (typeof key !== 'string' || key === '') return { ...common, idOf: nextId, repeatKey: null }
    const idOf = createDerivedIds([team, endpoint, key], content)
    return { ...common, idOf, repeatKey: idOf(0) }
  }
}

/** The present as a canonical timestamp; under load many requests share a millisecond, and its text. */
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

function onDemand<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A request whose body was read as JSON, or as what stands for it. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  /** With every number as it was written where the body `isExact`. */
  readonly json: unknown
  /** The body that the JSON was read from, decompressed. */
  readonly content: Content
  readonly contentBytes: number
}

/**
 * The body of a request with every number as it was written: that of a short one is parsed anew. One that is nested thousands of
 * levels deep cannot be parsed this way; it stays as it is.
 */
export const exactBodyOf = ({ content, json }: Received): unknown =>
  typeof content !== 'string' || isLong(content) ? json : unlessTooDeep(() => parseExactly(content), json)

/** Whether the body was read by a reader that keeps every number as it was written, and bounds how deep it is nested. */
export const isExact = (content: Content): boolean => typeof content !== 'string' || isLong(content)

/** Finds the entries of a request, as they were sent, by their places. */
export type SentEntries = (received: Received) => (index: number) => unknown

/** The entries of a body that is one JSON value; where JavaScript rounded a number of an entry, the body is read again, at most once. */
export const sentEntries =
  (entriesOf: (json: unknown) => readonly unknown[]): SentEntries =>
  (received) => {
    const entries = entriesOf(received.json)
    let exact: readonly unknown[] | undefined
    return (index) => {
      if (!isRounded(entries[index])) return entries[index]
      exact ??= entriesOf(exactBodyOf(received))
      return exact[index]
    }
  }

/** A refused entry may be nested deeper than can be looked through, and than could be read again. */
const isRounded = (entry: unknown): boolean => unlessTooDeep(() => hasLostDigits(entry), false)

/** The parameters in the address of a request. */
export function parametersOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start))
}

/** Has a parameter in the address stand for a header that the request does not have. */
export function setFromParameter(request: IncomingMessage, parameter: string, header: string): void {
  const { headers, url = '' } = request
  if (!url.includes('?') || (headers[header] ?? '') !== '') return
  headers[header] = parametersOf(request).get(parameter) ?? undefined
}
