import { type Dialect, wholeBatches } from '../ingest/replies.ts'
import { createEventsCheck, eventsFormat } from '../json-events/check.ts'
import { entryOf, placesIn } from './entry.ts'

/** Any JSON type, text, and the default type of curl and syslog-ng. */
const MEDIA_TYPE =
  /^(?:application\/(?:(?:[\w.-]+\+)?json|x-ndjson|ndjson|json-lines|jsonlines|x-jsonlines|jsonl|vnd\.serilog\.clef|x-www-form-urlencoded)|text\/(?:plain|json))[ \t]*(?:;|$)/i

/** The JSON of any logger, in every form that `eventsOf` reads. */
export const JSON_LOGS_FORMAT = eventsFormat(
  MEDIA_TYPE,
  'The content type is none that JSON is sent with. Send application/json, application/x-ndjson or text/plain, in UTF-8.',
)

const UNPROCESSABLE = 422

/**
 * The dialect of log shippers for lists and lines: 503 makes all of them resend a request. A batch with a refused entry must not be resent,
 * so it is answered 200, as some know no other success (Fluent Bit repeats 207, Serilog.Sinks.Http anything but 2xx, endlessly).
 */
export const SHIPPERS: Dialect = wholeBatches(() => 200)

/** The dialect for an entry sent alone: 422 is one of the few statuses after which syslog-ng drops a request and goes on. */
const SHIPPERS_OF_ONE: Dialect = wholeBatches((_reply, refused) => (refused === 0 ? 200 : UNPROCESSABLE))

export const createJsonLogsCheck = createEventsCheck({
  endpoint: 'ingest/json',
  entryOf,
  placesIn,
  dialectOf: ({ isBatch }) => (isBatch ? undefined : SHIPPERS_OF_ONE),
})
