import * as entryProjections from '../../consumers/projections/entries.ts'
import * as flowProjections from '../../consumers/projections/flows.ts'
import { levelRank } from '../../shared/contract/levels.ts'
import { leafTerm } from '../../shared/log-store/elasticsearch/entry-body.ts'
import { FACETS } from '../../shared/log-store/log-store.ts'
import { openStore } from '../stack/servers.ts'
import { FACET_VALUES, KEY_PART, LIST_ENTRIES, LIST_FLOWS, last, type Range, type Read, spanMs } from './reads.ts'
import { DAYS, END_MS, middleFlow, projectId, TEAM, WORDS } from './records.ts'
import { heldBy, projectionOf, readStore, type Side, type Timed } from './side.ts'

const PREFIX = 'bench-reads'

/** Sluice's log store on a server, and beside it the leanest requests by hand to the same indices. */
export async function openElasticsearchSides(url: string, entries: number): Promise<readonly Side[]> {
  const store = openStore(url, PREFIX, { now: () => END_MS })
  await store.indices.apply()
  const { signal } = new AbortController()
  const project = projectionOf({ ...entryProjections, ...flowProjections })
  const held = () => heldBy(store)
  const bytes = async (): Promise<number> => {
    const { _all } = await send<{ _all: { primaries: { store: { size_in_bytes: number } } } }>(
      `${url}/${PREFIX}-*/_stats/store`,
    )
    return _all.primaries.store.size_in_bytes
  }
  const sluice: Side = {
    name: 'on Elasticsearch',
    held,
    async fill(batch) {
      const { documents, flows } = project(batch)
      await store.write(documents, signal)
      await store.mergeFlows(flows, signal)
      return null
    },
    async settle() {
      await send(`${url}/${PREFIX}-*/_refresh`, undefined, 'POST')
      // The same read again would be answered from the cache of requests.
      await send(`${url}/${PREFIX}-*/_settings`, { 'index.requests.cache.enable': false }, 'PUT')
    },
    read: (read) => readStore(store, read),
    bytes,
    close: () => store.close(),
  }
  const requests = requestsOf(entries)
  const byHand: Side = {
    name: 'by hand',
    held,
    fill: async () => null,
    settle: async () => undefined,
    read: async ({ name }: Read) => (requests[name] === undefined ? null : timed(url, requests[name])),
    bytes,
    close: async () => undefined,
  }
  return [sluice, byHand]
}

interface Answer {
  /** Missing where nothing was found. */
  readonly hits?: { readonly hits: readonly { readonly _source: { readonly correlationKey: string } }[] }
  // biome-ignore lint/suspicious/noExplicitAny: the shape is that of each request.
  readonly aggregations: any
}

const hitsOf = ({ hits }: Answer) => hits?.hits ?? []

/** A request for entries or, where it says so, for flows, whose keys a second one may need. */
interface Request {
  readonly flows?: boolean
  readonly body: object
  readonly next?: (answer: Answer) => object
  sizeOf(answer: Answer): number
}

async function timed(url: string, { flows, body, next, sizeOf }: Request): Promise<Timed> {
  const search = (index: string, sought: object): Promise<Answer> =>
    send(`${url}/${index}/_search?preference=bench&filter_path=hits.hits._source,aggregations`, {
      track_total_hits: false,
      ...sought,
    })
  const start = performance.now()
  const answer = await search(flows ? `${PREFIX}-flows-v1` : `${PREFIX}-*-logs-v1-*`, body)
  if (next !== undefined) await search(`${PREFIX}-*-logs-v1-*`, next(answer))
  return { ms: performance.now() - start, size: sizeOf(answer) }
}

async function send<Result>(url: string, body?: object, method = body === undefined ? 'GET' : 'POST'): Promise<Result> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Result
}

