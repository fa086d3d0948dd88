import { APPLICATION_LOG_SCHEMA, EVENT_LOG_SCHEMA } from '../../shared/contract/record-schemas.ts'
import {
  APPLICATION_LOG_HEADERS_SCHEMA,
  DEAD_LETTER_HEADERS_SCHEMA,
  EVENT_LOG_HEADERS_SCHEMA,
  REPLAY_MARK_HEADERS_SCHEMA,
} from './header-schemas.ts'
import { REGISTRY_SCHEMA } from './registry-schema.ts'

/** What is published in docs/schemas: a schema for each file. A file's name and a schema's `$id` never change. */
export const SCHEMAS: Readonly<Record<string, object>> = {
  'event-log-record.v1.json': EVENT_LOG_SCHEMA,
  'event-log-headers.v1.json': EVENT_LOG_HEADERS_SCHEMA,
  'application-log-record.v1.json': APPLICATION_LOG_SCHEMA,
  'application-log-headers.v1.json': APPLICATION_LOG_HEADERS_SCHEMA,
  'registry-record.v1.json': REGISTRY_SCHEMA,
  'dead-letter-headers.v1.json': DEAD_LETTER_HEADERS_SCHEMA,
  'replay-mark-headers.v1.json': REPLAY_MARK_HEADERS_SCHEMA,
}
