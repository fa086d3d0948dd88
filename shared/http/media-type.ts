import type { IncomingHttpHeaders } from 'node:http'
import { type Problem, problem, problemSaying } from '../contract/errors.ts'

/** How a body is encoded on the wire (RFC 9110, 8.4). */
export type ContentCoding = 'identity' | 'gzip' | 'deflate' | 'br' | 'zstd'

/** The codings that a request body may have, in the form of an `Accept-Encoding` header. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd'

const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
])

/** The coding that a header names, identity if it names none; undefined for an unknown one, or for a list of codings. */
export function contentCoding(headers: IncomingHttpHeaders, header = 'content-encoding'): ContentCoding | undefined {
  const name = headers[header]
  if (name === undefined || name === '') return 'identity'
  return CODINGS.get(String(name).trim().toLowerCase())
}

/** Each run of whitespace follows another token: two adjacent runs could split a long one in as many ways as it has characters. */
const JSON_IN_UTF8 = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-?8"?[ \t]*)?(?:;[ \t]*)?$/i
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]+)/i

/**
 * The refusal of a body that these headers do not let be read as JSON in UTF-8; undefined if it is read, as it is without a type. `taken`
 * names the accepted types in the refusal.
 */
export function mediaProblem(headers: IncomingHttpHeaders, taken = 'application/json'): Problem | undefined {
  const type = headers['content-type']
  if (type !== undefined && type !== '' && !JSON_IN_UTF8.test(type)) {
    if (!JSON_TYPE.test(type)) return problem('unsupported_media_type', null, `The content type is not ${taken}.`)
    const charset = charsetProblem(type)
    if (charset !== undefined) return charset
  }
  return codingProblem(headers)
}

/** The refusal of a body whose content type names a charset other than UTF-8; undefined for any other. It fits every content type. */
export function charsetProblem(type: string): Problem | undefined {
  const charset = CHARSET.exec(type)?.[1]
  if (charset === undefined || /^utf-?8$/i.test(charset)) return undefined
  return problemSaying('unsupported_media_type', `The charset ${charset} is not UTF-8. Send the body in UTF-8.`)
}

/** The refusal of a body in an unknown content encoding; undefined for any other. It fits every content type. */
export function codingProblem(headers: IncomingHttpHeaders): Problem | undefined {
  if (contentCoding(headers) !== undefined) return undefined
  const message = `The content encoding ${quotedHeader(headers, 'content-encoding')} is not supported. Send the body plain, or compressed once with gzip, deflate, br or zstd.`
  return problemSaying('unsupported_media_type', message)
}

/** Maximum characters of a refused header that an answer quotes. */
const QUOTED_CHARACTERS_MAX = 32

/** A header as the message of a refusal quotes it. */
export const quotedHeader = (headers: IncomingHttpHeaders, name: string): string =>
  JSON.stringify(String(headers[name]).slice(0, QUOTED_CHARACTERS_MAX))
