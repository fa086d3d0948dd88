// Written by `npm run docs` from gateway/schemas/requests.ts.

/** The log levels, from the least to the most severe. */
export type Level = 'Trace' | 'Debug' | 'Information' | 'Warning' | 'Error' | 'Critical'

/** One application log. */
export interface ApplicationLog {
  /** Usually the name of the logger or class. At most 4096 bytes in UTF-8. */
  readonly categoryName: string
  /** The logging framework's number of the event. 0 where it is left out. */
  readonly eventId?: number | null | undefined
  /** The logging framework's name of the event. At most 4096 bytes in UTF-8. */
  readonly eventName?: string | null | undefined
  /** The log message. */
  readonly message: string
  /** One of Trace, Debug, Information, Warning, Error, Critical, in any case. */
  readonly level: Level | Lowercase<Level>
  /** An exception as text, with its stack trace. */
  readonly exception?: string | null | undefined
  /** Structured data of the logging scope, at most 64 levels deep. */
  readonly scopeData?: Readonly<Record<string, unknown>> | null | undefined
  /** Groups the entries of one flow. At most 512 bytes in UTF-8. */
  readonly correlationKey?: string | null | undefined
  /** The environment that the entry comes from. At most 256 bytes in UTF-8. Development where it is left out. */
  readonly environment?: string | null | undefined
  /** The time of the entry: ISO 8601, from 1970 to 2261, up to nanoseconds; UTC without an offset. Left out: the time of receipt. */
  readonly timestamp?: string | null | undefined
}

/** One event log. */
export interface EventLog {
  /** The identifier of an Event or a Step; case matters. At most 1024 bytes in UTF-8. */
  readonly uniqueIdentifier: string
  /** The log content: plain text, or JSON serialised to a string. */
  readonly payload: string
  /** One of Trace, Debug, Information, Warning, Error, Critical, in any case. */
  readonly level: Level | Lowercase<Level>
  /** Groups the entries of one flow. At most 512 bytes in UTF-8. */
  readonly correlationKey?: string | null | undefined
  /** The environment that the entry comes from. At most 256 bytes in UTF-8. Development where it is left out. */
  readonly environment?: string | null | undefined
  /** The time of the entry: ISO 8601, from 1970 to 2261, up to nanoseconds; UTC without an offset. Left out: the time of receipt. */
  readonly timestamp?: string | null | undefined
}
