import { type Dialect, failed, processed, type RefusedEntry, type Reply, unconfirmedBatch } from '../ingest/replies.ts'
import { createEventsCheck } from '../json-events/check.ts'
import { eventsFormat } from '../json-events/format.ts'
import { entryOf } from './entry.ts'

/** JSON of any kind, text, and the type that curl and syslog-ng send where they are told no other. */
const MEDIA_TYPE =
  /^(?:application\/(?:(?:[\w.-]+\+)?json|x-ndjson|ndjson|json-lines|jsonlines|x-jsonlines|jsonl|vnd\.serilog\.clef|x-www-form-urlencoded)|text\/(?:plain|json))[ \t]*(?:;|$)/i

/** The JSON of any logger, in every form that `eventsOf` reads. */
export const JSON_LOGS_FORMAT = eventsFormat(
  MEDIA_TYPE,
  'The content type is none that JSON is sent with. Send application/json, application/x-ndjson or text/plain, in UTF-8.',
)

const UNPROCESSABLE = 422

/**
 * How log shippers are answered. They act on the status alone: 503 has all of them send a request again. A batch of which an entry was
 * refused is not to be sent again, so it is 200, as some know no other success (Fluent Bit repeats 207, Serilog.Sinks.Http all that is not
 * 2xx, without end). `refused` is the status where there is nothing to accept.
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

/** How lists and lines are answered. */
export const SHIPPERS: Dialect = shippers(200)

/** How an entry that was sent alone is answered: of the statuses that end a request for good, syslog-ng goes on after few but this one. */
const SHIPPERS_OF_ONE: Dialect = shippers(UNPROCESSABLE)

/** Judges a body of entries. */
export const createJsonLogsCheck = createEventsCheck({
  endpoint: 'ingest/json',
  entryOf,
  dialectOf: ({ isBatch }) => (isBatch ? undefined : SHIPPERS_OF_ONE),
})
