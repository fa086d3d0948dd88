import type { ErrorCode } from '../../shared/errors.ts'
import { STATUS } from '../../shared/http/status.ts'
import {
  type JsonSchema,
  jsonContent,
  type OpenApiPart,
  type Operation,
  objectOf,
  schemaRef,
} from '../../shared/openapi/document.ts'
import { failureResponses, RETRY_AFTER } from '../../shared/openapi/failures.ts'
import { CLEF_EXAMPLE, DETAILS, OTLP_EXAMPLES } from './foreign-examples.ts'
import { INGESTION_EXAMPLES } from './ingestion-examples.ts'

const TAG = 'Ingestion from other clients'

/** In the order of the checks. */
const CLEF_CODES: readonly ErrorCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'missing_project_id',
  'project_not_found',
  'missing_message',
  'invalid_log_level',
  'invalid_request',
  'invalid_timestamp',
  'entry_too_large',
  'batch_too_large',
  'malformed_json',
  'malformed_body',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'server_error',
]

/** The endpoints that take logs as OpenTelemetry's and Serilog's clients send them. */
export const foreignIngestionPart: OpenApiPart = {
  tags: [
    {
      name: TAG,
      description: 'Send application logs with OpenTelemetry or Serilog. Refusals have their own HTTP statuses.',
    },
  ],
  paths: {
    '/v1/logs': { post: otlpLogs() },
    '/ingest/clef': { post: clefEvents('sendClefEvents', []) },
    '/api/events/raw': {
      post: clefEvents('sendClefEventsToOlderPath', [
        parameter('query', 'clef', 'Present: the body is CLEF, whatever its content type.', true),
      ]),
    },
  },
  schemas: {
    ExportLogsServiceRequest: {
      type: 'object',
      description: 'As opentelemetry-proto defines it, in the JSON encoding of OTLP/HTTP. Unknown fields are ignored.',
      properties: {
        resourceLogs: {
          type: ['array', 'null'],
          items: { type: 'object' },
          description: 'At most 10,000 log records in all.',
        },
      },
    },
    ExportLogsServiceResponse: objectOf(
      {
        partialSuccess: objectOf({
          rejectedLogRecords: { type: 'string', description: 'How many log records were rejected; a 64-bit integer.' },
          errorMessage: { type: 'string', description: 'Each kind of rejection: how many, our code, what to change.' },
        }),
      },
      ['partialSuccess'],
    ),
    RpcStatus: {
      ...objectOf({
        code: { type: 'integer', description: 'google.rpc.Code.' },
        message: { type: 'string' },
        details: {
          type: 'array',
          items: objectOf(
            {
              '@type': { const: 'type.googleapis.com/google.rpc.ErrorInfo' },
              reason: schemaRef('ErrorCode'),
              domain: { const: 'sluice' },
              metadata: { type: 'object' },
            },
            ['metadata'],
          ),
        },
      }),
      description: 'How OTLP tells a failure (google.rpc.Status).',
    },
  },
}

function otlpLogs(): Operation {
  const status = (description: string): JsonSchema => ({
    description,
    content: jsonContent(schemaRef('RpcStatus'), OTLP_EXAMPLES.failure),
  })
  return {
    operationId: 'sendOtlpLogs',
    tags: [TAG],
    summary: 'Send logs with OpenTelemetry (OTLP/HTTP, JSON encoding)',
    description:
      'The Project is the one whose id is the resource attribute `sluice.project.id`, or else the one whose name is `service.name`. ' +
      'Log records are taken or rejected one by one. Where the journal did not confirm some of them, all of the request is to be sent again.',
    requestBody: { required: true, content: jsonContent(schemaRef('ExportLogsServiceRequest'), OTLP_EXAMPLES.request) },
    responses: {
      200: {
        description: 'Taken, or some log records were rejected.',
        content: jsonContent(schemaRef('ExportLogsServiceResponse'), OTLP_EXAMPLES.answer),
      },
      400: status('The request cannot be read.'),
      401: status('No key.'),
      403: status('The key is none of a Team.'),
      413: status('The body is too large, or has too many log records.'),
      415: status('Not JSON; the message says which setting of a client selects it.'),
      503: { ...status('To be sent again.'), headers: { 'Retry-After': RETRY_AFTER } },
    },
  }
}

function clefEvents(operationId: string, parameters: readonly JsonSchema[]): Operation {
  const result = (description: string, examples: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
    description,
    content: jsonContent(schemaRef('BatchResult'), examples),
  })
  const { all, partial } = INGESTION_EXAMPLES.batch.answer
  return {
    operationId,
    tags: [TAG],
    summary: 'Send events of Serilog (CLEF), one JSON object a line',
    description:
      'The Project is named by `X-Project-Id` or `project`, and need not be where the Team has only one. The key may also stand in ' +
      '`X-Seq-ApiKey`. Lines are taken or refused one by one, at most 10,000; `index` counts those that are not blank, from 0. Where ' +
      'the journal did not confirm some of them, all of the request is to be sent again.',
    parameters: [
      parameter('header', 'X-Project-Id', "The Project's id or name."),
      parameter('query', 'project', 'The same, for clients that cannot set headers.'),
      ...parameters,
    ],
    requestBody: {
      required: true,
      content: { 'application/vnd.serilog.clef': { schema: { type: 'string' }, examples: CLEF_EXAMPLE } },
    },
    responses: {
      201: result('All were taken.', { all }),
      207: result('Some were refused.', { partial }),
      ...failureResponses(CLEF_CODES, STATUS, DETAILS),
    },
  }
}

function parameter(place: string, name: string, description: string, allowEmptyValue = false): JsonSchema {
  return { name, in: place, description, ...(allowEmptyValue && { allowEmptyValue }), schema: { type: 'string' } }
}
