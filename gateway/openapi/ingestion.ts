import { type ErrorCode, problem, STATUS } from '../../shared/contract/errors.ts'
import { arrayOf, flag, type JsonSchema, named, objectOf, text } from '../../shared/contract/json-schema.ts'
import {
  type DetailsExamples,
  ERROR_CODE,
  FAILURE,
  failureExamples,
  failureResponses,
  jsonContent,
  type OpenApiPart,
  type Operation,
  RETRY_AFTER,
  successOf,
} from '../../shared/openapi/document.ts'
import { BATCH_LOG_ENTRY_SCHEMA, EXTERNAL_LOG_SCHEMA, LOG_ENTRY_SCHEMA } from '../schemas/requests.ts'

const TAG = 'Ingestion'

const OWN_CODES: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_timestamp',
  'entry_too_large',
  'rate_limited',
  'server_error',
]

/** The codes of event logs in the order of the checks, as in all lists of codes here. */
const EVENT_CODES: readonly ErrorCode[] = [
  'missing_api_key',
  'missing_identifier',
  'missing_payload',
  'invalid_log_level',
  'entity_not_found',
  'team_not_found',
  'invalid_api_key',
  ...OWN_CODES,
]

const PROJECT_CODES: readonly ErrorCode[] = [
  'missing_project_id',
  'invalid_project_id',
  'missing_api_key',
  'project_not_found',
  'invalid_team_config',
  'invalid_api_key',
]

const ENTRY_CODES: readonly ErrorCode[] = [
  'missing_category_name',
  'missing_message',
  'invalid_log_level',
  ...OWN_CODES,
]

/** Requests that cannot be read get these codes with their real statuses, whatever the client asks for. */
const TRANSPORT_CODES: readonly ErrorCode[] = [
  'malformed_request',
  'malformed_json',
  'malformed_body',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'headers_too_large',
  'expectation_failed',
  'http_version_not_supported',
]

