import { type Dialect, failed, processed, type RefusedEntry, type Reply, unconfirmedBatch } from '../ingest/replies.ts'
import { createEventsCheck } from '../json-events/check.ts'
import { eventsFormat } from '../json-events/format.ts'
import { entryOf } from './entry.ts'

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
 * Answers log shippers, which act on the status alone: 503 makes all of them resend a request. A batch with a refused entry must not be
 * resent, so it is answered 200, as some know no other success (Fluent Bit repeats 207, Serilog.Sinks.Http anything but 2xx, endlessly).
 * `refusedStatus` is the status if an entry was refused.
 */
const shippers = (refusedStatus: number): Dialect => ({
  failed,
  processed: (total: number, refused: readonly RefusedEntry[]): Reply => {
    const unconfirmed = unconfirmedBatch(total, refused)
    if (unconfirmed !== undefined) return failed(unconfirmed)
    return { ...processed(total, refused), strictStatus: refused.length === 0 ? 200 : refusedStatus }
  },
  statusOf: ({ strictStatus }) => strictStatus,
})

/** The dialect for lists and lines. */
export const SHIPPERS: Dialect = shippers(200)

/** The dialect for an entry sent alone: 422 is one of the few statuses after which syslog-ng drops a request and goes on. */
const SHIPPERS_OF_ONE: Dialect = shippers(UNPROCESSABLE)

/** Checks a body of entries. */
export const createJsonLogsCheck = createEventsCheck({
  endpoint: 'ingest/json',
  entryOf,
  dialectOf: ({ isBatch }) => (isBatch ? undefined : SHIPPERS_OF_ONE),
})
