import { type ErrorCode, problem, STATUS } from '../../shared/contract/errors.ts'
import { arrayOf, described, type JsonSchema, named, objectOf, text } from '../../shared/contract/json-schema.ts'
import {
  ERROR_CODE,
  FAILURE,
  failureResponses,
  jsonContent,
  type OpenApiPart,
  type Operation,
  RETRY_AFTER,
} from '../../shared/openapi/document.ts'
import { DOMAIN, ERROR_INFO } from '../otlp/dialect.ts'
import { BATCH_RESULT, BATCH_RESULT_EXAMPLES, QUOTA_DETAILS } from './ingestion.ts'

const TAG = 'Ingestion from other clients'

const EXPORT_REQUEST = named(
  'ExportLogsServiceRequest',
  {
    type: 'object',
    properties: {
      resourceLogs: {
        type: ['array', 'null'],
        items: { type: 'object' },
        description: 'At most 10,000 log records in all.',
      },
    },
  },
  'As opentelemetry-proto defines it; this is its JSON encoding. Unknown fields are ignored.',
)
const EXPORT_REQUEST_EXAMPLES = {
  one: {
    summary: 'One log record',
    value: {
      resourceLogs: [
        {
          resource: {
            attributes: [
              { key: 'service.name', value: { stringValue: 'Checkout API' } },
              { key: 'deployment.environment.name', value: { stringValue: 'Production' } },
            ],
          },
          scopeLogs: [
            {
              scope: { name: 'checkout.payments' },
              logRecords: [
                {
                  timeUnixNano: '1769851800123000000',
                  severityNumber: 9,
                  severityText: 'INFO',
                  body: { stringValue: 'Payment accepted' },
                  attributes: [{ key: 'order', value: { intValue: '4711' } }],
                  traceId: '5b8efff798038103d269b633813fc60c',
                  spanId: 'eee19b7ec3c1b174',
                },
              ],
            },
          ],
        },
      ],
    },
  },
}

const PROTOBUF = 'application/x-protobuf'

/** The content of a request or an answer in both encodings. */
const inBoth = (message: string, json: JsonSchema): JsonSchema => ({
  ...json,
  [PROTOBUF]: { schema: { type: 'string', format: 'binary', description: `${message} in the binary encoding.` } },
})

const EXPORT_RESPONSE = named(
  'ExportLogsServiceResponse',
  objectOf(
    {
      partialSuccess: objectOf({
        rejectedLogRecords: described(text, 'The number of rejected log records; a 64-bit integer.'),
        errorMessage: described(text, 'The number, code and remedy of each kind of rejection.'),
      }),
    },
    ['partialSuccess'],
  ),
)
const EXPORT_RESPONSE_EXAMPLES = {
  all: { summary: 'All taken', value: {} },
  partial: {
    summary: 'Some rejected',
    value: {
      partialSuccess: {
        rejectedLogRecords: '2',
        errorMessage: `2 with invalid_timestamp: ${problem('invalid_timestamp').message}`,
      },
    },
  },
}

const RPC_STATUS = named(
  'RpcStatus',
  objectOf({
    code: { type: 'integer', description: 'google.rpc.Code.' },
    message: text,
    details: arrayOf(
      objectOf(
        {
          '@type': { const: ERROR_INFO },
          reason: ERROR_CODE,
          domain: { const: DOMAIN },
          metadata: { type: 'object' },
        },
        ['metadata'],
      ),
    ),
  }),
  'A failure in the form of OTLP (google.rpc.Status).',
)

const rpcFailure = (description: string): JsonSchema => ({
  description,
  content: inBoth(
    'google.rpc.Status',
    jsonContent(RPC_STATUS, {
      refused: {
        summary: 'Refused',
        value: {
          code: 16,
          message: problem('missing_api_key').message,
          details: [{ '@type': ERROR_INFO, reason: 'missing_api_key', domain: DOMAIN }],
        },
      },
    }),
  ),
})

const NAMED_PROJECT: readonly JsonSchema[] = [
  parameter('header', 'X-Project-Id', "The Project's id or name, for all logs of the request."),
  parameter('query', 'project', 'The same as the header `X-Project-Id`, for clients that cannot set headers.'),
]

