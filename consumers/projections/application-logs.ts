import type { EntryDocument } from '../../shared/contract/documents.ts'
import { KEYWORD_BYTES, searchText } from '../../shared/contract/keyword.ts'
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
  message: searchText(entry.message),
  exception: entry.exception === null ? null : searchText(entry.exception),
  payload: null,
  payloadLeaves: [],
  scopeLeaves: entry.scopeData === null ? [] : leaves(entry.scopeData),
  source,
})
