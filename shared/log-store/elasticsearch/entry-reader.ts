import { LEVELS } from '../../contract/levels.ts'
import type { EntryFilter, FacetName, Facets, LogStoreReader } from '../log-store.ts'
import type { Connection } from './connection.ts'
import { compileFilter } from './filter-dsl.ts'
import { createHistogramReader } from './histogram.ts'
import type { IndexNames } from './index-names.ts'
import { allOf, term } from './query-dsl.ts'
import { entrySort, LENIENT, levelOf, preferenceOf, recordOf, type Searcher } from './searcher.ts'

const FACETS: readonly FacetName[] = ['level', 'environment', 'event', 'step', 'project', 'category']
/**
 * Each shard names its most frequent values; a value that is rare in every shard may be missing from the sum. With so many
 * named, that takes more values than the field of any installation we know of.
 */
const FACET_VALUES_PER_SHARD = 5_000

type EntryReader = Pick<LogStoreReader, 'search' | 'get' | 'count' | 'histogram' | 'facets'>

interface Deps {
  /** One that retries. */
  readonly connection: Connection
  readonly searcher: Searcher
  readonly names: IndexNames
}

export function createEntryReader({ connection, searcher, names }: Deps): EntryReader {
  return {
    /**
     * Pages follow by key: entries never change, and (timestamp, id) never repeats, so a page needs no snapshot of the index
     * (a "point in time") to neither skip nor repeat what was there.
     */
    async search(filter, { limit, order, after }) {
      const answer = await searcher.entries(filter.team, filter.kinds, {
        query: compileFilter(filter),
        sort: entrySort(order),
        size: limit + 1,
        _source: ['source'],
        ...(after !== null && { search_after: [after.timestamp, after.id] }),
      })
      const found = (answer.hits?.hits ?? []).map(recordOf)
      const entries = found.slice(0, limit)
      const last = entries.at(-1)
      const next = found.length > limit && last ? { timestamp: last.timestamp, id: last.id } : null
      return { entries, next }
    },

    async get(team, kind, id) {
      const query = allOf([term('team', team), term('id', id)])
      const answer = await searcher.entries(team, [kind], { query, size: 1, _source: ['source'] })
      const hit = answer.hits?.hits?.[0]
      return hit === undefined ? undefined : recordOf(hit)
    },

    async count(filter) {
      const { count } = await connection.send<{ count: number }>({
        method: 'POST',
        path: `/${names.all(filter.kinds)}/_count`,
        query: { ...LENIENT, preference: preferenceOf(filter.team) },
        body: { query: compileFilter(filter) },
      })
      return count
    },

    histogram: createHistogramReader(searcher),
    facets: (filter, valuesMax) => readFacets(searcher, filter, valuesMax),
  }
}

type Terms = { readonly buckets: readonly { readonly key: string | number; readonly doc_count: number }[] }

async function readFacets(searcher: Searcher, filter: EntryFilter, valuesMax: number): Promise<Facets> {
  // All levels are asked for, since those with equal counts are put into order here and not by their rank.
  const sizes = { size: Math.max(valuesMax, LEVELS.length), shard_size: Math.max(valuesMax, FACET_VALUES_PER_SHARD) }
  const answer = await searcher.entries<Record<FacetName, Terms>>(filter.team, filter.kinds, {
    query: compileFilter(filter),
    size: 0,
    aggs: Object.fromEntries(FACETS.map((field) => [field, { terms: { field, ...sizes } }])),
  })
  const most = (field: FacetName): Facets[FacetName] =>
    (answer.aggregations?.[field].buckets ?? [])
      .map(({ key, doc_count }) => ({ value: facetValue(field, key), count: doc_count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, valuesMax)
  return {
    level: most('level'),
    environment: most('environment'),
    event: most('event'),
    step: most('step'),
    project: most('project'),
    category: most('category'),
  }
}

const facetValue = (field: FacetName, key: string | number): string =>
  field === 'level' ? levelOf(Number(key)) : String(key)
