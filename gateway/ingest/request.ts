import type { IncomingHttpHeaders } from 'node:http'
import {
  hasLostDigits,
  isExactNumber,
  numberText,
  parseExactly,
  unlessTooDeep,
} from '../../shared/contract/exact-json.ts'
import { validTraceparent } from '../../shared/contract/headers.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { type Content, isLong } from '../../shared/http/body.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Fields } from './fields.ts'
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
  /** Whether the body is so long that an entry may far exceed `bytesMax`; if not, entries are serialised before they are measured. */
  readonly mayExceed: (bytesMax: number) => boolean
  /** The body with every number as it was written; parsed again for this, at most once. */
  readonly exactBody: () => unknown
}

/** With an `Idempotency-Key`, the ids of entries are derived from this, the key and the body. */
export interface IdNamespace {
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
      exactBody: onDemand(() => exactBodyOf(received)),
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

/** A value that is made when it is first asked for. */
export function onDemand<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A request whose body was read as JSON, or as its equivalent in another format. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  /** Has every number as it was written if `isExact(content)`. */
  readonly json: unknown
  /** The body that the JSON was parsed from, decompressed. */
  readonly content: Content
  readonly contentBytes: number
}

/**
 * The body of a request with every number as it was written; a short one is parsed again for this. A body nested thousands of levels deep
 * cannot be parsed this way and stays as it is.
 */
const exactBodyOf = ({ content, json }: Received): unknown =>
  isExact(content) ? json : unlessTooDeep(() => parseExactly(String(content)), json)

/** Whether the body's reader keeps every number as it was written and limits the nesting depth. */
export const isExact = (content: Content): boolean => typeof content !== 'string' || isLong(content)

/** The fields of a body or of an entry in it, with numbers as `JSON.parse` reads them; those within the values of fields stay as they are. */
export function fieldsOf(object: Fields, { content }: Received): Fields {
  if (!isExact(content)) return object
  const numbers = Object.entries(object).filter(([, value]) => isExactNumber(value))
  const plain = numbers.map(([name, value]) => [name, Number(numberText(value))] as const)
  return numbers.length === 0 ? object : { ...object, ...Object.fromEntries(plain) }
}

/** Finds the entries of a request, as they were sent, by index. */
export type SentEntries = (received: Received) => (index: number) => unknown

/** The entries of a body that is one JSON value; if JavaScript rounded a number of an entry, the body is parsed again, at most once. */
export const sentEntries =
  (entriesOf: (json: unknown) => readonly unknown[]): SentEntries =>
  (received) => {
    const entries = entriesOf(received.json)
    const exactEntries = onDemand(() => entriesOf(exactBodyOf(received)))
    return (index) => (isRounded(entries[index]) ? exactEntries() : entries)[index]
  }

/** A refused entry may be nested too deep for a recursive search; it then stays as JavaScript read it. */
const isRounded = (entry: unknown): boolean => unlessTooDeep(() => hasLostDigits(entry), false)

/** Text that is not percent-encoded UTF-8 is taken literally; the refusal of an unknown Project lists those there are. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
