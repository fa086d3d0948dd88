import { LEVELS, levelOf } from '../../contract/levels.ts'
import { parseRecord } from '../../contract/rows.ts'
import { type EntryFilter, FACETS, type FacetName, type Facets, facetsOf, type LogStoreReader } from '../log-store.ts'
import type { Connection } from './connection.ts'
import { createGroupReader } from './groups.ts'
import { createHistogramReader } from './histogram.ts'
import type { IndexNames } from './index-names.ts'
import { createPageReader } from './page-reader.ts'
import { allOf, compileFilter, term } from './query-dsl.ts'
import { aggregate, type Searcher, type Terms, textOf, WHOLE } from './searcher.ts'
import { createSeriesReader } from './series.ts'

/**
 * Each shard returns its most frequent values; a value that is rare in every shard may be missing from the sum. With this many per shard,
 * that takes more values than any installation we know of has in a field.
 */
const FACET_VALUES_PER_SHARD = 5_000

type EntryReader = Pick<LogStoreReader, 'search' | 'get' | 'count' | 'histogram' | 'facets' | 'groups' | 'series'>

interface Deps {
  /** A connection that does not retry. */
  readonly connection: Connection
  readonly searcher: Searcher
  readonly names: IndexNames
}

export function createEntryReader({ connection, searcher, names }: Deps): EntryReader {
  const search = createPageReader(connection, searcher, names)
  return {
    search,

    async get(team, kind, id, signal) {
      const query = allOf([term('team', team), term('id', id)])
      const answer = await searcher.entries(team, [kind], { query, size: 1, _source: WHOLE }, { signal })
      const hit = answer.hits?.hits?.[0]
      return hit === undefined ? undefined : parseRecord(textOf(hit))
    },

    async count(filter, signal) {
      const body = { query: compileFilter(filter), size: 0, track_total_hits: true }
      const { hits } = await searcher.entries(filter.team, filter.kinds, body, { signal })
      return hits?.total?.value ?? 0
    },

    histogram: createHistogramReader(searcher),
    facets: (filter, valuesMax, signal) => readFacets(searcher, filter, valuesMax, signal),
    groups: createGroupReader(searcher, search),
    series: createSeriesReader(searcher),
  }
}

async function readFacets(
  searcher: Searcher,
  filter: EntryFilter,
  valuesMax: number,
  signal: AbortSignal | undefined,
): Promise<Facets> {
  // All levels are requested, as levels with equal counts are ordered here, not by rank.
  const sizes = { size: Math.max(valuesMax, LEVELS.length), shard_size: Math.max(valuesMax, FACET_VALUES_PER_SHARD) }
  const aggs = Object.fromEntries(FACETS.map((field) => [field, { terms: { field, ...sizes } }]))
  const found = await aggregate<Record<FacetName, Terms<string | number>>>(searcher, filter, aggs, signal)
  const countsOf = (field: FacetName) =>
    (found?.[field].buckets ?? []).map(({ key, doc_count }) => [facetValue(field, key), doc_count] as const)
  return facetsOf(countsOf, valuesMax)
}

const facetValue = (field: FacetName, key: string | number): string =>
  field === 'level' ? levelOf(Number(key)) : String(key)
