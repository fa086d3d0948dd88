import { type JsonSchema, named, type Static } from '../../shared/contract/json-schema.ts'
import { KEYWORD_BYTES } from '../../shared/contract/keyword.ts'
import { LEVELS } from '../../shared/contract/levels.ts'

/*
 * JSON Schemas (2020-12) of the three request bodies; the OpenAPI document shows them and the gateway validates with them. `maxBytes` and
 * `maxDepth` are keywords of our own (validate.ts). Null counts as absent. Levels in any case, timestamps and GUIDs have no keyword, so
 * code checks them.
 */

/** Maximum levels of scope data. */
export const SCOPE_DEPTH_MAX = 64

const required = (description: string, bytes?: number) =>
  ({
    type: 'string',
    minLength: 1,
    ...(bytes === undefined ? {} : { maxBytes: bytes }),
    description,
  }) as const

const optional = (description: string, bytes?: number) =>
  ({
    type: ['string', 'null'],
    ...(bytes === undefined ? {} : { maxBytes: bytes }),
    description,
  }) as const

const level = required(`One of ${LEVELS.join(', ')}, in any case.`)

const common = {
  correlationKey: optional('Groups the entries of one flow.', KEYWORD_BYTES.correlationKey),
  environment: {
    ...optional('The environment that the entry comes from.', KEYWORD_BYTES.environment),
    default: 'Development',
  },
  timestamp: optional(
    'The time of the entry: ISO 8601, from 1970 to 2261, up to nanoseconds; UTC without an offset. Left out: the time of receipt.',
  ),
}

const entry = {
  categoryName: required('Usually the name of the logger or class.', KEYWORD_BYTES.category),
  eventId: {
    type: ['integer', 'null'],
    minimum: -2_147_483_648,
    maximum: 2_147_483_647,
    default: 0,
    description: "The logging framework's number of the event.",
  },
  eventName: { ...optional("The logging framework's name of the event.", KEYWORD_BYTES.eventName), default: '' },
  message: required('The log message.'),
  level,
  exception: optional('An exception as text, with its stack trace.'),
  scopeData: {
    type: ['object', 'null'],
    maxDepth: SCOPE_DEPTH_MAX,
    description: `Structured data of the logging scope, at most ${SCOPE_DEPTH_MAX} levels deep.`,
  },
  ...common,
} as const

const projectId = required("The Project's id, a GUID with or without dashes or in braces.")

const body = <const Required extends readonly string[], const Properties extends Readonly<Record<string, JsonSchema>>>(
  title: string,
  required: Required,
  properties: Properties,
) => named(title, { title, type: 'object', required, properties })

/** The body of POST /api/ExternalLogs (specification 2.3). */
export type ExternalLog = Static<typeof EXTERNAL_LOG_SCHEMA>
export const EXTERNAL_LOG_SCHEMA = body('ExternalLogDto', ['uniqueIdentifier', 'payload', 'level'], {
  uniqueIdentifier: required('The identifier of an Event or a Step; case matters.', KEYWORD_BYTES.identifier),
  payload: required('The log content: plain text, or JSON serialised to a string.'),
  level,
  ...common,
})

/** The body of POST /api/ApplicationLogs (specification 2.4). */
export const LOG_ENTRY_SCHEMA = body('LogEntryDto', ['uniqueIdentifier', 'categoryName', 'message', 'level'], {
  uniqueIdentifier: projectId,
  ...entry,
})

/** One entry of a batch: a LogEntryDto without the Project's id. */
export type BatchEntry = Static<typeof BATCH_ENTRY_SCHEMA>
export const BATCH_ENTRY_SCHEMA = body('BatchEntry', ['categoryName', 'message', 'level'], entry)

/** The body of POST /api/ApplicationLogs/batch (specification 2.5). */
export const BATCH_LOG_ENTRY_SCHEMA = body('BatchLogEntryDto', ['uniqueIdentifier', 'logEntries'], {
  uniqueIdentifier: projectId,
  logEntries: { type: 'array', minItems: 1, items: BATCH_ENTRY_SCHEMA },
})