const otlpLogs = (operationId: string, ...parameters: readonly JsonSchema[]): Operation => ({
  operationId,
  tags: [TAG],
  summary: 'Send logs with OpenTelemetry (OTLP/HTTP, Protobuf or JSON)',
  description:
    '`X-Project-Id`, the address, or the resource attributes `sluice.project.id` (an id) or `service.name` (a name) name the Project, in ' +
    "this order. Otherwise it is the Team's Project for unknown services, or its only Project. Log records are taken or rejected one by " +
    'one. If the journal did not confirm some of them, send the whole request again. ' +
    'The answer has the encoding of the request.',
  parameters: [...NAMED_PROJECT, ...parameters],
  requestBody: {
    required: true,
    content: inBoth('ExportLogsServiceRequest', jsonContent(EXPORT_REQUEST, EXPORT_REQUEST_EXAMPLES)),
  },
  responses: {
    200: {
      description: 'Taken, or some log records were rejected.',
      content: inBoth('ExportLogsServiceResponse', jsonContent(EXPORT_RESPONSE, EXPORT_RESPONSE_EXAMPLES)),
    },
    400: rpcFailure('The request cannot be read.'),
    401: rpcFailure('No key.'),
    403: rpcFailure('The key is not a live key of any Team.'),
    404: rpcFailure('The header or the address names no Project of the Team that takes logs.'),
    413: rpcFailure('The body is too large, or has too many log records.'),
    415: rpcFailure('The body is neither Protobuf nor JSON, or has an unknown compression.'),
    429: {
      ...rpcFailure('The Team is beyond its quota: send the request again.'),
      headers: { 'Retry-After': RETRY_AFTER },
    },
    503: { ...rpcFailure('To be sent again.'), headers: { 'Retry-After': RETRY_AFTER } },
  },
})

/** The refusals of a whole request. Entries in the JSON of loggers are refused with 200 or 422. */
const REQUEST_CODES: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'missing_project_id',
  'project_not_found',
  'batch_too_large',
  'malformed_json',
  'malformed_body',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'server_error',
]

/** Events in CLEF are refused with a status of their own. */
const CLEF_CODES: readonly ErrorCode[] = [
  ...REQUEST_CODES,
  'missing_message',
  'invalid_log_level',
  'invalid_request',
  'invalid_timestamp',
  'entry_too_large',
]

const CLEF_EXAMPLES = {
  two: {
    summary: 'Two events',
    value:
      '{"@t":"2026-01-31T09:30:00.1230000Z","@mt":"Order {Order} was placed","Order":4711,"SourceContext":"Shop.Checkout"}\n' +
      '{"@t":"2026-01-31T09:30:01.0000000Z","@m":"Payment failed","@l":"Error","@x":"System.TimeoutException: no answer"}\n',
  },
}

const EVENTS: JsonSchema = { type: ['array', 'object'] }
const EVENTS_EXAMPLES = {
  older: {
    summary: 'As seq-logging, pino-seq and winston-seq send them',
    value: {
      Events: [
        {
          Timestamp: '2026-01-31T09:30:00.123Z',
          Level: 'Warning',
          MessageTemplate: 'Order {Order} is late',
          Properties: { Order: 4711 },
        },
      ],
    },
  },
  array: {
    summary: 'An array of CLEF events',
    value: [{ '@t': '2026-01-31T09:30:00.123Z', '@m': 'Order 4711 is late', '@l': 'Warning' }],
  },
}

const JSON_LOGS_EXAMPLES = {
  pino: {
    summary: 'An entry of pino',
    value: { level: 30, time: 1769851800123, pid: 1, hostname: 'web-1', name: 'checkout', msg: 'Payment accepted' },
  },
  ecs: {
    summary: 'A list of entries in the Elastic Common Schema',
    value: [
      {
        '@timestamp': '2026-01-31T09:30:00.123Z',
        'log.level': 'ERROR',
        message: 'no',
        'error.type': 'TimeoutException',
      },
    ],
  },
}
const JSON_LINES_EXAMPLES = {
  lines: {
    summary: 'Lines of Docker',
    value: '{"log":"Payment accepted\\n","stream":"stdout","time":"2026-01-31T09:30:00.123456789Z"}\n',
  },
}

const CLEF_DETAILS = {
  ...QUOTA_DETAILS,
  invalid_request: [{ path: '/correlationKey', message: 'must have at most 512 bytes in UTF-8' }],
}

const { all, partial } = BATCH_RESULT_EXAMPLES

