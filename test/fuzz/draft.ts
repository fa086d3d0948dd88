import type { JsonNode } from './json-tree.ts'

/** The part of Sluice that a request addresses; in the embedded mode, all are one process. */
export type Role = 'gateway' | 'grpc' | 'views' | 'consumers'

/** The formats of Sluice's responses. */
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
  /** If the route may have been changed to another one. */
  | 'any'

/** A header line; every character stands for one byte. */
export type Header = readonly [name: string, value: string]

/** The entries that a request would store if accepted. */
export interface Stores {
  /** Included in every entry, followed by the entry's index. */
  readonly mark: string
  /** The number of entries; undefined if a mutation may have changed it. */
  readonly entries: number | undefined
}

export interface Chunks {
  /** The sizes of consecutive chunks in bytes; the last one repeats to the end. */
  readonly sizes: readonly number[]
  /** Appended to each chunk size. */
  readonly extension: string
}

/** A request under construction: everything can still be changed. */
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
  /** The body before serialisation: a JavaScript value, or a tree for what no value can represent. */
  readonly value?: unknown
  readonly json?: JsonNode | undefined
  readonly body?: Buffer | undefined
  readonly chunks?: Chunks | undefined
  readonly stores?: Stores | undefined
  /** The names of its mutations, for reports. */
  readonly mutations: readonly string[]
  /** Whether it may no longer be exactly one request; its responses are then not counted. */
  readonly torn: boolean
}

/** Text as in a head: UTF-8, one character per byte. */
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

/** A method and path as named in reports: without ids and keys. */
export const routeOf = (method: string, path: string): string =>
  `${method} ${path
    .replace(/\?.*$/s, '')
    .replace(/\/[0-9a-f]{8}-[^/]*/, '/:id')
    .replace(/(?<=^\/api\/flows\/)(?!statistics$)[^/]+/, ':correlationKey')
    .replace(/(?<=\/compare\/)[^/]+/, ':other')}`

const CRLF = Buffer.from('\r\n')
const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH']

/** The request as sent over the wire. */
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
  // A header of the draft replaces the correct one.
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
