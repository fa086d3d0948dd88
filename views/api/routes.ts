import type { NamedSchema } from '../../shared/contract/json-schema.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
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
import type { ParameterName } from './parameters.ts'
import { listRefusals } from './refusals.ts'
import { changeQuery, completeQuery, describeSyntax, listNames } from './search.ts'
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

/** The paths of the entries of one kind, with the schemas of an entry, of a page and of an entry among its neighbours. */
function entryRoutes(kind: EntryKind, one: NamedSchema, page: NamedSchema, context: NamedSchema): readonly Route[] {
  const base = `/api/${kind}-logs`
  const { $id: name } = one
  const noun = `${kind} log`
  const of =
    <Result>(handler: (call: EntryCall, tools: Tools) => Result) =>
    (call: Call, tools: Tools): Result =>
      handler({ ...call, kind }, tools)
  return [
    {
      path: base,
      purpose: [`list${name}s`, `${capital(noun)}s, newest first`, page],
      parameters: [...FILTER, ...PAGE, 'order', 'fields'],
      answer: of(listEntries),
    },
    {
      path: `${base}/histogram`,
      purpose: [`histogramOf${name}s`, 'Counts by level over time', Histogram],
      parameters: [...FILTER, 'buckets'],
      answer: of(histogramOfEntries),
    },
    {
      path: `${base}/facets`,
      purpose: [`facetsOf${name}s`, 'The most frequent values', Facets],
      parameters: [...FILTER, 'values'],
      answer: of(facetsOfEntries),
    },
    {
      path: `${base}/groups`,
      purpose: [`groupsOf${name}s`, 'Groups of logs that share a value, the largest first', Groups],
      parameters: [...FILTER, 'by', 'groups'],
      answer: of(groupsOfEntries),
    },
    {
      path: `${base}/series`,
      purpose: [`seriesOf${name}s`, 'A number over time', Series],
      parameters: [...FILTER, 'fn', 'value', 'by', 'series', 'buckets'],
      answer: of(seriesOfEntries),
    },
    {
      path: `${base}/choices`,
      purpose: [`choicesOf${name}s`, 'The values to choose from, with counts', Choices],
      parameters: FILTER,
      answer: of(choicesOfEntries),
    },
    {
      path: `${base}/absence`,
      purpose: [`absenceOf${name}s`, 'The reason why a list is empty, and changes that would show logs', Absence],
      parameters: FILTER,
      answer: of(absenceOfEntries),
    },
    {
      path: `${base}/completion`,
      purpose: [`complete${name}Query`, 'The choices at a place of a search', Completion],
      parameters: [...FILTER, 'caret', 'type'],
      answer: of(completeQuery),
    },
    {
      path: `${base}/tail`,
      purpose: [`tail${name}s`, `${capital(noun)}s as they arrive`],
      parameters: [...LIVE, 'correlationKey', 'fields', 'lastEventId'],
      stream: of(tailEntries),
      headers: tailHeaders,
    },
    {
      path: `${base}/export`,
      purpose: [`export${name}s`, 'All matches as a file'],
      parameters: [...FILTER, 'format', 'order', 'columns'],
      stream: of(exportEntries),
      headers: of(entriesHeaders),
    },
    {
      path: `${base}/:id`,
      purpose: [`get${name}`, `One ${noun}`, one],
      parameters: [],
      answer: of(oneEntry),
      probe: of(entryOf),
    },
    {
      path: `${base}/:id/details`,
      purpose: [`detailsOf${name}`, `The values, scopes and exception in the texts of an ${noun}`, EntryDetails],
      parameters: [],
      answer: of(detailsOfEntry),
      probe: of(entryOf),
    },
    {
      path: `${base}/:id/context`,
      purpose: [`contextOf${name}`, `An ${noun} and its neighbours in time`, context],
      parameters: [...FILTER, 'before', 'after'],
      answer: of(contextOfEntry),
      probe: of(entryOf),
    },
  ]
}

const capital = (noun: string): string => noun.charAt(0).toUpperCase() + noun.slice(1)

/** Every path of the read API. */
export const ROUTES: readonly Route[] = [
  ...entryRoutes('event', EventLog, EventLogPage, EventLogContext),
  ...entryRoutes('application', ApplicationLog, ApplicationLogPage, ApplicationLogContext),
  {
    path: '/api/flows',
    purpose: ['listFlows', 'Flows, those with the latest activity first', FlowPage],
    parameters: [...FLOWS, 'correlationKey', 'state', 'sort', ...PAGE],
    answer: listFlows,
  },
  // Before the paths of a flow; a flow whose key is `statistics` is reached by the parameter `key`.
  {
    path: '/api/flows/statistics',
    purpose: ['statisticsOfFlows', 'How flows go: their states, Steps and durations, by Event', FlowStatistics],
    parameters: ['event', 'environment', ...RANGE],
    answer: statisticsOfFlows,
  },
  {
    path: '/api/flows/:correlationKey',
    purpose: ['getFlow', 'One flow, its entries oldest first', Flow],
    parameters: ['key', ...PAGE],
    answer: oneFlow,
    probe: flowOf,
  },
  {
    path: '/api/flows/:correlationKey/compare/:other',
    purpose: ['compareFlows', 'Two flows side by side, Step by Step', FlowComparison],
    parameters: ['key', 'other'],
    answer: compareFlows,
    probe: flowsOf,
  },
  {
    path: '/api/flows/:correlationKey/tail',
    purpose: ['tailFlow', "A flow's entries as they arrive"],
    parameters: ['key', ...LIVE, 'lastEventId'],
    stream: tailFlow,
    headers: tailHeaders,
  },
  {
    path: '/api/flows/:correlationKey/export',
    purpose: ['exportFlow', 'A flow as a file'],
    parameters: ['key', ...LIVE, ...RANGE, 'format', 'order'],
    stream: exportFlow,
    headers: flowHeaders,
    probe: flowOf,
  },
  // Not below `/api/flows`, where every name is a correlationKey.
  {
    path: '/api/flow-states',
    purpose: ['countFlows', 'The numbers of flows by their probable states', FlowStateCounts],
    parameters: FLOWS,
    answer: countFlows,
  },
  {
    path: '/api/names',
    purpose: ['listNames', 'Events and Projects by their names', NameList],
    parameters: ['q', 'limit'],
    answer: listNames,
  },
  {
    path: '/api/query',
    purpose: ['changeQuery', 'A search with a term added or removed', Query],
    parameters: ['q', 'with', 'without'],
    answer: changeQuery,
  },
  {
    path: '/api/query/syntax',
    purpose: ['describeSyntax', 'The forms of a search', Syntax],
    parameters: [],
    answer: describeSyntax,
  },
  {
    path: '/api/query/range',
    purpose: ['readTypedRange', 'A range of time as people type it', TypedRange],
    parameters: ['begin', 'end', 'zone'],
    answer: readTypedRange,
  },
  {
    path: '/api/refusals',
    purpose: ['listRefusals', 'The last refusals, the last one first', Refusals],
    parameters: ['code', 'limit'],
    answer: listRefusals,
  },
]