const clefEvents = (operationId: string, ...parameters: readonly JsonSchema[]): Operation => ({
  operationId,
  tags: [TAG],
  summary: 'Send events as clients of Seq do: CLEF, or the JSON before it',
  description:
    '`X-Project-Id` or the address names the Project; a Team with one Project, or with a Project for unknown services, needs no name. The ' +
    'key may also be sent as `X-Seq-ApiKey`. The body has one event a line, or is an array of events or `{"Events":[..]}`, with 10,000 ' +
    'events at most. Events are taken or refused one by one; `index` is the number of the event or non-blank line, from 0. If the journal ' +
    'did not confirm some of them, send the whole request again.',
  parameters: [...NAMED_PROJECT, ...parameters],
  requestBody: {
    required: true,
    content: {
      'application/vnd.serilog.clef': { schema: text, examples: CLEF_EXAMPLES },
      ...jsonContent(EVENTS, EVENTS_EXAMPLES),
    },
  },
  responses: {
    201: { description: 'All were taken.', content: jsonContent(BATCH_RESULT, { all }) },
    207: { description: 'Some were refused.', content: jsonContent(BATCH_RESULT, { partial }) },
    ...failureResponses(CLEF_CODES, STATUS, CLEF_DETAILS),
  },
})

function parameter(place: string, name: string, description: string): JsonSchema {
  return { name, in: place, description, schema: text }
}

const jsonLogs: Operation = {
  operationId: 'sendJsonLogs',
  tags: [TAG],
  summary: 'Send the JSON of any logger or log shipper',
  description:
    'The body is one entry, one entry a line, an array of entries, or `{"events":[..]}`, with 10,000 entries at most. docs/http.md lists the ' +
    'names that become fields of an application log; all other values become its scope data. `X-Project-Id` or the address names the ' +
    'Project; a Team with one Project, or with a Project for unknown services, needs no name. Entries are taken or refused one by one. If ' +
    'the journal did not confirm some of them, send the whole request again.',
  parameters: NAMED_PROJECT,
  requestBody: {
    required: true,
    content: {
      ...jsonContent(EVENTS, JSON_LOGS_EXAMPLES),
      'application/x-ndjson': { schema: text, examples: JSON_LINES_EXAMPLES },
    },
  },
  responses: {
    200: {
      description:
        'All were taken; or entries of a list, or of several lines, were refused, which are not to be sent again. `success` is false ' +
        'where none was taken.',
      content: jsonContent({ anyOf: [BATCH_RESULT, FAILURE] }, { all, partial }),
    },
    422: {
      description: 'An entry that was sent alone was refused, with the code of its refusal.',
      content: jsonContent(FAILURE, {}),
    },
    ...failureResponses(REQUEST_CODES, STATUS, QUOTA_DETAILS),
  },
}

const PATHS: OpenApiPart['paths'] = {
  '/v1/logs': { post: otlpLogs('sendOtlpLogs') },
  '/ingest/otlp/v1/logs': { post: otlpLogs('sendOtlpLogsToPathOfSeq') },
  '/ingest/clef': { post: clefEvents('sendClefEvents') },
  '/api/events/raw': {
    post: clefEvents('sendClefEventsToOlderPath', {
      ...parameter('query', 'clef', 'Present: the body is CLEF, whatever its content type.'),
      allowEmptyValue: true,
    }),
  },
  '/ingest/json': { post: jsonLogs },
}

const PROJECT_IN_PATH: JsonSchema = {
  ...parameter('path', 'project', "The Project's id or name, percent-encoded."),
  required: true,
  example: 'Checkout API',
}

/** The same paths below that of a Project, for clients that can only set a URL. */
const inProject = (paths: OpenApiPart['paths']): OpenApiPart['paths'] =>
  Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      `/projects/{project}${path}`,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, operationInProject(operation)]),
      ),
    ]),
  )

const operationInProject = (operation: Operation): Operation => ({
  ...operation,
  operationId: `${operation.operationId}OfProject`,
  parameters: [PROJECT_IN_PATH, ...(operation.parameters ?? []).filter((one) => !NAMED_PROJECT.includes(one))],
})

/** The endpoints that take logs from OpenTelemetry, Serilog and any logger that writes JSON. */
export const foreignIngestionPart: OpenApiPart = {
  tags: [
    {
      name: TAG,
      description:
        'Send application logs with OpenTelemetry, Serilog or any logger that writes JSON. Refusals have their own HTTP statuses.',
    },
  ],
  paths: { ...PATHS, ...inProject(PATHS) },
}
