import { inOneStep } from '../../shared/runtime/cooperative.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'
import { type Dialect, wholeBatches } from '../ingest/replies.ts'
import { createEventsCheck, eventsFormat } from '../json-events/check.ts'
import type { SentEvents } from '../json-events/events.ts'
import { entryOf, placesIn } from './entry.ts'

const MEDIA_TYPE =
  /^(?:application\/(?:vnd\.serilog\.clef|json-lines|jsonlines|jsonl|x-jsonlines|x-ndjson|ndjson|json)|text\/plain)[ \t]*(?:;|$)/i

const EVENTS_FORMAT = eventsFormat(
  MEDIA_TYPE,
  'The content type is none that events are sent with. Send application/vnd.serilog.clef, application/json, application/x-ndjson, ' +
    'application/json-lines or text/plain, in UTF-8.',
)

const NO_EVENTS: SentEvents = { events: [], isBatch: true }

/**
 * Serilog's Compact Log Event Format (CLEF), and the older JSON of Seq's clients; each event's members show which of the two it is. An empty
 * body has no events: Serilog's sinks send one every two minutes while nothing is logged, to ask for their minimum level, and a refusal
 * counts as a failure of the connection, after which they wait longer with the next events and drop some in the end.
 */
export const CLEF_FORMAT: BodyFormat = {
  ...EVENTS_FORMAT,
  decode: (bytes) => (bytes.size === 0 ? { value: '' } : EVENTS_FORMAT.decode(bytes)),
  parse: (body) => (body.content === '' ? inOneStep(() => ({ value: NO_EVENTS })) : EVENTS_FORMAT.parse(body)),
}

export const createClefCheck = createEventsCheck({ endpoint: 'ingest/clef', entryOf, placesIn })

const CREATED = 201

/** The answers for Seq's clients: the envelope, always with the strict status. */
export const SEQ: Dialect = wholeBatches(({ strictStatus }, refused) => (refused === 0 ? CREATED : strictStatus))
