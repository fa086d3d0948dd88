/** Bytes of a response that are not HTTP/1.1 (RFC 9112). */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}

export interface AnswerHead {
  readonly status: number
  /** By lower-case name, in order of arrival. */
  readonly headers: ReadonlyMap<string, readonly string[]>
}

/** How the end of a body is determined (RFC 9112, 6.3). */
export type Framing =
  | { readonly by: 'nothing' | 'chunks' | 'close' }
  | { readonly by: 'length'; readonly bytes: number }

const STATUS_LINE = /^HTTP\/1\.1 ([1-9]\d\d) [\t\x20-\x7e\x80-\xff]*$/
const FIELD_LINE =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*$/

/** Parses a status line and the field lines below it, without the empty line. Throws an `AnswerError`. */
export function parseHead(text: string): AnswerHead {
  const [first = '', ...lines] = text.split('\r\n')
  const status = STATUS_LINE.exec(first)?.[1]
  if (status === undefined) throw new AnswerError(`no status line: ${JSON.stringify(first.slice(0, 100))}`)
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const [, name = '', value = ''] = FIELD_LINE.exec(line) ?? []
    if (name === '') throw new AnswerError(`no header: ${JSON.stringify(line.slice(0, 100))}`)
    const values = headers.get(name.toLowerCase())
    if (values === undefined) headers.set(name.toLowerCase(), [value])
    else values.push(value)
  }
  return { status: Number(status), headers }
}

/** How the body below this head ends, given the request's method. Throws if the head is contradictory. */
export function framingOf({ status, headers }: AnswerHead, method: string): Framing {
  const lengths = headers.get('content-length') ?? []
  const codings = headers.get('transfer-encoding') ?? []
  if (lengths.length > 1) throw new AnswerError('more than one Content-Length')
  if (lengths.length > 0 && codings.length > 0) throw new AnswerError('Content-Length and Transfer-Encoding')
  // A server that rejects an unreadable request does not know that it was a HEAD: any body then ends with the connection.
  if (method === 'HEAD' && headers.get('connection')?.join() === 'close') return { by: 'close' }
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { by: 'nothing' }
  if (codings.length > 0) {
    if (codings.join() !== 'chunked') throw new AnswerError(`Transfer-Encoding: ${codings.join()}`)
    return { by: 'chunks' }
  }
  const [length] = lengths
  if (length === undefined) return { by: 'close' }
  if (!/^\d{1,15}$/.test(length)) throw new AnswerError(`Content-Length: ${length}`)
  return { by: 'length', bytes: Number(length) }
}
