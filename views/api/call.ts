import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
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
  /** The parameter of the path, decoded; empty where the path has none. */
  readonly subject: string
  /** The second parameter of the path, as `subject`. */
  readonly other: string
  readonly values: Values
  readonly names: Names
  /** Whether the request's key or session still opens the Team; for streams that outlive the first look. */
  readonly stillAuthorised: () => boolean
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Aborts when the client goes and, but for streams, when the time of the read is over. */
  readonly signal: AbortSignal
}

/** The services that every handler works with. */
export interface Tools {
  readonly clock: Clock
  readonly logger: Logger
  readonly store: LogStoreReader
  readonly registry: Registry
  readonly refusals: RefusalsReader
  readonly waits: LearntWaits
  readonly streams: Streams
  readonly gate: ReadGate
  /** Longest time of a read, in milliseconds; of a stream, of each page. */
  readonly deadlineMs: number
  readonly tail: TailSettings
}

export interface TailSettings {
  /** Time between two looks at the store. */
  readonly pollMs: number
  /** Time from a look that failed to the next one. */
  readonly retryMs: number
  /** Longest silence on a stream. */
  readonly heartbeatMs: number
  /** Unsent bytes of one stream beyond which its reader has to catch up. */
  readonly bufferedBytesMax: number
  /** Longest time that a reader may take to catch up before entries are skipped. */
  readonly patienceMs: number
}

/** A handler that makes the whole answer: the body as JSON text. */
export type Answer = (call: Call, tools: Tools) => Promise<string>

/** A handler that writes the answer as it goes. What it throws before the first byte is answered like any failure. */
export type Stream = (call: Call, tools: Tools) => Promise<void>

/** A path of the read API, for GET and HEAD. */
export type Route = {
  readonly path: string
  readonly parameters: readonly ParameterName[]
  /** Finds out for HEAD whether there is what the path names, and throws what GET would; left out: the path is always there. */
  readonly probe?: (call: Call, tools: Tools) => Promise<unknown>
} & (
  | { readonly answer: Answer }
  | { readonly stream: Stream; readonly headers: (call: Call, tools: Tools) => OutgoingHttpHeaders }
)
