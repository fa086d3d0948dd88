import { isUtf8 } from 'node:buffer'
import type { ValidateFunction } from 'ajv'
import { ajv } from '../shared/contract/ajv.ts'
import { fitsDepth } from '../shared/contract/exact-json.ts'
import type { ApplicationLogRecord, EntryRecord, EventLogRecord } from '../shared/contract/records.ts'
import { APPLICATION_LOG_SCHEMA, EVENT_LOG_SCHEMA } from '../shared/contract/records.ts'
import { type JournalRecord, LOST_VALUE } from '../shared/journal/journal.ts'
import { type DeadLetter, deadLetter } from './dead-letters.ts'

/** Maximum bytes of a record's value: the highest that MAX_ENTRY_BYTES may be set to. */
export const RECORD_BYTES_MAX = 10_000_000
/** Maximum levels of nesting, including the record itself: more than the gateway accepts, fewer than the stack allows. */
export const RECORD_LEVELS_MAX = 100

/** A record's value as an entry, with the text it was read from. */
type Decoded<Entry> = { readonly outcome: 'decoded'; readonly entry: Entry; readonly source: string } | DeadLetter

export type Decode<Entry> = (record: JournalRecord) => Decoded<Entry>

/** Reads a record of the event logs topic. Never throws. */
export const decodeEventLog: Decode<EventLogRecord> = decoder('event', ajv.compile<EventLogRecord>(EVENT_LOG_SCHEMA))

/** Reads a record of the application logs topic. Never throws. */
export const decodeApplicationLog: Decode<ApplicationLogRecord> = decoder(
  'application',
  ajv.compile<ApplicationLogRecord>(APPLICATION_LOG_SCHEMA),
)

function decoder<Entry extends EntryRecord>(kind: Entry['kind'], validate: ValidateFunction<Entry>): Decode<Entry> {
  return ({ value }) => {
    if (value === null) return deadLetter('empty_value', 'the value is null')
    if (value.length === 0) return deadLetter('empty_value', 'the value has no bytes')
    if (value.length > RECORD_BYTES_MAX) {
      return deadLetter('too_large', `the value has ${value.length} bytes, more than ${RECORD_BYTES_MAX}`)
    }
    if (!isUtf8(value)) return deadLetter('not_utf8', 'the value is not UTF-8')
    const source = value.toString('utf8')
    if (source === LOST_VALUE) return deadLetter('invalid_json', 'the file of the journal is damaged at this record')
    const parsed = parseJson(source)
    // The parser's own message quotes the text, so it is not passed on.
    if (parsed === undefined) return deadLetter('invalid_json', 'the value is not JSON')
    if (!fitsDepth(parsed.value, RECORD_LEVELS_MAX)) {
      return deadLetter('too_deep', `the value is nested deeper than ${RECORD_LEVELS_MAX} levels`)
    }
    if (validate(parsed.value)) return { outcome: 'decoded', entry: parsed.value, source }
    if (kindOf(parsed.value) !== kind) return deadLetter('unknown_kind', `the record's kind is not "${kind}"`)
    return deadLetter('invalid_record', explain(validate))
  }
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'kind')
    ? (value as { kind: unknown }).kind
    : undefined
}

/** Names the field and the expectation, both from the schema, such as `/level must be equal to one of the allowed values`. */
function explain({ errors }: ValidateFunction): string {
  const error = errors?.[0]
  return error === undefined ? 'the record does not match its schema' : `${error.instancePath} ${error.message}`.trim()
}
