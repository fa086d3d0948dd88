import type { EntryKind } from '../../shared/contract/records.ts'
import { absenceOfEntries } from './absence.ts'
import type { Call, EntryCall, Route, Tools } from './call.ts'
import { choicesOfEntries } from './choices.ts'
import {
  contextOfEntry,
  detailsOfEntry,
  entryOf,
  facetsOfEntries,
  histogramOfEntries,
  listEntries,
  oneEntry,
} from './entries.ts'
import { entriesHeaders, exportEntries, exportFlow, flowHeaders } from './export.ts'
import { compareFlows } from './flow-comparison.ts'
import { statisticsOfFlows } from './flow-statistics.ts'
import { countFlows, flowOf, flowsOf, listFlows, oneFlow } from './flows.ts'
import { groupsOfEntries } from './groups.ts'
import { listNames } from './names-list.ts'
import type { ParameterName } from './parameters.ts'
import { listRefusals } from './refusals.ts'
import { changeQuery, completeQuery, describeSyntax } from './search.ts'
import { seriesOfEntries } from './series.ts'
import { tailEntries, tailFlow, tailHeaders } from './tail.ts'
import { readTypedRange } from './typed-range.ts'

const RANGE = ['from', 'to'] as const
const FIELDS = ['level', 'environment', 'event', 'step', 'project'] as const
/** The parameters that select a tail's entries. A tail takes no range: it shows entries on arrival, whatever their timestamps. */
const LIVE = [
  'q',
  ...FIELDS,
  'levelMax',
  'category',
  'template',
  'exceptionGroup',
] as const satisfies readonly ParameterName[]
const FILTER = [...LIVE, 'correlationKey', ...RANGE] as const satisfies readonly ParameterName[]
const FLOWS = ['q', ...FIELDS, ...RANGE] as const satisfies readonly ParameterName[]
const PAGE = ['limit', 'cursor'] as const

function entryRoutes(base: string, kind: EntryKind): readonly Route[] {
  const of =
    <Result>(handler: (call: EntryCall, tools: Tools) => Result) =>
    (call: Call, tools: Tools): Result =>
      handler({ ...call, kind }, tools)
  return [
    { path: base, parameters: [...FILTER, ...PAGE, 'order', 'fields'], answer: of(listEntries) },
    { path: `${base}/histogram`, parameters: [...FILTER, 'buckets'], answer: of(histogramOfEntries) },
    { path: `${base}/facets`, parameters: [...FILTER, 'values'], answer: of(facetsOfEntries) },
    { path: `${base}/groups`, parameters: [...FILTER, 'by', 'groups'], answer: of(groupsOfEntries) },
    {
      path: `${base}/series`,
      parameters: [...FILTER, 'fn', 'value', 'by', 'series', 'buckets'],
      answer: of(seriesOfEntries),
    },
    { path: `${base}/choices`, parameters: FILTER, answer: of(choicesOfEntries) },
    { path: `${base}/absence`, parameters: FILTER, answer: of(absenceOfEntries) },
    { path: `${base}/completion`, parameters: [...FILTER, 'caret', 'type'], answer: of(completeQuery) },
    {
      path: `${base}/tail`,
      parameters: [...LIVE, 'correlationKey', 'fields', 'lastEventId'],
      stream: of(tailEntries),
      headers: tailHeaders,
    },
    {
      path: `${base}/export`,
      parameters: [...FILTER, 'format', 'order', 'columns'],
      stream: of(exportEntries),
      headers: of(entriesHeaders),
    },
    { path: `${base}/:id`, parameters: [], answer: of(oneEntry), probe: of(entryOf) },
    { path: `${base}/:id/details`, parameters: [], answer: of(detailsOfEntry), probe: of(entryOf) },
    {
      path: `${base}/:id/context`,
      parameters: [...FILTER, 'before', 'after'],
      answer: of(contextOfEntry),
      probe: of(entryOf),
    },
  ]
}

const flowRoutes = (base: string): readonly Route[] => [
  { path: base, parameters: [...FLOWS, 'correlationKey', 'state', 'sort', ...PAGE], answer: listFlows },
  // Before the flow routes; a flow whose key is `statistics` is reached by the parameter `key`.
  { path: `${base}/statistics`, parameters: ['event', 'environment', ...RANGE], answer: statisticsOfFlows },
  { path: `${base}/:correlationKey`, parameters: ['key', ...PAGE], answer: oneFlow, probe: flowOf },
  {
    path: `${base}/:correlationKey/compare/:other`,
    parameters: ['key', 'other'],
    answer: compareFlows,
    probe: flowsOf,
  },
  {
    path: `${base}/:correlationKey/tail`,
    parameters: ['key', ...LIVE, 'lastEventId'],
    stream: tailFlow,
    headers: tailHeaders,
  },
  {
    path: `${base}/:correlationKey/export`,
    parameters: ['key', ...LIVE, ...RANGE, 'format', 'order'],
    stream: exportFlow,
    headers: flowHeaders,
    probe: flowOf,
  },
]

/** The base paths of the read API; any other path below them is answered with 404. */
export const BASES = [
  '/api/event-logs',
  '/api/application-logs',
  '/api/flows',
  '/api/flow-states',
  '/api/names',
  '/api/refusals',
  '/api/query',
]

/** Every path of the read API. */
export const ROUTES: readonly Route[] = [
  ...entryRoutes('/api/event-logs', 'event'),
  ...entryRoutes('/api/application-logs', 'application'),
  ...flowRoutes('/api/flows'),
  // Not below `/api/flows`, where every name is a correlationKey.
  { path: '/api/flow-states', parameters: FLOWS, answer: countFlows },
  { path: '/api/names', parameters: ['q', 'limit'], answer: listNames },
  { path: '/api/query', parameters: ['q', 'with', 'without'], answer: changeQuery },
  { path: '/api/query/syntax', parameters: [], answer: describeSyntax },
  { path: '/api/query/range', parameters: ['begin', 'end', 'zone'], answer: readTypedRange },
  { path: '/api/refusals', parameters: ['code', 'limit'], answer: listRefusals },
]