const term = (field: string, value: string | number): object => ({ term: { [field]: value } })
const terms = (field: string, size: number, aggs?: object): object => ({
  terms: { field, size },
  ...(aggs && { aggs }),
})
const within = ({ from, to }: Range): object => ({ range: { timestamp: { gte: from, lt: to } } })
const all = (...clauses: readonly object[]): object => ({ bool: { filter: [term('team', TEAM), ...clauses] } })
const ERROR = term('level', levelRank('Error'))
const PROJECT = projectId(3)
const WORD_FIELDS = ['message', 'exception', 'payload', 'details']
const anywhere = (clause: (field: string) => object): object => ({
  bool: { should: WORD_FIELDS.map(clause), minimum_should_match: 1 },
})
const word = (sought: string): object => anywhere((field) => term(field, sought))

const list = (...clauses: readonly object[]): Request => ({
  body: {
    query: all(...clauses),
    size: LIST_ENTRIES,
    sort: [{ timestamp: 'desc' }, { id: 'desc' }],
    _source: ['source', 'row'],
  },
  sizeOf: (answer) => hitsOf(answer).length,
})

const histogram = (days: number, ...clauses: readonly object[]): Request => ({
  body: {
    query: all(...clauses),
    size: 0,
    aggs: {
      spans: {
        date_histogram: { field: 'timestamp', fixed_interval: `${spanMs(days)}ms` },
        aggs: { levels: terms('level', 6) },
      },
    },
  },
  sizeOf: ({ aggregations }) => sum(aggregations.spans.buckets),
})

const facets = (...clauses: readonly object[]): Request => ({
  body: {
    query: all(...clauses),
    size: 0,
    aggs: Object.fromEntries(FACETS.map((name) => [name, terms(name, FACET_VALUES)])),
  },
  sizeOf: ({ aggregations }) => sum(aggregations.level.buckets),
})

const EDGES = { first: { min: { field: 'timestamp' } }, last: { max: { field: 'timestamp' } } }

const places = (keys: readonly string[]): object => ({
  query: all({ terms: { correlationKey: keys } }),
  size: 0,
  aggs: {
    places: {
      composite: {
        size: 1_000,
        sources: ['correlationKey', 'event', 'step', 'project', 'level'].map((name) => ({
          [name]: { terms: { field: name, missing_bucket: true } },
        })),
      },
      aggs: EDGES,
    },
  },
})

const flows = (...clauses: readonly object[]): Request => ({
  flows: true,
  body: { query: all(...clauses), size: LIST_FLOWS, sort: [{ lastAt: 'desc' }, { correlationKey: 'asc' }] },
  next: (answer) => places(hitsOf(answer).map(({ _source }) => _source.correlationKey)),
  sizeOf: (answer) => hitsOf(answer).length,
})

const sum = (buckets: readonly { readonly doc_count: number }[]): number =>
  buckets.reduce((total, { doc_count }) => total + doc_count, 0)

/** The leanest request for each read that has the same answer. Percentiles of a span would need a field of their own. */
function requestsOf(entries: number): Readonly<Record<string, Request>> {
  return {
    list: list(),
    'common word': list(word(WORDS.common)),
    'rare word': list(word(WORDS.rare)),
    'no match': list(word(WORDS.none)),
    phrase: list(anywhere((field) => ({ match_phrase: { [field]: WORDS.phrase } }))),
    field: list(term('scopeLeaves', leafTerm('tenant', 'tenant-7')), ERROR),
    histogram: histogram(DAYS),
    'histogram of a day': histogram(1, within(last(1))),
    'histogram of a Project, 30 days': histogram(DAYS, term('project', PROJECT), within(last(DAYS))),
    'histogram of a Project, a day': histogram(1, term('project', PROJECT), within(last(1))),
    'histogram of a common word': histogram(DAYS, word(WORDS.common)),
    facets: facets(),
    'facets of 30 days': facets(within(last(DAYS))),
    'facets of errors, 7 days': facets(ERROR, within(last(7))),
    'facets of a common word': facets(word(WORDS.common)),
    'one flow': {
      body: places([middleFlow(entries)]),
      sizeOf: ({ aggregations }) => sum(aggregations.places.buckets),
    },
    'list of flows': flows(),
    'list of flows of a Project': flows(term('projects', PROJECT)),
    'flows by part of a key': flows({ wildcard: { keyFolded: `*${KEY_PART}*` } }),
  }
}
