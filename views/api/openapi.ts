import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { JsonSchema, NamedSchema } from '../../shared/contract/json-schema.ts'
import { failureResponses, type OpenApiPart, type Operation, successResponse } from '../../shared/openapi/document.ts'
import { GROUPED_BY } from '../schemas/list-parameters.ts'
import type { Route } from './call.ts'
import { VIEW_EXAMPLES } from './examples.ts'
import { PARAMETERS, type ParameterName } from './parameters.ts'
import { VIEW_STATUS } from './problems.ts'
import { ROUTES } from './routes.ts'

/** The tags of operations, by the beginning of their paths. */
const TAGS = [
  ['/api/event-logs', 'Event logs', 'Logs of Events and Steps.'],
  ['/api/application-logs', 'Application logs', 'Logs of Projects.'],
  ['/api/flow', 'Flows', 'All entries that share a correlationKey.'],
  ['/api/names', 'Names', 'The Events and Projects of the Team.'],
  ['/api/query', 'Query', 'The search language.'],
  ['/api/refusals', 'Refusals', 'The last refusals of a Team.'],
] as const

const CODES: readonly ErrorCode[] = [
  'invalid_request',
  'missing_api_key',
  'invalid_api_key',
  'query_too_expensive',
  'rate_limited',
  'server_error',
]

const DETAILS = {
  invalid_request: [{ path: 'limit', message: 'must be a whole number from 1 to 1000' }],
}

/** Converts `/a/:b` to OpenAPI's `/a/{b}`. */
const templateOf = ({ path }: Route): string => path.replaceAll(/:(\w+)/g, '{$1}')

function operationOf(route: Route): Operation {
  const template = templateOf(route)
  const [operationId, summary, schema] = route.purpose
  const isFlows = template.startsWith('/api/flow')
  const isTail = template.endsWith('/tail')
  const named = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return {
    operationId,
    tags: TAGS.filter(([base]) => template.startsWith(base)).map(([, name]) => name),
    summary,
    parameters: [
      ...named.map(pathParameter),
      ...route.parameters.map((name) => queryParameter(name, template, isFlows)),
    ],
    responses: {
      200: schema ? found(schema) : isTail ? TAIL : isFlows ? FLOW_EXPORT : EXPORT,
      ...failureResponses(named.length === 0 || isTail ? CODES : [...CODES, 'not_found'], VIEW_STATUS, DETAILS),
    },
  }
}

const pathParameter = (name: string): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
  example: name === 'id' ? VIEW_EXAMPLES.EventLog.id : VIEW_EXAMPLES.EventLog.correlationKey,
})

/** The formats of an export of entries: only flows can be exported as a drawing. */
const ENTRY_FORMATS = { type: 'string', enum: ['ndjson', 'csv'], default: 'ndjson' }

type Descriptions = Readonly<Partial<Record<ParameterName, string>>>

const FLOW_KEY_PART = 'Flows whose correlationKey contains this text, in any case.'

/** Descriptions of parameters that select something other than entries, by path. */
const OTHERWISE: Readonly<Record<string, Descriptions>> = {
  '/api/flows': {
    q: FLOW_KEY_PART,
    correlationKey: 'The flow with exactly this correlationKey, or none; only `limit` may be given with it.',
  },
  '/api/flow-states': { q: FLOW_KEY_PART },
  '/api/flows/statistics': {
    event: 'Only the Event with this identifier.',
    environment: 'Flows with a log of exactly this environment.',
  },
  '/api/names': {
    q: 'Events and Projects whose name or identifier contains this text, in any case.',
    limit: 'Most Events, and most Projects.',
  },
}

/** Examples for event logs, of the parameters that name values inside entries. */
const EVENT_EXAMPLES: Partial<Readonly<Record<ParameterName, string>>> = {
  value: 'payload.total',
  fields: 'payload.order.id,payload.total',
  columns: 'timestamp,level,payload,payload.total',
}

function queryParameter(name: ParameterName, template: string, isFlows: boolean): JsonSchema {
  const { description, schema } = PARAMETERS[name]
  const example = template.startsWith('/api/event-logs') ? EVENT_EXAMPLES[name] : undefined
  return {
    name,
    in: 'query',
    description: (OTHERWISE[template]?.[name] ?? description) + (name === 'by' ? groupedBy(template) : ''),
    schema: name === 'format' && !isFlows ? ENTRY_FORMATS : { ...schema, ...(example && { examples: [example] }) },
  }
}

/** The fields that `by` takes, and the default for groups. */
function groupedBy(template: string): string {
  const fields = GROUPED_BY[template.startsWith('/api/event-logs') ? 'event' : 'application']
  const usual = template.endsWith('/groups') ? ` Left out: ${fields[0]}.` : ''
  return ` One of ${fields.join(', ')}.${usual}`
}

const found = (schema: NamedSchema): JsonSchema =>
  successResponse('Found.', schema, { example: VIEW_EXAMPLES[schema.$id as keyof typeof VIEW_EXAMPLES] })

const TEXT = { schema: { type: 'string' } }

const TAIL = {
  description:
    'Server-sent events: `entry` with an item as data and a place to resume from as id; `skipped` with `{ count }` ' +
    'when the reader was too slow; a comment at least every 15 s. Send the last id as Last-Event-ID to resume.',
  content: { 'text/event-stream': TEXT },
}

const EXPORT = {
  description:
    'Every match: an item a line, or CSV with a header row; of a flow also a drawing of its first 5,000. ' +
    'If the connection breaks, the file is incomplete.',
  content: { 'application/x-ndjson': TEXT, 'text/csv': TEXT },
}
const FLOW_EXPORT = { ...EXPORT, content: { 'image/svg+xml': TEXT, ...EXPORT.content } }

/** The operations of the read API. */
export const viewsPart: OpenApiPart = {
  tags: TAGS.map(([, name, description]) => ({ name, description })),
  paths: Object.fromEntries(ROUTES.map((route) => [templateOf(route), { get: operationOf(route) }])),
}
