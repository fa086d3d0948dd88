import { DAY_MS, timestampOf } from '../../shared/contract/timestamp.ts'
import type {
  EntryFilter,
  Facets,
  Flow,
  FlowFilter,
  FlowPage,
  Groups,
  Histogram,
  LogStore,
  Page,
  SeriesAnswer,
} from '../../shared/log-store/log-store.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import { DAYS, END_MS, middleFlow, projectId, TEAM, WORDS } from './records.ts'

/** A read that the page makes. */
export interface Read {
  readonly name: string
  run(store: LogStore): Promise<unknown>
  /** The entries, or the flows, that an answer lists or counts. */
  sizeOf(answer: unknown): number
}

const SPANS = 80
/** The width of a span of so many days, in milliseconds. */
export const spanMs = (days: number): number => Math.ceil((days * DAY_MS) / SPANS)
export const LIST_ENTRIES = 100
export const LIST_FLOWS = 50
export const FACET_VALUES = 20
export const KEY_PART = '00007'

export interface Range {
  readonly from: string
  readonly to: string
}

/** A range that begins and ends within a minute, as those of people do. */
export const last = (days: number): Range => ({
  from: timestampOf(END_MS - days * DAY_MS + 12_345),
  to: timestampOf(END_MS - 7_654),
})

const NO_CONDITION = { team: TEAM, from: null, to: null, environment: null, event: null, step: null, project: null }

export const filterOf = (query: string, fields: Partial<EntryFilter> = {}): EntryFilter => ({
  ...NO_CONDITION,
  kinds: [],
  query: parseQuery(query).query,
  levelMin: null,
  levelMax: null,
  correlationKey: null,
  category: null,
  template: null,
  exceptionGroup: null,
  ...fields,
})

const TENANT = { field: 'scope', path: 'tenant' } as const
const GROUP_LIMITS = { groupsMax: 50, bucketsMax: 24 }
const P95 = { fn: 'p95', of: { field: 'scope', path: 'ms' }, by: null, seriesMax: 5, bucketsMax: SPANS } as const

const sumOf = (items: readonly { readonly count: number }[]): number =>
  items.reduce((total, { count }) => total + count, 0)

function readOf<Answer>(
  name: string,
  run: (store: LogStore) => Promise<Answer>,
  sizeOf: (answer: Answer) => number,
): Read {
  return { name, run, sizeOf: (answer) => sizeOf(answer as Answer) }
}

const list = (name: string, query: string, fields: Partial<EntryFilter> = {}): Read =>
  readOf(
    name,
    (store) => store.search(filterOf(query, fields), { limit: LIST_ENTRIES, order: 'desc', after: null, form: 'row' }),
    ({ entries }: Page) => entries.length,
  )

const histogram = (name: string, query: string, fields: Partial<EntryFilter> = {}): Read =>
  readOf(
    name,
    (store) => store.histogram(filterOf(query, fields), SPANS),
    ({ total }: Histogram) => total,
  )

const facets = (name: string, query: string, fields: Partial<EntryFilter> = {}): Read =>
  readOf(
    name,
    (store) => store.facets(filterOf(query, fields), FACET_VALUES),
    ({ level }: Facets) => sumOf(level),
  )

const flows = (name: string, fields: Partial<FlowFilter> = {}): Read =>
  readOf(
    name,
    (store) =>
      store.searchFlows(
        { ...NO_CONDITION, keyPart: null, levelMin: null, state: null, ...fields },
        { limit: LIST_FLOWS, sort: 'latest', after: null },
      ),
    (answer: FlowPage) => answer.flows.length,
  )

/** The reads that are measured, over a store with so many entries. */
export function readsOf(entries: number): readonly Read[] {
  const ofProject = { project: projectId(3) }
  return [
    list('list', ''),
    list('common word', WORDS.common),
    list('rare word', WORDS.rare),
    list('no match', WORDS.none),
    list('phrase', `"${WORDS.phrase}"`),
    list('field', 'scope.tenant:tenant-7 level:error'),
    list('number comparison', 'scope.ms:>990', { kinds: ['application'] }),
    histogram('histogram', ''),
    histogram('histogram of a day', '', last(1)),
    histogram('histogram of a Project, 30 days', '', { ...ofProject, ...last(DAYS) }),
    histogram('histogram of a Project, a day', '', { ...ofProject, ...last(1) }),
    histogram('histogram of a common word', WORDS.common),
    facets('facets', ''),
    facets('facets of 30 days', '', last(DAYS)),
    facets('facets of errors, 7 days', 'level:error', last(7)),
    facets('facets of a common word', WORDS.common),
    readOf(
      'groups of a scope value, 7 days',
      (store) => store.groups(filterOf('', last(7)), TENANT, GROUP_LIMITS),
      (answer: Groups) => sumOf(answer.groups),
    ),
    readOf(
      'groups of messages, 30 days',
      (store) => store.groups(filterOf('', last(DAYS)), 'template', GROUP_LIMITS),
      (answer: Groups) => sumOf(answer.groups),
    ),
    readOf(
      'p95 of a number, 7 days',
      (store) => store.series(filterOf('', last(7)), P95),
      ({ series }: SeriesAnswer) => sumOf(series),
    ),
    readOf(
      'p95 of a number by a scope value, 7 days',
      (store) => store.series(filterOf('', last(7)), { ...P95, by: TENANT }),
      ({ series }: SeriesAnswer) => sumOf(series),
    ),
    readOf(
      'one flow',
      (store) => store.flow(TEAM, middleFlow(entries)),
      (flow: Flow | undefined) => sumOf(flow?.groups ?? []),
    ),
    flows('list of flows'),
    flows('list of flows of a Project', ofProject),
    flows('flows by part of a key', { keyPart: KEY_PART }),
  ]
}
