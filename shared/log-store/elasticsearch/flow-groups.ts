import { levelRank } from '../../contract/levels.ts'
import { compareTimestamps, parseTimestamp } from '../../contract/timestamp.ts'
import { type FlowGroup, PAGE_GROUPS_MAX, ReadTooLargeError } from '../log-store.ts'
import { allOf, type Clause, term } from './query-dsl.ts'
import { levelOf, type Searcher } from './searcher.ts'

const BUCKETS_PER_PAGE = 1_000
/** Maximum groups held at once; a Team cannot make a flow with as many. */
const GROUPS_MAX = 2 * PAGE_GROUPS_MAX
const PLACES = ['event', 'step', 'project'] as const

interface Key {
  readonly correlationKey: string
  readonly event: string | null
  readonly step: string | null
  readonly project: string | null
  readonly level: number
}
export interface TopHit {
  readonly hits: { readonly hits: readonly { readonly fields: { readonly timestamp: readonly string[] } }[] }
}
interface Bucket {
  readonly key: Key
  readonly doc_count: number
  readonly first: TopHit
  readonly last: TopHit
}
interface Groups {
  readonly groups: { readonly after_key?: Key; readonly buckets: readonly Bucket[] }
}

/**
 * Counts the entries of flows by Event, Step, Project and level. The counts are exact: a composite aggregation omits no value. `since`
 * (yyyy-mm-dd) is the first day on which any of the flows had entries, null if unknown; later days are always searched, since a summary may
 * lag behind the entries. A flow without entries is not in the map.
 */
export async function readFlowGroups(
  searcher: Searcher,
  team: string,
  keys: readonly string[],
  since: string | null,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, readonly FlowGroup[]>> {
  const clauses: Clause[] = [term('team', team), { terms: { correlationKey: keys } }]
  if (since !== null) clauses.push({ range: { receivedAt: { gte: `${since}T00:00:00.000Z` } } })
  const groups = new Map<string, FlowGroup[]>()
  let count = 0
  let after: Key | undefined
  do {
    const body = { query: allOf(clauses), size: 0, aggs: { groups: groupsFrom(after) } }
    const answer = await searcher.entries<Groups>(team, [], body, { signal })
    const page = answer.aggregations?.groups
    count += page?.buckets.length ?? 0
    if (count > GROUPS_MAX) throw new ReadTooLargeError('flows with so many groups cannot be counted at once')
    for (const bucket of page?.buckets ?? []) {
      const { correlationKey } = bucket.key
      const ofKey = groups.get(correlationKey)
      if (ofKey === undefined) groups.set(correlationKey, [groupOf(bucket)])
      else ofKey.push(groupOf(bucket))
    }
    // A page has a key to go on from even if it is the last.
    after = page?.buckets.length === BUCKETS_PER_PAGE ? page.after_key : undefined
  } while (after !== undefined)
  for (const ofKey of groups.values()) ofKey.sort(byBeginning)
  return groups
}

function groupsFrom(after: Key | undefined): object {
  const place = (field: string): object => ({ [field]: { terms: { field, missing_bucket: true } } })
  const sources = [
    { correlationKey: { terms: { field: 'correlationKey' } } },
    ...PLACES.map(place),
    { level: { terms: { field: 'level' } } },
  ]
  return {
    composite: { size: BUCKETS_PER_PAGE, sources, ...(after !== undefined && { after }) },
    // `min` and `max` use doubles, which cannot hold nanoseconds; a hit has the exact instant.
    aggs: { first: edge('asc'), last: edge('desc') },
  }
}

/** An aggregation of the first or the last entry of a bucket, with its exact instant. */
export const edge = (order: 'asc' | 'desc'): object => ({
  top_hits: {
    size: 1,
    _source: false,
    sort: [{ timestamp: { order, numeric_type: 'date_nanos' } }],
    docvalue_fields: [{ field: 'timestamp', format: 'strict_date_optional_time_nanos' }],
  },
})

export const instantOf = ({ hits }: TopHit): string => parseTimestamp(hits.hits[0]?.fields.timestamp[0] ?? '') ?? ''

const groupOf = ({ key, doc_count, first, last }: Bucket): FlowGroup => ({
  event: key.event,
  step: key.step,
  project: key.project,
  level: levelOf(key.level),
  count: doc_count,
  firstAt: instantOf(first),
  lastAt: instantOf(last),
})

/** Orders groups by their first entry. */
const byBeginning = (a: FlowGroup, b: FlowGroup): number =>
  compareTimestamps(a.firstAt, b.firstAt) ||
  PLACES.map((place) => compareTexts(a[place], b[place])).find((difference) => difference !== 0) ||
  levelRank(a.level) - levelRank(b.level)

const compareTexts = (a: string | null, b: string | null): number =>
  a === b ? 0 : a === null || (b !== null && a < b) ? -1 : 1
