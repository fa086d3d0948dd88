import { foreignIngestionPart } from '../../gateway/openapi/foreign-ingestion.ts'
import { ingestionPart } from '../../gateway/openapi/ingestion.ts'
import {
  arrayOf,
  component,
  flag,
  type JsonSchema,
  objectOf,
  type Static,
  text,
} from '../../shared/contract/json-schema.ts'
import { jsonContent, type OpenApiPart, type Operation, withComponents } from '../../shared/openapi/document.ts'
import { viewsPart } from '../../views/api/openapi.ts'
import { sessionPart } from '../../views/session/openapi.ts'
import { teamPart } from '../../views/team/openapi.ts'

interface OpenApiInputs {
  /** The version of the program. */
  readonly version: string
  /** The prefix of every path, beginning with a slash. */
  readonly basePath: string
  /** Maximum entries of one batch. */
  readonly batchEntriesMax: number
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly paths: OpenApiPart['paths']
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>>; readonly [kind: string]: unknown }
  readonly [field: string]: unknown
}

const DESCRIPTION = `Sluice takes logs over HTTP and shows them again.

Every answer is an envelope: \`{ success: true, data }\`, or \`{ success: false, error: { code, message, details, retryable } }\`;
only \`/v1/logs\` and \`/ingest/otlp/v1/logs\` answer as OTLP wants it.
The codes are listed with the schema \`ErrorCode\`. Paths match in any case. A method that a path does not take is answered 405
\`method_not_allowed\` with \`Allow\`; HEAD works wherever GET does. On every path, what is not valid HTTP is answered 400
\`malformed_request\`, an \`Expect\` other than \`100-continue\` 417 \`expectation_failed\`, and a version of HTTP other than 1.1 and
1.0 505 \`http_version_not_supported\`.

Where the roles run in processes of their own, the gateway has the paths that take logs, and the views have those that read them or
change settings; in the other process they are 404 \`not_found\`. Both have the paths of the tag Service.`

const TAG = 'Service'

/** An operation that reveals nothing about any Team and needs no key. */
const open = (operationId: string, summary: string, responses: Operation['responses']) => ({
  get: { tags: [TAG], security: [], operationId, summary, responses },
})

const ready = { ready: true, parts: [{ name: 'journal', ready: true }] }
const notReady = { ready: false, parts: [{ name: 'journal', ready: false, reason: 'no broker answers' }] }

const LIVE = objectOf({ live: { const: true } })
const READINESS = component('Readiness', {
  ready: flag,
  parts: arrayOf(objectOf({ name: text, ready: flag, reason: text }, ['reason'])),
})
const readiness = (description: string, value: Static<typeof READINESS>): JsonSchema => ({
  description,
  content: jsonContent(READINESS, { example: { value } }),
})

/** The operations for operators. */
const servicePart: OpenApiPart = {
  tags: [{ name: TAG, description: 'Health, metrics and this document.' }],
  paths: {
    '/health/live': open('isLive', 'Liveness: the process answers', {
      200: { description: 'The process answers.', content: jsonContent(LIVE, { example: { value: { live: true } } }) },
    }),
    '/health/ready': open('isReady', 'Readiness: the parts of the process work', {
      200: readiness('All parts work.', ready),
      503: readiness('A part does not work; `parts` says why.', notReady),
    }),
    '/metrics': open('metrics', 'Metrics for Prometheus, here unless METRICS_PORT gives them a port of their own', {
      200: { description: 'All metrics.', content: { 'text/plain': { schema: text } } },
    }),
    '/openapi.json': open('openApi', 'This document; /docs shows it', {
      200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } },
    }),
  },
}

/** The OpenAPI document of the whole service, assembled from its parts. */
export function createOpenApi({ version, basePath, batchEntriesMax }: OpenApiInputs): OpenApiDocument {
  const parts = [ingestionPart(batchEntriesMax), foreignIngestionPart, viewsPart, teamPart, sessionPart, servicePart]
  const { paths, schemas } = withComponents(Object.assign({}, ...parts.map((part) => part.paths)))
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: basePath }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: parts.flatMap((part) => part.tags),
    paths,
    components: {
      schemas,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A live key of the Team.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a bearer token.' },
      },
    },
  }
}
