import type { ErrorCode } from '../../shared/errors.ts'
import {
  type JsonSchema,
  jsonContent,
  type OpenApiPart,
  type Operation,
  schemaRef,
  successOf,
} from '../../shared/openapi/document.ts'
import { failureResponses } from '../../shared/openapi/failures.ts'
import type { Route } from './call.ts'
import { VIEW_EXAMPLES } from './examples.ts'
import { PARAMETERS, type ParameterName } from './parameters.ts'
import { VIEW_STATUS } from './problems.ts'
import { ROUTES } from './routes.ts'
import { VIEW_SCHEMAS } from './schemas.ts'

const TAGS = [
  { name: 'Event logs', description: 'Logs of Events and Steps.' },
  { name: 'Application logs', description: 'Logs of Projects.' },
  { name: 'Flows', description: 'All entries that share a correlationKey.' },
  { name: 'Query', description: 'The search language.' },
  { name: 'Refusals', description: 'What was refused of a Team lately.' },
]

type Shape = keyof typeof VIEW_EXAMPLES | 'tail' | 'export'

/** What each path is for, and the shape of what it answers. */
const PURPOSES: Readonly<Record<string, readonly [operationId: string, summary: string, shape: Shape]>> = {
  '/api/event-logs': ['listEventLogs', 'Event logs, newest first', 'EventLogPage'],
  '/api/event-logs/histogram': ['histogramOfEventLogs', 'Counts by level over time', 'Histogram'],
  '/api/event-logs/facets': ['facetsOfEventLogs', 'The most frequent values', 'Facets'],
  '/api/event-logs/choices': ['choicesOfEventLogs', 'What one can choose from, with counts', 'Choices'],
  '/api/event-logs/absence': ['absenceOfEventLogs', 'Why a list is empty, and what would show something', 'Absence'],
  '/api/event-logs/completion': ['completeEventLogQuery', 'What can come at a place of a search', 'Completion'],
  '/api/event-logs/tail': ['tailEventLogs', 'Event logs as they arrive', 'tail'],
  '/api/event-logs/export': ['exportEventLogs', 'All matches as a file', 'export'],
  '/api/event-logs/{id}': ['getEventLog', 'One event log', 'EventLog'],
  '/api/event-logs/{id}/details': ['detailsOfEventLog', 'What can be read from an event log', 'EntryDetails'],
  '/api/event-logs/{id}/context': ['contextOfEventLog', 'An event log and its neighbours in time', 'EventLogContext'],
  '/api/application-logs': ['listApplicationLogs', 'Application logs, newest first', 'ApplicationLogPage'],
  '/api/application-logs/histogram': ['histogramOfApplicationLogs', 'Counts by level over time', 'Histogram'],
  '/api/application-logs/facets': ['facetsOfApplicationLogs', 'The most frequent values', 'Facets'],
  '/api/application-logs/choices': ['choicesOfApplicationLogs', 'What one can choose from, with counts', 'Choices'],
  '/api/application-logs/absence': [
    'absenceOfApplicationLogs',
    'Why a list is empty, and what would show something',
    'Absence',
  ],
  '/api/application-logs/completion': [
    'completeApplicationLogQuery',
    'What can come at a place of a search',
    'Completion',
  ],
  '/api/application-logs/tail': ['tailApplicationLogs', 'Application logs as they arrive', 'tail'],
  '/api/application-logs/export': ['exportApplicationLogs', 'All matches as a file', 'export'],
  '/api/application-logs/{id}': ['getApplicationLog', 'One application log', 'ApplicationLog'],
  '/api/application-logs/{id}/details': [
    'detailsOfApplicationLog',
    'What can be read from an application log',
    'EntryDetails',
  ],
  '/api/application-logs/{id}/context': [
    'contextOfApplicationLog',
    'An application log and its neighbours in time',
    'ApplicationLogContext',
  ],
  '/api/flows': ['listFlows', 'Flows, those with the latest activity first', 'FlowPage'],
  '/api/flows/{correlationKey}': ['getFlow', 'One flow, its entries oldest first', 'Flow'],
  '/api/flows/{correlationKey}/tail': ['tailFlow', "A flow's entries as they arrive", 'tail'],
  '/api/flows/{correlationKey}/export': ['exportFlow', 'A flow as a file', 'export'],
  '/api/query': ['changeQuery', 'A search with a term added or taken away', 'Query'],
  '/api/query/syntax': ['describeSyntax', 'What a search can say', 'Syntax'],
  '/api/query/range': ['readTypedRange', 'A range of time as people type it', 'TypedRange'],
  '/api/refusals': ['listRefusals', 'The last refusals, the last one first', 'Refusals'],
}

