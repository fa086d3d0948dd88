import type { EntryDocument } from '../../shared/contract/documents.ts'
import { KEYWORD_BYTES, keyword } from '../../shared/contract/keyword.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'

export const identifier = (text: string | null): string | null => optionalKeyword(text, KEYWORD_BYTES.identifier)

/** The keyword, or null where there is no text: an empty one says nothing either. */
export const optionalKeyword = (text: string | null, bytesMax: number): string | null =>
  text === null || text === '' ? null : keyword(text, bytesMax)

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
