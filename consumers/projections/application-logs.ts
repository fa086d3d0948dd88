import type { EntryDocument } from '../../shared/contract/documents.ts'
import { hasLostDigits, parseExactly } from '../../shared/contract/exact-json.ts'
import { fullText, KEYWORD_BYTES } from '../../shared/contract/keyword.ts'
import type { ApplicationLogRecord } from '../../shared/contract/records.ts'
import { leaves } from '../../shared/query/leaves.ts'
import { commonFields, optionalKeyword } from './entry.ts'

/** The document of an application log. `source` is the text of its record. */
export const applicationLogDocument = (entry: ApplicationLogRecord, source: string): EntryDocument => ({
  ...commonFields(entry),
  event: null,
  step: null,
  project: entry.project,
  category: optionalKeyword(entry.categoryName, KEYWORD_BYTES.category),
  eventId: entry.eventId,
  eventName: optionalKeyword(entry.eventName, KEYWORD_BYTES.eventName),
  message: fullText(entry.message),
  exception: entry.exception === null ? null : fullText(entry.exception),
  payload: null,
  payloadLeaves: [],
  scopeLeaves: leaves(exactScope(entry, source)),
  source,
})

/** Where JavaScript has rounded a number, a 64-bit id for example, the record is read again. */
const exactScope = ({ scopeData }: ApplicationLogRecord, source: string): unknown =>
  hasLostDigits(scopeData) ? (parseExactly(source) as ApplicationLogRecord).scopeData : scopeData
