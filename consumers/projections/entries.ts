import type { EntryDocument, Leaf } from '../../shared/contract/documents.ts'
import { hasLostDigits, parseExactly, parseKeepingDigits } from '../../shared/contract/exact-json.ts'
import { fullText, KEYWORD_BYTES, keyword } from '../../shared/contract/keyword.ts'
import type { ApplicationLogRecord, EntryRecord, EventLogRecord } from '../../shared/contract/records.ts'
import { fingerprintsOf } from '../../shared/fingerprint/fingerprint.ts'
import { leaves } from '../../shared/query/leaves.ts'

/** Longer payloads (in UTF-16 units) are searchable by word but not by field: parsing them would hold up all others. */
export const PAYLOAD_PARSE_LENGTH_MAX = 256 * 1024

/** The document of an entry. `source` is the text of its record. */
export const entryDocument = (entry: EntryRecord, source: string): EntryDocument =>
  entry.kind === 'event' ? eventLogDocument(entry, source) : applicationLogDocument(entry, source)

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
  template: null,
  exceptionGroup: null,
  message: null,
  exception: null,
  scopeLeaves: [],
})

/** The JSON object or array that the payload encodes; undefined for any other payload. */
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

/** The letters of JSON's escapes for whitespace and control characters (RFC 8259, 7). */
const BLANKS = 'nrtbf'

/** JSON text with its escapes resolved: in `"paid\nfailed"` the second word would otherwise be `nfailed`. */
const withoutEscapes = (json: string): string =>
  json.includes('\\')
    ? json.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_escape, code: string | undefined, letter: string) => {
        if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
        return BLANKS.includes(letter) ? ' ' : letter
      })
    : json

/** The document of an application log. `source` is the text of its record. */
export const applicationLogDocument = (entry: ApplicationLogRecord, source: string): EntryDocument => ({
  ...commonFields(entry),
  event: null,
  step: null,
  project: entry.project,
  category: optionalKeyword(entry.categoryName, KEYWORD_BYTES.category),
  eventId: entry.eventId,
  eventName: optionalKeyword(entry.eventName, KEYWORD_BYTES.eventName),
  ...fingerprintsOf(entry),
  message: fullText(entry.message),
  exception: entry.exception === null ? null : fullText(entry.exception),
  payload: null,
  payloadLeaves: [],
  scopeLeaves: leaves(exactScope(entry, source)),
  source,
})

/** The scope data with exact numbers: if JavaScript rounded one, such as a 64-bit id, the record is parsed again. */
const exactScope = ({ scopeData }: ApplicationLogRecord, source: string): unknown =>
  hasLostDigits(scopeData) ? (parseExactly(source) as ApplicationLogRecord).scopeData : scopeData

type CommonFields = Pick<
  EntryDocument,
  'id' | 'kind' | 'team' | 'receivedAt' | 'timestamp' | 'level' | 'environment' | 'correlationKey'
>

/** The fields that entries of both kinds have. */
export const commonFields = (entry: EntryRecord): CommonFields => ({
  id: entry.id,
  kind: entry.kind,
  team: entry.team,
  receivedAt: entry.receivedAt,
  timestamp: entry.timestamp,
  level: entry.level,
  environment: keyword(entry.environment, KEYWORD_BYTES.environment),
  correlationKey: optionalKeyword(entry.correlationKey, KEYWORD_BYTES.correlationKey),
})

export const identifier = (text: string | null): string | null => optionalKeyword(text, KEYWORD_BYTES.identifier)

/** The keyword; null if the text is null or empty. */
const optionalKeyword = (text: string | null, bytesMax: number): string | null =>
  text === null || text === '' ? null : keyword(text, bytesMax)
