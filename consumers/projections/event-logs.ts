import type { EntryDocument, Leaf } from '../../shared/contract/documents.ts'
import { searchText } from '../../shared/contract/keyword.ts'
import type { EventLogRecord } from '../../shared/contract/records.ts'
import { leaves } from '../../shared/query/leaves.ts'
import { commonFields, identifier } from './entry.ts'

/** Longer payloads (UTF-16 units) are found by their words, not by their fields: parsing them would hold up all others. */
export const PAYLOAD_PARSE_LENGTH_MAX = 256 * 1024

/** The document of an event log. `source` is the text of its record. */
export const eventLogDocument = (entry: EventLogRecord, source: string): EntryDocument => ({
  ...commonFields(entry),
  event: identifier(entry.event),
  step: identifier(entry.step),
  project: null,
  category: null,
  eventId: null,
  eventName: null,
  message: null,
  exception: null,
  payload: searchText(entry.payload),
  payloadLeaves: payloadLeaves(entry.payload),
  scopeLeaves: [],
  source,
})

/** The leaves of a payload that is the text of a JSON object or array; of any other there are none. */
function payloadLeaves(payload: string): readonly Leaf[] {
  if (payload.length > PAYLOAD_PARSE_LENGTH_MAX || !/^\s*[{[]/.test(payload)) return []
  try {
    return leaves(JSON.parse(payload))
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}
