import type { ErrorCode } from '../../shared/contract/errors.ts'
import type { JsonSchema, NamedSchema } from '../../shared/contract/json-schema.ts'
import { failureResponses, type OpenApiPart, type Operation, successResponse } from '../../shared/openapi/document.ts'
import {
  Absence,
  ApplicationLog,
  ApplicationLogContext,
  ApplicationLogPage,
  Choices,
  Completion,
  EntryDetails,
  EventLog,
  EventLogContext,
  EventLogPage,
  Facets,
  Flow,
  FlowComparison,
  FlowPage,
  FlowStateCounts,
  FlowStatistics,
  Groups,
  Histogram,
  NameList,
  Query,
  Refusals,
  Series,
  Syntax,
  TypedRange,
} from '../schemas/answers.ts'
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

/** The name, summary and answer schema of an operation; tails and exports have no JSON answer. */
type Purpose = readonly [operationId: string, summary: string, schema?: NamedSchema]

const entryPurposes = (
  base: string,
  noun: string,
  name: string,
  one: NamedSchema,
  page: NamedSchema,
  context: NamedSchema,
): Readonly<Record<string, Purpose>> => ({
  [base]: [`list${name}s`, `${noun}s, newest first`, page],
  [`${base}/histogram`]: [`histogramOf${name}s`, 'Counts by level over time', Histogram],
  [`${base}/facets`]: [`facetsOf${name}s`, 'The most frequent values', Facets],
  [`${base}/groups`]: [`groupsOf${name}s`, 'Groups of logs that share a value, the largest first', Groups],
  [`${base}/series`]: [`seriesOf${name}s`, 'A number over time', Series],
  [`${base}/choices`]: [`choicesOf${name}s`, 'The values to choose from, with counts', Choices],
  [`${base}/absence`]: [
    `absenceOf${name}s`,
    'The reason why a list is empty, and changes that would show logs',
    Absence,
  ],
  [`${base}/completion`]: [`complete${name}Query`, 'The choices at a place of a search', Completion],
  [`${base}/tail`]: [`tail${name}s`, `${noun}s as they arrive`],
  [`${base}/export`]: [`export${name}s`, 'All matches as a file'],
  [`${base}/{id}`]: [`get${name}`, `One ${noun.toLowerCase()}`, one],
  [`${base}/{id}/details`]: [
    `detailsOf${name}`,
    `The values, scopes and exception in the texts of an ${noun.toLowerCase()}`,
    EntryDetails,
  ],
  [`${base}/{id}/context`]: [`contextOf${name}`, `An ${noun.toLowerCase()} and its neighbours in time`, context],
})

const PURPOSES: Readonly<Record<string, Purpose>> = {
  ...entryPurposes('/api/event-logs', 'Event log', 'EventLog', EventLog, EventLogPage, EventLogContext),
  ...entryPurposes(
    '/api/application-logs',
    'Application log',
    'ApplicationLog',
    ApplicationLog,
    ApplicationLogPage,
    ApplicationLogContext,
  ),
  '/api/flows': ['listFlows', 'Flows, those with the latest activity first', FlowPage],
  '/api/flow-states': ['countFlows', 'The numbers of flows by their probable states', FlowStateCounts],
  '/api/flows/statistics': [
    'statisticsOfFlows',
    'How flows go: their states, Steps and durations, by Event',
    FlowStatistics,
  ],
  '/api/flows/{correlationKey}': ['getFlow', 'One flow, its entries oldest first', Flow],
  '/api/flows/{correlationKey}/compare/{other}': [
    'compareFlows',
    'Two flows side by side, Step by Step',
    FlowComparison,
  ],
  '/api/flows/{correlationKey}/tail': ['tailFlow', "A flow's entries as they arrive"],
  '/api/flows/{correlationKey}/export': ['exportFlow', 'A flow as a file'],
  '/api/names': ['listNames', 'Events and Projects by their names', NameList],
  '/api/query': ['changeQuery', 'A search with a term added or removed', Query],
  '/api/query/syntax': ['describeSyntax', 'The forms of a search', Syntax],
  '/api/query/range': ['readTypedRange', 'A range of time as people type it', TypedRange],
  '/api/refusals': ['listRefusals', 'The last refusals, the last one first', Refusals],
}

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
  const purpose = PURPOSES[template]
  if (purpose === undefined) throw new Error(`the path ${template} has no description`)
  const [operationId, summary, schema] = purpose
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

/** Only flows can be exported as a drawing. */
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

function queryParameter(name: ParameterName, template: string, isFlows: boolean): JsonSchema {
  const { description, schema } = PARAMETERS[name]
  return {
    name,
    in: 'query',
    description: (OTHERWISE[template]?.[name] ?? description) + (name === 'by' ? groupedBy(template) : ''),
    schema: name === 'format' && !isFlows ? ENTRY_FORMATS : schema,
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