const DETAILS = {
  invalid_request: [{ path: 'limit', message: 'must be a whole number from 1 to 1000' }],
}

/** `/a/:b` as OpenAPI writes it: `/a/{b}`. */
function templateOf({ path }: Route): string {
  return path.replaceAll(/:(\w+)/g, '{$1}')
}

function operationOf(route: Route): Operation {
  const template = templateOf(route)
  const purpose = PURPOSES[template]
  if (purpose === undefined) throw new Error(`the path ${template} has no description`)
  const [operationId, summary, shape] = purpose
  const named = /\{(\w+)\}/.exec(template)?.[1]
  const codes: ErrorCode[] = [
    'invalid_request',
    'missing_api_key',
    'invalid_api_key',
    'query_too_expensive',
    'rate_limited',
    'server_error',
  ]
  const canMiss = named !== undefined && !(shape === 'tail')
  const tag = TAGS.find(({ name }) => template.startsWith(`/api/${name.toLowerCase().replace(' ', '-')}`))
  return {
    operationId,
    tags: [tag?.name ?? ''],
    summary,
    parameters: [
      ...(named === undefined ? [] : [pathParameter(named)]),
      ...route.parameters.map((name) => queryParameter(name, template)),
    ],
    responses: {
      200: success(shape, template),
      ...failureResponses(canMiss ? [...codes, 'not_found'] : codes, VIEW_STATUS, DETAILS),
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

/** A drawing is made of flows alone. */
const ENTRY_FORMATS = { type: 'string', enum: ['ndjson', 'csv'], default: 'ndjson' }

/** What selects flows otherwise than entries. */
const FLOW_PARAMETERS: Readonly<Partial<Record<ParameterName, string>>> = {
  q: 'Flows whose correlationKey contains this text, in any case.',
  correlationKey:
    'The flow with exactly this correlationKey, or none; no other parameter is taken beside it but limit.',
}

function queryParameter(name: ParameterName, template: string): JsonSchema {
  const { description, schema } = PARAMETERS[name]
  const ofFlows = template === '/api/flows' ? FLOW_PARAMETERS[name] : undefined
  return {
    name,
    in: 'query',
    description: ofFlows ?? description,
    schema: name === 'format' && !template.startsWith('/api/flows') ? ENTRY_FORMATS : schema,
  }
}

function success(shape: Shape, template: string): JsonSchema {
  switch (shape) {
    case 'tail':
      return {
        description:
          'Server-sent events: `entry` with an item as data and a place to resume from as id; `skipped` with `{ count }` ' +
          'when the reader was too slow; a comment at least every 15 s. Send the last id as Last-Event-ID to resume.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      }
    case 'export':
      return {
        description:
          'Every match: an item a line, or CSV with a header row; of a flow also a drawing of its first 5,000. ' +
          'A connection cut means an incomplete file.',
        content: {
          ...(template.startsWith('/api/flows') && { 'image/svg+xml': { schema: { type: 'string' } } }),
          'application/x-ndjson': { schema: { type: 'string' } },
          'text/csv': { schema: { type: 'string' } },
        },
      }
    default:
      return {
        description: 'Found.',
        content: jsonContent(successOf(schemaRef(shape)), {
          example: { value: { success: true, data: VIEW_EXAMPLES[shape] } },
        }),
      }
  }
}

/** What the read API adds to the OpenAPI document: its routes and the schemas of what they answer. */
export const viewsPart: OpenApiPart = {
  tags: TAGS,
  paths: Object.fromEntries(ROUTES.map((route) => [templateOf(route), { get: operationOf(route) }])),
  schemas: VIEW_SCHEMAS,
}
