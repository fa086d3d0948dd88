import type { IncomingMessage } from 'node:http'
import { type Problem, problem } from '../../shared/contract/errors.ts'
import { decodeText } from '../../shared/http/body.ts'
import { charsetProblem, codingProblem } from '../../shared/http/media-type.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'
import { type Dialect, failed, processed, unconfirmedBatch } from '../ingest/replies.ts'
import { createEventsCheck } from '../json-events/check.ts'
import { eventsOf } from '../json-events/events.ts'
import { entryOf } from './entry.ts'

const MEDIA_TYPE =
  /^(?:application\/(?:vnd\.serilog\.clef|json-lines|jsonlines|jsonl|x-jsonlines|x-ndjson|ndjson|json)|text\/plain)[ \t]*(?:;|$)/i

const TYPES =
  'Send application/vnd.serilog.clef, application/json, application/x-ndjson, application/json-lines or text/plain, in UTF-8.'

/** Serilog's compact log event format (CLEF), and the JSON that Seq's clients sent before it. The body tells the two apart. */
export const CLEF_FORMAT: BodyFormat = {
  refusal: mediaRefusal,
  decode: decodeText,
  parse: eventsOf,
}

function mediaRefusal({ headers }: IncomingMessage): Problem | undefined {
  const type = headers['content-type'] ?? ''
  if (type !== '') {
    if (!MEDIA_TYPE.test(type))
      return {
        ...problem('unsupported_media_type'),
        message: `The content type is none that events are sent with. ${TYPES}`,
      }
    const charset = charsetProblem(type)
    if (charset !== undefined) return charset
  }
  return codingProblem(headers)
}

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
