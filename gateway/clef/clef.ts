import { type Dialect, failed, processed, unconfirmedBatch } from '../ingest/replies.ts'
import { createEventsCheck } from '../json-events/check.ts'
import { eventsFormat } from '../json-events/format.ts'
import { entryOf } from './entry.ts'

const MEDIA_TYPE =
  /^(?:application\/(?:vnd\.serilog\.clef|json-lines|jsonlines|jsonl|x-jsonlines|x-ndjson|ndjson|json)|text\/plain)[ \t]*(?:;|$)/i

/** Serilog's compact log event format (CLEF), and the JSON that Seq's clients sent before it. The body tells the two apart. */
export const CLEF_FORMAT = eventsFormat(
  MEDIA_TYPE,
  'The content type is none that events are sent with. Send application/vnd.serilog.clef, application/json, application/x-ndjson, ' +
    'application/json-lines or text/plain, in UTF-8.',
)

/** Judges a body of events. */
export const createClefCheck = createEventsCheck({ endpoint: 'ingest/clef', entryOf })

const CREATED = 201

/** How Seq's clients are answered: in the envelope, with the status that tells, as they read nothing else. */
export const SEQ: Dialect = {
  failed,
  processed: (total, refused) => {
    // They send all of a batch again or nothing.
    const unconfirmed = unconfirmedBatch(total, refused)
    if (unconfirmed !== undefined) return failed(unconfirmed)
    const reply = processed(total, refused)
    return refused.length === 0 ? { ...reply, strictStatus: CREATED } : reply
  },
  statusOf: ({ strictStatus }) => strictStatus,
}
