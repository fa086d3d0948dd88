import type { IncomingHttpHeaders } from 'node:http'

/** A request whose body was read as JSON. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  /** In the JSON of a long body (`isLong`) every number is as it was written. */
  readonly json: unknown
  /** The body that the JSON was read from, decompressed. */
  readonly text: string
  /** Its bytes in UTF-8. */
  readonly textBytes: number
}
