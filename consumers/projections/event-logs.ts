import type { EntryDocument, Leaf } from '../../shared/contract/documents.ts'
import { parseKeepingDigits } from '../../shared/contract/exact-json.ts'
import { fullText } from '../../shared/contract/keyword.ts'
import type { EventLogRecord } from '../../shared/contract/records.ts'
import { leaves } from '../../shared/query/leaves.ts'
import { commonFields, identifier } from './entry.ts'

/** Longer payloads (UTF-16 units) are found by their words, not by their fields: parsing them would hold up all others. */
export const PAYLOAD_PARSE_LENGTH_MAX = 256 * 1024

/** The document of an event log. `source` is the text of its record. */
export function eventLogDocument(entry: EventLogRecord, source: string): EntryDocument {
  const json = parsedPayload(entry.payload)
  return { ...fieldsOf(entry), ...searchedPayload(entry.payload, json), source }
}

const fieldsOf = (entry: EventLogRecord) => ({
  ...commonFields(entry),
  event: identifier(entry.event),
  step: identifier(entry.step),
  project: null,
  category: null,
  eventId: null,
  eventName: null,
  message: null,
  exception: null,
  scopeLeaves: [],
})

/** The JSON object or array whose text the payload is; undefined for any other payload. */
function parsedPayload(payload: string): object | undefined {
  if (payload.length > PAYLOAD_PARSE_LENGTH_MAX || !/^\s*[{[]/.test(payload)) return undefined
  try {
    return parseKeepingDigits(payload) as object
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const searchedPayload = (payload: string, json: object | undefined) =>
  json === undefined
    ? { payload: fullText(payload), payloadLeaves: [] as readonly Leaf[] }
    : { payload: fullText(withoutEscapes(payload)), payloadLeaves: leaves(json) }

/** The characters that an escape of one letter stands for (RFC 8259, 7), where that is not the letter itself. */
const BLANKS = 'nrtbf'

/** JSON text with its escapes resolved: in `"paid\nfailed"` the second word would else be `nfailed`. */
const withoutEscapes = (json: string): string =>
  json.includes('\\')
    ? json.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_escape, code: string | undefined, letter: string) => {
        if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
        return BLANKS.includes(letter) ? ' ' : letter
      })
    : json
