import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { NamedSchema } from '../../shared/contract/json-schema.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { CoreServices } from '../../shared/role.ts'
import type { RefusalsReader } from '../refusals/ring.ts'
import type { LearntWaits } from './flow-waits.ts'
import type { Names } from './names.ts'
import type { ParameterName, Values } from './parameters.ts'
import type { ReadGate } from './read-gate.ts'
import type { Streams } from './streams.ts'

/** One authenticated request with its parameters read. */
export interface Call {
  /** The id of the Team that may see its own entries, and nothing else. */
  readonly team: string
  /** The decoded path parameter; empty when the path has none. */
  readonly subject: string
  /** The second path parameter, decoded like `subject`. */
  readonly other: string
  readonly values: Values
  readonly names: Names
  /** Whether the request's key or session is still valid for the Team; long-lived streams check it repeatedly. */
  readonly stillAuthorised: () => boolean
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Aborts when the client disconnects and, except for streams, when the read's deadline passes. */
  readonly signal: AbortSignal
}

/** A call at a path of the entries of one kind. */
export interface EntryCall extends Call {
  readonly kind: EntryKind
}

/** The services that every handler works with. */
export interface Tools extends Pick<CoreServices, 'registry' | 'clock' | 'logger'> {
  readonly store: LogStoreReader
  readonly refusals: RefusalsReader
  readonly waits: LearntWaits
  readonly streams: Streams
  readonly gate: ReadGate
  /** Time limit of a read, in milliseconds; for a stream, of each page. */
  readonly deadlineMs: number
  readonly tail: TailSettings
}

export interface TailSettings {
  /** Milliseconds between two polls of the store. */
  readonly pollMs: number
  /** Milliseconds to wait after a failed poll. */
  readonly retryMs: number
  /** Longest silence on a stream, in milliseconds. */
  readonly heartbeatMs: number
  /** Unsent bytes of one stream beyond which its reader has to catch up. */
  readonly bufferedBytesMax: number
  /** Time a reader has to catch up before entries are skipped, in milliseconds. */
  readonly patienceMs: number
}

/** A handler that makes the whole answer: the data, or their JSON text if that was measured piece by piece. */
export type Answer = (call: Call, tools: Tools) => Promise<object | string>
export type EntryAnswer = (call: EntryCall, tools: Tools) => Promise<object | string>

/** A handler that streams its response. An error thrown before the first byte is answered like any failure. */
export type Stream = (call: Call, tools: Tools) => Promise<void>
export type EntryStream = (call: EntryCall, tools: Tools) => Promise<void>

/** A path of the read API, for GET and HEAD. */
export type Route = {
  readonly path: string
  /** Its description for the OpenAPI document; tails and exports have no schema, as their answers are not in JSON. */
  readonly purpose: readonly [operationId: string, summary: string, schema?: NamedSchema]
  readonly parameters: readonly ParameterName[]
  /** For HEAD: checks that the path's subject exists, and throws what GET would. Omitted for paths that always exist. */
  readonly probe?: (call: Call, tools: Tools) => Promise<unknown>
} & (
  | { readonly answer: Answer }
  | { readonly stream: Stream; readonly headers: (call: Call, tools: Tools) => OutgoingHttpHeaders }
)
