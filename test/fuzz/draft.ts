import type { JsonNode } from './json-tree.ts'

/** The part of Sluice that a request is for; all of them are one process in the embedded mode. */
export type Role = 'gateway' | 'grpc' | 'views' | 'consumers'

/** The forms in which Sluice answers. */
export type Dialect =
  | 'ingestion'
  | 'otlp'
  | 'seq'
  | 'shipper'
  | 'view'
  | 'tail'
  | 'export'
  | 'page'
  | 'openapi'
  | 'metrics'
  | 'health'
  /** Where the route may have become another one. */
  | 'any'

/** A line of the head; every character stands for one byte. */
export type Header = readonly [name: string, value: string]

/** The entries that a request would store if it were accepted. */
export interface Stores {
  /** Stands in every entry, with a place of its own behind it. */
  readonly mark: string
  /** How many entries the request has; undefined where a mutation may have changed that. */
  readonly entries: number | undefined
}

export interface Chunks {
  /** Bytes of each chunk in turn; the last size goes on to the end. */
  readonly sizes: readonly number[]
  /** Stands after each size. */
  readonly extension: string
}

/** A request while it is made up: everything can still be changed. */
export interface Draft {
  readonly role: Role
  /** Its name in reports, such as `POST /api/ExternalLogs`. */
  readonly route: string
  readonly dialect: Dialect
  readonly method: string
  /** Every character stands for one byte. */
  readonly target: string
  readonly version: string
  readonly headers: readonly Header[]
  /** The body until it is bytes: a value of JavaScript, or a tree where no value can hold it. */
  readonly value?: unknown
  readonly json?: JsonNode | undefined
  readonly body?: Buffer | undefined
  readonly chunks?: Chunks | undefined
  readonly stores?: Stores | undefined
  /** The names of its mutations, for reports. */
  readonly mutations: readonly string[]
  /** Whether it may have become something else than exactly one request: its answers are then not counted. */
  readonly torn: boolean
}

/** Text as a head holds it: UTF-8, one character a byte. */
export const inBytes = (text: string): string => Buffer.from(text).toString('latin1')

export const mutation = (draft: Draft, name: string, change: Partial<Draft>): Draft => ({
  ...draft,
  ...change,
  mutations: [...draft.mutations, name],
})

export const withHeader = ({ headers }: Draft, name: string, value: string): readonly Header[] => [
  ...headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()),
  [name, value],
]

/** A method and a path as reports name them: without what stands for one entry or one flow. */
export const routeOf = (method: string, path: string): string =>
  `${method} ${path
    .replace(/\?.*$/s, '')
    .replace(/\/[0-9a-f]{8}-[^/]*/, '/:id')
    .replace(/(?<=^\/api\/flows\/)(?!statistics$)[^/]+/, ':correlationKey')
    .replace(/(?<=\/compare\/)[^/]+/, ':other')}`

const CRLF = Buffer.from('\r\n')
const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH']

/** The request as it goes over the wire. */
export function wireOf(draft: Draft): Buffer {
  const { method, target, version, headers, body, chunks } = draft
  const framing: readonly Header[] =
    body === undefined
      ? METHODS_WITH_BODY.includes(method)
        ? [['Content-Length', '0']]
        : []
      : chunks === undefined
        ? [['Content-Length', String(body.length)]]
        : [['Transfer-Encoding', 'chunked']]
  // A header of the draft stands in the place of the right one.
  const own = new Set(headers.map(([name]) => name.toLowerCase()))
  const all = [...headers, ...framing.filter(([name]) => !own.has(name.toLowerCase()))]
  const head = `${method} ${target} ${version}\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  const start = Buffer.from(head, 'latin1')
  if (body === undefined) return start
  return Buffer.concat([start, ...(chunks === undefined ? [body] : chunked(body, chunks))])
}

function chunked(body: Buffer, { sizes, extension }: Chunks): Buffer[] {
  const parts: Buffer[] = []
  let at = 0
  for (let number = 0; at < body.length; number += 1) {
    const size = Math.max(1, sizes[Math.min(number, sizes.length - 1)] ?? body.length)
    const piece = body.subarray(at, at + size)
    parts.push(Buffer.from(`${piece.length.toString(16)}${extension}\r\n`, 'latin1'), piece, CRLF)
    at += size
  }
  return [...parts, Buffer.from('0\r\n\r\n')]
}
