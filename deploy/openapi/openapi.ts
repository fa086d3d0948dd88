import { foreignIngestionPart } from '../../gateway/openapi/foreign-ingestion.ts'
import { type IngestionSchemas, ingestionPart } from '../../gateway/openapi/ingestion.ts'
import type { OpenApiPart } from '../../shared/openapi/document.ts'
import { failureSchemas } from '../../shared/openapi/failures.ts'
import { servicePart } from './service.ts'

export interface OpenApiInputs {
  /** The version of the program. */
  readonly version: string
  /** The prefix of every path, beginning with a slash. */
  readonly basePath: string
  /** What the ingestion endpoints check bodies with. */
  readonly ingestion: IngestionSchemas
  /** Most entries of one batch. */
  readonly batchEntriesMax: number
  /** What other parts of the service offer, the read API among them. */
  readonly parts: readonly OpenApiPart[]
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly paths: OpenApiPart['paths']
  readonly components: { readonly schemas: OpenApiPart['schemas']; readonly [kind: string]: unknown }
  readonly [field: string]: unknown
}

const DESCRIPTION = `Sluice takes logs over HTTP and shows them again.

Every answer is an envelope: \`{ success: true, data }\`, or \`{ success: false, error: { code, message, details, retryable } }\`;
only /v1/logs answers as OTLP wants it.
The codes are listed with the schema \`ErrorCode\`. Paths match in any case. A method that a path does not take is answered 405
\`method_not_allowed\` with \`Allow\`; HEAD works wherever GET does. On every path, what is not valid HTTP is answered 400
\`malformed_request\`, an \`Expect\` other than \`100-continue\` 417 \`expectation_failed\`, and a version of HTTP other than 1.1 and
1.0 505 \`http_version_not_supported\`.`

/** The OpenAPI document of the whole service, made of what each part says of itself. */
export function createOpenApi({
  version,
  basePath,
  ingestion,
  batchEntriesMax,
  parts,
}: OpenApiInputs): OpenApiDocument {
  const all = [ingestionPart(ingestion, batchEntriesMax), foreignIngestionPart, ...parts, servicePart]
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: basePath }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: all.flatMap((part) => part.tags),
    paths: Object.assign({}, ...all.map((part) => part.paths)) as OpenApiPart['paths'],
    components: {
      schemas: Object.assign({}, failureSchemas, ...all.map((part) => part.schemas)) as OpenApiPart['schemas'],
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'A live key of the Team.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a bearer token.' },
      },
    },
  }
}
