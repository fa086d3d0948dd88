import { type Dialect, wholeBatches } from '../ingest/replies.ts'
import { createEventsCheck, eventsFormat } from '../json-events/check.ts'
import { entryOf } from './entry.ts'

const MEDIA_TYPE =
  /^(?:application\/(?:vnd\.serilog\.clef|json-lines|jsonlines|jsonl|x-jsonlines|x-ndjson|ndjson|json)|text\/plain)[ \t]*(?:;|$)/i

/** Serilog's Compact Log Event Format (CLEF), and the older JSON of Seq's clients; each event's members show which of the two it is. */
export const CLEF_FORMAT = eventsFormat(
  MEDIA_TYPE,
  'The content type is none that events are sent with. Send application/vnd.serilog.clef, application/json, application/x-ndjson, ' +
    'application/json-lines or text/plain, in UTF-8.',
)

/** Checks a body of events. */
export const createClefCheck = createEventsCheck({ endpoint: 'ingest/clef', entryOf })

const CREATED = 201

/** The answers for Seq's clients: the envelope, always with the strict status. */
export const SEQ: Dialect = wholeBatches(({ strictStatus }, refused) => (refused === 0 ? CREATED : strictStatus))