const STATUS_NOTE =
  'A refusal has the status 200 unless the client sends `X-Strict-Status: true` or `?strict=true`. A request beyond the quota of ' +
  'its Team (`rate_limited`) and an unreadable request ' +
  `(${TRANSPORT_CODES.map((code) => `\`${code}\``).join(', ')}) always have the status given below.`

const BATCH_NOTE =
  'Entries are taken or refused one by one. If some are refused, `success` is true, `count` is the number taken and ' +
  '`errors` lists the refusals, 100 at most; if all are, the answer is the failure of the first, with the list in ' +
  '`error.details.errors`.'

const HEADERS: readonly JsonSchema[] = [
  {
    name: 'X-Strict-Status',
    in: 'header',
    description: '`true`: refusals have their own HTTP statuses instead of 200. The bodies are the same.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  {
    name: 'strict',
    in: 'query',
    description: 'The same as the header `X-Strict-Status`, for clients that cannot set headers.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Ids are derived from this key and the body, so that a request sent again within 48 hours is stored once.',
    schema: text,
  },
]

/** The details of a refusal for the Team's quota. */
export const QUOTA_DETAILS: DetailsExamples = {
  rate_limited: { team: 'payments', entriesPerSecond: 2_000, retryAfterSeconds: 3 },
}

const DETAILS: DetailsExamples = {
  ...QUOTA_DETAILS,
  invalid_request: [{ path: '/scopeData', message: 'must be a JSON object' }],
}

const CREATED = named(
  'Created',
  successOf(objectOf({ id: { type: 'string', format: 'uuid', description: "The entry's id." } })),
)
const CREATED_EXAMPLE = {
  created: { summary: 'Taken', value: { success: true, data: { id: '01981f2e-7c1a-7000-8000-9a3c5b7d1e42' } } },
}

/** The answer to several entries at once. */
export const BATCH_RESULT = named(
  'BatchResult',
  successOf(
    objectOf(
      {
        message: text,
        count: { type: 'integer', description: 'Entries taken.' },
        rejected: { type: 'integer', description: 'Entries refused; absent where none was.' },
        errors: arrayOf(
          objectOf({
            index: { type: 'integer', description: 'The place of the entry in `logEntries`, from 0.' },
            code: ERROR_CODE,
            message: text,
            details: {},
            retryable: flag,
          }),
        ),
      },
      ['rejected', 'errors'],
    ),
  ),
)
const { code, message, details, retryable } = problem('invalid_log_level')
export const BATCH_RESULT_EXAMPLES = {
  all: {
    summary: 'All taken',
    value: { success: true, data: { message: 'Successfully processed 2 log entries', count: 2 } },
  },
  partial: {
    summary: 'Some refused',
    value: {
      success: true,
      data: {
        message: 'Successfully processed 1 of 2 log entries',
        count: 1,
        rejected: 1,
        errors: [{ index: 1, code, message, details, retryable }],
      },
    },
  },
}

const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const ENTRY = {
  categoryName: 'Acme.Billing.Invoices',
  eventId: 2001,
  eventName: 'InvoiceSent',
  message: 'Invoice 4711 was sent',
  level: 'Information',
  exception: null,
  scopeData: { tenant: 'acme', attempt: 1 },
  correlationKey: 'order-4711',
  environment: 'Production',
}

const EVENT_LOG = endpoint({
  operationId: 'sendEventLog',
  summary: 'Send one log of an Event or a Step',
  notes: [STATUS_NOTE],
  body: EXTERNAL_LOG_SCHEMA,
  bodies: {
    step: {
      summary: 'A log of a Step',
      value: {
        uniqueIdentifier: 'order-placed.validate',
        payload: '{"order":4711,"valid":true}',
        level: 'Information',
        correlationKey: 'order-4711',
        environment: 'Production',
      },
    },
    least: {
      summary: 'No more than is required',
      value: { uniqueIdentifier: 'order-placed', payload: 'Order 4711 was placed', level: 'information' },
    },
  },
  answer: CREATED,
  answers: CREATED_EXAMPLE,
  codes: EVENT_CODES,
})

const APPLICATION_LOG = endpoint({
  operationId: 'sendApplicationLog',
  summary: 'Send one log of a Project',
  notes: [STATUS_NOTE],
  body: LOG_ENTRY_SCHEMA,
  bodies: {
    full: { summary: 'Every field', value: { uniqueIdentifier: PROJECT, ...ENTRY } },
    least: {
      summary: 'No more than is required',
      value: { uniqueIdentifier: PROJECT, categoryName: 'Acme.Billing', message: 'Started', level: 'Debug' },
    },
  },
  answer: CREATED,
  answers: CREATED_EXAMPLE,
  codes: [...PROJECT_CODES, ...ENTRY_CODES],
})

const batchOf = (entriesMax: number): Operation => {
  const operation = endpoint({
    operationId: 'sendApplicationLogs',
    summary: `Send up to ${entriesMax} logs of a Project`,
    notes: [BATCH_NOTE, STATUS_NOTE],
    body: BATCH_LOG_ENTRY_SCHEMA,
    bodies: {
      two: {
        summary: 'Two logs',
        value: {
          uniqueIdentifier: PROJECT,
          logEntries: [
            { ...ENTRY, timestamp: '2026-01-31T09:30:00.123Z' },
            { categoryName: 'Acme.Billing', message: 'Done', level: 'Debug', timestamp: null },
          ],
        },
      },
    },
    answer: BATCH_RESULT,
    answers: BATCH_RESULT_EXAMPLES,
    codes: [...PROJECT_CODES, 'missing_log_entries', 'batch_too_large', ...ENTRY_CODES],
  })
  const partial = {
    description: 'Some entries were refused (with `X-Strict-Status: true`).',
    content: jsonContent(BATCH_RESULT, { partial: BATCH_RESULT_EXAMPLES.partial }),
  }
  return { ...operation, responses: { ...operation.responses, 207: partial } }
}

/** The three endpoints that take logs; `batchEntriesMax` is the maximum number of entries in a batch. */
export const ingestionPart = (batchEntriesMax: number): OpenApiPart => ({
  tags: [{ name: TAG, description: 'Send logs. Read `success` in the body: the status is 200 for refusals too.' }],
  paths: {
    '/api/ExternalLogs': { post: EVENT_LOG },
    '/api/ApplicationLogs': { post: APPLICATION_LOG },
    '/api/ApplicationLogs/batch': { post: batchOf(batchEntriesMax) },
  },
})

type Examples = Readonly<Record<string, JsonSchema>>

interface Endpoint {
  readonly operationId: string
  readonly summary: string
  readonly notes: readonly string[]
  /** The schemas of the body and of the success, with examples. */
  readonly body: JsonSchema
  readonly bodies: Examples
  readonly answer: JsonSchema
  readonly answers: Examples
  readonly codes: readonly ErrorCode[]
}

function endpoint({ operationId, summary, notes, body, bodies, answer, answers, codes }: Endpoint): Operation {
  return {
    operationId,
    tags: [TAG],
    summary,
    description: notes.join('\n\n'),
    parameters: HEADERS,
    requestBody: { required: true, content: jsonContent(body, bodies) },
    responses: {
      200: {
        description: `Taken; or refused with ${codes.map((code) => `\`${code}\``).join(', ')}`,
        headers: { 'Retry-After': RETRY_AFTER },
        content: jsonContent({ oneOf: [answer, FAILURE] }, { ...answers, ...failureExamples(codes, DETAILS) }),
      },
      ...failureResponses([...codes, ...TRANSPORT_CODES], STATUS, DETAILS),
    },
  }
}
