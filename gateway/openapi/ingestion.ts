import type { ErrorCode } from '../../shared/errors.ts'
import { STATUS } from '../../shared/http/status.ts'
import {
  arrayOf,
  type JsonSchema,
  jsonContent,
  type OpenApiPart,
  type Operation,
  objectOf,
  schemaRef,
  successOf,
} from '../../shared/openapi/document.ts'
import { failureExamples, failureResponses, RETRY_AFTER } from '../../shared/openapi/failures.ts'
import { DETAILS, type EndpointExamples, INGESTION_EXAMPLES } from './ingestion-examples.ts'

/** A schema of a request body; others refer to it by its `$id`, and the document names it by its title. */
export type RequestSchema = JsonSchema & { readonly $id: string; readonly title: string }

/** The schemas that the ingestion endpoints check bodies with. */
export interface IngestionSchemas {
  readonly externalLog: RequestSchema
  readonly logEntry: RequestSchema
  readonly batchEntry: RequestSchema
  readonly batch: RequestSchema
}

const TAG = 'Ingestion'

const OWN_CODES: readonly ErrorCode[] = ['invalid_request', 'invalid_timestamp', 'entry_too_large', 'server_error']

/** In the order of the checks, as are all lists of codes here. */
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

/** Requests that cannot be read are answered with these and their own statuses, whatever the client asks for. */
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
  'A refusal has the status 200 unless the client sends `X-Strict-Status: true`. A request that cannot be read at all ' +
  `(${TRANSPORT_CODES.map((code) => `\`${code}\``).join(', ')}) always has the status given below.`

const BATCH_NOTE =
  'Entries are taken or refused one by one. Where some are refused, `success` is true, `count` is how many were taken and ' +
  '`errors` lists the refusals, 100 at most; where all are, the answer is the failure of the first, with the list in ' +
  '`error.details.errors`.'

const HEADERS: readonly JsonSchema[] = [
  {
    name: 'X-Strict-Status',
    in: 'header',
    description: '`true`: refusals have their own HTTP statuses instead of 200. The bodies are the same.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Ids are derived from this key and the body, so that a request sent again is stored once.',
    schema: { type: 'string' },
  },
]

/** The three endpoints that take logs; `batchEntriesMax` is the most entries of one batch. */
export function ingestionPart(schemas: IngestionSchemas, batchEntriesMax: number): OpenApiPart {
  const { event, application, batch } = INGESTION_EXAMPLES
  const eventLog = endpoint({
    operationId: 'sendEventLog',
    summary: 'Send one log of an Event or a Step',
    notes: [STATUS_NOTE],
    request: schemas.externalLog.title,
    result: 'Created',
    codes: EVENT_CODES,
    examples: event,
  })
  const applicationLog = endpoint({
    operationId: 'sendApplicationLog',
    summary: 'Send one log of a Project',
    notes: [STATUS_NOTE],
    request: schemas.logEntry.title,
    result: 'Created',
    codes: [...PROJECT_CODES, ...ENTRY_CODES],
    examples: application,
  })
  const applicationLogs = endpoint({
    operationId: 'sendApplicationLogs',
    summary: `Send up to ${batchEntriesMax} logs of a Project`,
    notes: [BATCH_NOTE, STATUS_NOTE],
    request: schemas.batch.title,
    result: 'BatchResult',
    codes: [...PROJECT_CODES, 'missing_log_entries', 'batch_too_large', ...ENTRY_CODES],
    examples: batch,
  })
  const partial = {
    description: 'Some entries were refused (with `X-Strict-Status: true`).',
    content: jsonContent(schemaRef('BatchResult'), { partial: batch.answer.partial }),
  }
  return {
    tags: [{ name: TAG, description: 'Send logs. Read `success` in the body: the status is 200 for refusals too.' }],
    paths: {
      '/api/ExternalLogs': { post: eventLog },
      '/api/ApplicationLogs': { post: applicationLog },
      '/api/ApplicationLogs/batch': {
        post: { ...applicationLogs, responses: { ...applicationLogs.responses, 207: partial } },
      },
    },
    schemas: {
      ...componentsOf(Object.values(schemas)),
      Created: successOf(objectOf({ id: { type: 'string', format: 'uuid', description: "The entry's id." } })),
      BatchResult: BATCH_RESULT,
    },
  }
}

/** Schemas by title. An `$id` would take them out of the document, so references by it become references by name. */
function componentsOf(schemas: readonly RequestSchema[]): Readonly<Record<string, JsonSchema>> {
  const names = new Map<unknown, unknown>(schemas.map(({ $id, title }) => [$id, schemaRef(title)['$ref']]))
  return Object.fromEntries(
    schemas.map(({ $id: _id, $schema: _dialect, ...schema }) => [
      schema.title,
      JSON.parse(JSON.stringify(schema), (key, value) => (key === '$ref' ? (names.get(value) ?? value) : value)),
    ]),
  )
}

const BATCH_RESULT = successOf(
  objectOf(
    {
      message: { type: 'string' },
      count: { type: 'integer', description: 'Entries taken.' },
      rejected: { type: 'integer', description: 'Entries refused; absent where none was.' },
      errors: arrayOf(
        objectOf({
          index: { type: 'integer', description: 'The place of the entry in `logEntries`, from 0.' },
          code: schemaRef('ErrorCode'),
          message: { type: 'string' },
          details: {},
          retryable: { type: 'boolean' },
        }),
      ),
    },
    ['rejected', 'errors'],
  ),
)

interface Endpoint {
  readonly operationId: string
  readonly summary: string
  readonly notes: readonly string[]
  /** Names of the schemas of the body and of the success. */
  readonly request: string
  readonly result: string
  readonly codes: readonly ErrorCode[]
  readonly examples: EndpointExamples
}

function endpoint({ operationId, summary, notes, request, result, codes, examples }: Endpoint): Operation {
  return {
    operationId,
    tags: [TAG],
    summary,
    description: notes.join('\n\n'),
    parameters: HEADERS,
    requestBody: { required: true, content: jsonContent(schemaRef(request), examples.request) },
    responses: {
      200: {
        description: `Taken; or refused with ${codes.map((code) => `\`${code}\``).join(', ')}`,
        headers: { 'Retry-After': RETRY_AFTER },
        content: jsonContent(
          { oneOf: [schemaRef(result), schemaRef('Failure')] },
          { ...examples.answer, ...failureExamples(codes, DETAILS) },
        ),
      },
      ...failureResponses([...codes, ...TRANSPORT_CODES], STATUS, DETAILS),
    },
  }
}
