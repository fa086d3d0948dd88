import { levelOf } from '../../contract/levels.ts'
import type { EntryRow } from '../../contract/rows.ts'
import {
  type EntryFilter,
  type EntryGroup,
  type GroupField,
  type LogStoreReader,
  NO_GROUPS,
  PAGE_BYTES_MAX,
} from '../log-store.ts'
import { headOf, type Spans } from '../spans.ts'
import { leafTerm } from './entry-body.ts'
import { bySpan, spansOf } from './histogram.ts'
import { type Clause, compileQuery, LEAVES } from './query-dsl.ts'
import { aggregate, edge, entrySort, INSTANT, instantOf, type Searcher, type Terms, type TopHit } from './searcher.ts'

type Value = string | number

interface Counted {
  readonly values: Terms<Value>
  readonly without: { readonly doc_count: number }
}

interface Described {
  readonly values: { readonly buckets: readonly Bucket[] }
}

interface Bucket {
  readonly key: Value
  readonly doc_count: number
  readonly first: TopHit
  readonly last: TopHit & { readonly hits: { readonly hits: readonly { readonly _id: string }[] } }
  readonly worst: { readonly value: number }
  readonly spans: { readonly buckets: readonly { readonly doc_count: number }[] }
}

/**
 * Each shard returns its most frequent values; a value that is rare in every shard may be missing from the ranking. The counts of ranked
 * values are exact: a second search describes them, so that shards do not describe values that are not shown.
 */
const VALUES_PER_SHARD = 5_000

/** A field whose values can be counted. */
interface Counting {
  /** The field, and a pattern that selects its terms if other terms are in the field. */
  readonly terms: { readonly field: string; readonly include?: string }
  /** Finds the entries with any of the values. */
  having(values: readonly Value[]): Clause
  /** An aggregation of the entries without a value. */
  readonly without: object
  textOf(value: Value): string
}

export function countingOf(by: GroupField): Counting {
  if (typeof by !== 'string') {
    const leaves = LEAVES[by.field]
    return {
      terms: { field: `${leaves}.values`, include: leafPattern(by.path) },
      having: (values) => ({ terms: { [leaves]: values } }),
      without: { filter: compileQuery({ type: 'not', query: { type: 'leafExists', ...by } }) },
      textOf: (value) => leafValue(by.path, value),
    }
  }
  return {
    terms: { field: by },
    having: (values) => ({ terms: { [by]: values } }),
    without: { missing: { field: by } },
    textOf: (value) => (by === 'level' ? levelOf(Number(value)) : String(value)),
  }
}

/** A Lucene regular expression for the terms of a path: anything but letters and digits may be an operator there. */
export const leafPattern = (path: string): string =>
  `${leafTerm(path, '').replace(/[^\p{L}\p{N}]/gu, (character) => `\\${character}`)}.*`

/** The value in a term of the path. */
export const leafValue = (path: string, term: Value): string => String(term).slice(leafTerm(path, '').length)

export function createGroupReader(searcher: Searcher, search: LogStoreReader['search']): LogStoreReader['groups'] {
  return async function groups(filter, by, { groupsMax, bucketsMax }, signal) {
    const spans = await spansOf(searcher, filter, bucketsMax, signal)
    if (spans === null) return NO_GROUPS
    const counting = countingOf(by)
    const { values, without } = await countGroups(searcher, filter, counting, groupsMax, signal)
    const keys = values.buckets.slice(0, groupsMax).map(({ key }) => key)
    const buckets = await describeGroups(searcher, filter, counting, keys, spans, signal)
    const samples = await readSamples(search, filter, buckets.map(idOf), signal)
    const shown = withSamples(buckets, samples)
    return {
      ...headOf(spans),
      groups: shown.map(([bucket, sample]) => groupOf(bucket, counting, sample)),
      more: values.sum_other_doc_count > 0 || values.buckets.length > shown.length,
      ungrouped: without.doc_count,
    }
  }
}

/** The most frequent values, one more than the maximum number of groups. */
export async function countGroups(
  searcher: Searcher,
  filter: EntryFilter,
  { terms, without }: Counting,
  groupsMax: number,
  signal: AbortSignal | undefined,
): Promise<Counted> {
  const aggs = { values: { terms: { ...terms, size: groupsMax + 1, shard_size: VALUES_PER_SHARD } }, without }
  const counted = await aggregate<Counted>(searcher, filter, aggs, signal)
  return counted ?? { values: { sum_other_doc_count: 0, buckets: [] }, without: { doc_count: 0 } }
}

async function describeGroups(
  searcher: Searcher,
  filter: EntryFilter,
  { terms, having }: Counting,
  keys: readonly Value[],
  spans: Spans,
  signal: AbortSignal | undefined,
): Promise<readonly Bucket[]> {
  if (keys.length === 0) return []
  const last = { top_hits: { size: 1, _source: false, sort: entrySort('desc'), docvalue_fields: [INSTANT] } }
  const aggs = {
    values: {
      terms: { ...terms, include: keys, size: keys.length },
      aggs: { first: edge('asc'), last, worst: { max: { field: 'level' } }, spans: bySpan(spans) },
    },
  }
  const described = await aggregate<Described>(searcher, filter, aggs, signal, having(keys))
  return described?.values.buckets ?? []
}

const idOf = ({ last }: Bucket): string => last.hits.hits[0]?._id ?? ''

/** The entries with these ids, by id. */
async function readSamples(
  search: LogStoreReader['search'],
  filter: EntryFilter,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, EntryRow>> {
  const found = new Map<string, EntryRow>()
  const queries = ids.map((value) => ({ type: 'equals', field: 'id', value, prefix: false }) as const)
  if (ids.length === 0) return found
  let after = null
  do {
    const page = { limit: ids.length, order: 'asc', after, form: 'row' } as const
    const { entries, next } = await search({ ...filter, query: { type: 'or', queries } }, page, signal)
    for (const entry of entries) found.set(entry.id, entry)
    after = next
  } while (after !== null)
  return found
}

/** The groups with their samples, at least one, up to the first that would make the answer longer than a page. */
function withSamples(
  buckets: readonly Bucket[],
  samples: ReadonlyMap<string, EntryRow>,
): readonly (readonly [Bucket, EntryRow])[] {
  const shown: (readonly [Bucket, EntryRow])[] = []
  let bytes = 0
  for (const bucket of buckets) {
    const sample = samples.get(idOf(bucket))
    // Its day was removed in the meantime.
    if (sample === undefined) continue
    bytes += JSON.stringify(sample).length
    if (shown.length > 0 && bytes > PAGE_BYTES_MAX) break
    shown.push([bucket, sample])
  }
  return shown
}

const groupOf = (
  { key, doc_count, first, last, worst, spans }: Bucket,
  { textOf }: Counting,
  sample: EntryRow,
): EntryGroup => ({
  value: textOf(key),
  count: doc_count,
  firstAt: instantOf(first),
  lastAt: instantOf(last),
  worstLevel: levelOf(worst.value),
  counts: spans.buckets.map((span) => span.doc_count),
  sample,
})
