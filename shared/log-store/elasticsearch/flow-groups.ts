import { levelOf, levelRank } from '../../contract/levels.ts'
import { compareTimestamps, earlier, later, parseTimestamp } from '../../contract/timestamp.ts'
import { type FlowGroup, PAGE_GROUPS_MAX, ReadTooLargeError, weightOf } from '../log-store.ts'
import { AnswerTooLongError } from './connection.ts'
import { allOf, type Clause, term } from './query-dsl.ts'
import { edge, INSTANT, instantOf, type Searcher, type TopHit } from './searcher.ts'

const BUCKETS_PER_PAGE = 1_000
/** Maximum weight of the groups held at once; a Team hardly makes a flow with as many. */
const WEIGHT_MAX = 2 * PAGE_GROUPS_MAX
/** Maximum entries of flows that are grouped here. */
const ENTRIES_MAX = 1_000
const PLACES = ['event', 'step', 'project'] as const

interface Key {
  readonly correlationKey: string
  readonly event: string | null
  readonly step: string | null
  readonly project: string | null
  readonly level: number
}
interface Bucket {
  readonly key: Key
  readonly doc_count: number
  readonly first: TopHit
  readonly last: TopHit
}
interface Aggregated {
  readonly groups: { readonly after_key?: Key; readonly buckets: readonly Bucket[] }
}

interface Place {
  readonly correlationKey: string
  readonly group: FlowGroup
}

/**
 * Counts the entries of flows by Event, Step, Project and level, exactly. `since` (yyyy-mm-dd) is the first day on which any of the flows
 * had entries, null if unknown; later days are always searched, since a summary may lag behind the entries. A flow without entries is not in
 * the map. Rejects with an `AnswerTooLongError` if these flows have too many groups, but fewer flows may have fewer.
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
  const query = allOf(clauses)
  const places =
    (await placesOfFew(searcher, team, query, signal)) ??
    (await placesOfMany(searcher, team, query, keys.length > 1, signal))
  const byKey = Map.groupBy(places, ({ correlationKey }) => correlationKey)
  return new Map([...byKey].map(([key, ofKey]) => [key, ofKey.map(({ group }) => group).sort(byBeginning)]))
}

/** The fields of an entry that make its group: lists of one value each, absent without a value. */
interface EntryFields extends Partial<Record<(typeof PLACES)[number], readonly [string]>> {
  readonly correlationKey: readonly [string]
  readonly level: readonly [number]
  readonly timestamp: readonly [string]
}

/** Groups the entries here, in a third of the time that their aggregation takes; null if they are more than `ENTRIES_MAX`. */
async function placesOfFew(
  searcher: Searcher,
  team: string,
  query: Clause,
  signal: AbortSignal | undefined,
): Promise<readonly Place[] | null> {
  const wanted = {
    _source: false,
    stored_fields: '_none_',
    docvalue_fields: [...PLACES, 'correlationKey', 'level', INSTANT],
  }
  const body = { query, sort: ['_doc'], size: ENTRIES_MAX + 1, ...wanted }
  const hits = (await searcher.entries(team, [], body, { signal })).hits?.hits ?? []
  if (hits.length > ENTRIES_MAX) return null
  const places = new Map<string, Place>()
  for (const { fields } of hits) {
    const place = placeOfEntry(fields as EntryFields)
    const { correlationKey, group } = place
    const id = JSON.stringify([correlationKey, group.event, group.step, group.project, group.level])
    const known = places.get(id)
    places.set(id, known === undefined ? place : { correlationKey, group: together(known.group, group) })
  }
  return [...places.values()]
}

function placeOfEntry({ correlationKey, event, step, project, level, timestamp }: EntryFields): Place {
  const at = parseTimestamp(timestamp[0]) ?? ''
  const [ofEvent = null, ofStep = null, ofProject = null] = [event?.[0], step?.[0], project?.[0]]
  const place = { event: ofEvent, step: ofStep, project: ofProject, level: levelOf(level[0]) }
  return { correlationKey: correlationKey[0], group: { ...place, count: 1, firstAt: at, lastAt: at } }
}

const together = (a: FlowGroup, b: FlowGroup): FlowGroup => ({
  ...a,
  count: a.count + b.count,
  firstAt: earlier(a.firstAt, b.firstAt),
  lastAt: later(a.lastAt, b.lastAt),
})

/** The counts are exact: a composite aggregation omits no value. */
async function placesOfMany(
  searcher: Searcher,
  team: string,
  query: Clause,
  canAskForFewer: boolean,
  signal: AbortSignal | undefined,
): Promise<readonly Place[]> {
  const places: Place[] = []
  let weight = 0
  let after: Key | undefined
  do {
    const body = { query, size: 0, aggs: { groups: groupsFrom(after) } }
    const answer = await searcher.entries<Aggregated>(team, [], body, { signal })
    const page = answer.aggregations?.groups
    const found = (page?.buckets ?? []).map(placeOf)
    places.push(...found)
    weight += weightOf(found.map(({ group }) => group))
    if (weight > WEIGHT_MAX)
      throw new (canAskForFewer ? AnswerTooLongError : ReadTooLargeError)('flows with so many groups cannot be counted')
    // A page has a key to go on from even if it is the last.
    after = page?.buckets.length === BUCKETS_PER_PAGE ? page.after_key : undefined
  } while (after !== undefined)
  return places
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

const placeOf = ({ key: { correlationKey, event, step, project, level }, doc_count, first, last }: Bucket): Place => ({
  correlationKey,
  group: {
    event,
    step,
    project,
    level: levelOf(level),
    count: doc_count,
    firstAt: instantOf(first),
    lastAt: instantOf(last),
  },
})

/** Orders groups by their first entry. */
const byBeginning = (a: FlowGroup, b: FlowGroup): number =>
  compareTimestamps(a.firstAt, b.firstAt) ||
  PLACES.map((place) => compareTexts(a[place], b[place])).find((difference) => difference !== 0) ||
  levelRank(a.level) - levelRank(b.level)

const compareTexts = (a: string | null, b: string | null): number =>
  a === b ? 0 : a === null || (b !== null && a < b) ? -1 : 1
