import { earlier, later } from '../../contract/timestamp.ts'
import {
  FLOW_STATES,
  type Flow,
  type FlowCounts,
  type FlowFilter,
  type FlowGroup,
  type FlowPageRequest,
  type FlowSort,
  type FlowState,
  type FlowStates,
  type ListedFlow,
  type LogStoreReader,
  NO_FLOWS,
  PAGE_GROUPS_MAX,
  TALLIED_MAX,
  weightOf,
} from '../log-store.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { compileFlowFilter, stateClauses } from './flow-filter.ts'
import { readFlowGroups } from './flow-groups.ts'
import type { FlowSummary } from './flow-summary.ts'
import { flowId } from './flow-writer.ts'
import type { IndexNames } from './index-names.ts'
import { askForFewer } from './retrying.ts'
import { type Hit, type Searcher, type Terms, timeSort } from './searcher.ts'

interface Deps {
  /** A connection that retries (`retrying`). */
  readonly connection: Connection
  readonly searcher: Searcher
  readonly names: IndexNames
}

/** A flow can have as many groups as its Team has Steps and Projects, so few flows are counted before checking whether that is enough. */
const FLOWS_COUNTED_AT_ONCE = 100

/** The fields of a summary that a list shows. The other ones, by which flows are found, can be a hundred times as long. */
const LISTED_FIELDS = ['correlationKey', 'firstAt', 'lastAt', 'days'] as const
type ListedSummary = Pick<FlowSummary, (typeof LISTED_FIELDS)[number]>

/** The key that each sort puts before the latest activity. Summaries of earlier releases have no duration, nor has their index. */
const RANKS: Readonly<Record<FlowSort, object | null>> = {
  latest: null,
  longest: { duration: { order: 'desc', missing: 0, unmapped_type: 'long' } },
  worst: { worstLevel: { order: 'desc' } },
}

interface Counted {
  readonly doc_count: number
  readonly events?: Terms
  readonly steps?: Terms
}

interface States {
  readonly states: { readonly buckets: Readonly<Record<FlowState, Counted>> }
}

/** The flows of each Event and each Step among those of a state. */
const MEMBERS = {
  events: { terms: { field: 'events', size: TALLIED_MAX } },
  steps: { terms: { field: 'steps', size: TALLIED_MAX } },
}

/** Flows are found and ordered by their summaries; their contents are counted from the entries. */
export function createFlowReader({
  connection,
  searcher,
  names,
}: Deps): Pick<LogStoreReader, 'searchFlows' | 'countFlows' | 'tallyFlows' | 'flow'> {
  async function byState(
    filter: FlowFilter,
    states: FlowStates,
    signal: AbortSignal | undefined,
    members?: typeof MEMBERS,
  ): Promise<(state: FlowState) => Counted> {
    const aggs = { states: { filters: { filters: stateClauses(states) }, ...(members && { aggs: members }) } }
    const body = { query: compileFlowFilter(filter), size: 0, aggs }
    const answer = await searcher.flows<never, States>(filter.team, body, { signal })
    return (state) => answer.aggregations?.states.buckets[state] ?? { doc_count: 0 }
  }

  return {
    async searchFlows(filter, page, signal) {
      const { limit, sort, after } = page
      const read = async (within: FlowFilter): Promise<readonly Hit<ListedSummary>[]> =>
        (await searcher.flows<ListedSummary>(filter.team, pageBody(within, page), { signal })).hits?.hits ?? []
      // A part of a key takes longer to find than to sort. The end of a filter's range is one for the beginnings of flows.
      const hits = await (RANKS[sort] === null && filter.keyPart === null
        ? searcher.latest(filter, after?.lastAt ?? null, limit + 1, read)
        : read(filter))
      const found = hits.map((hit) => ({ ...hit._source, rank: RANKS[sort] === null ? 0 : Number(hit.sort?.[0]) }))
      const { flows, done } = await readListed(searcher, filter.team, found, limit, signal)
      const last = found[done - 1]
      const isMore = done < found.length && last !== undefined
      if (!isMore) return { flows, next: null }
      return { flows, next: { rank: last.rank, lastAt: last.lastAt, correlationKey: last.correlationKey } }
    },

    async countFlows(filter, states, signal) {
      const counted = await byState(filter, states, signal)
      const counts = { ...NO_FLOWS }
      for (const state of FLOW_STATES) counts[state] = counted(state).doc_count
      return counts
    },

    async tallyFlows(filter, states, signal) {
      const counted = await byState(filter, states, signal, MEMBERS)
      const tallyOf = (members: keyof typeof MEMBERS): ReadonlyMap<string, FlowCounts> => {
        const tally = new Map<string, Record<FlowState, number>>()
        for (const state of FLOW_STATES) {
          for (const { key, doc_count } of counted(state)[members]?.buckets ?? []) {
            const counts = tally.get(key) ?? { ...NO_FLOWS }
            tally.set(key, counts)
            counts[state] = doc_count
          }
        }
        return tally
      }
      return { events: tallyOf('events'), steps: tallyOf('steps') }
    },

    async flow(team, correlationKey, signal) {
      const summary = await readSummary(connection, names.flows, team, correlationKey, signal)
      const since = summary === undefined ? null : firstDay([summary])
      const groups = (await readFlowGroups(searcher, team, [correlationKey], since, signal)).get(correlationKey)
      return flowOf(summary ?? { correlationKey }, groups)
    },
  }
}

/** The request for the summaries of a page, and for one more. */
function pageBody(filter: FlowFilter, { limit, sort, after }: FlowPageRequest): object {
  const rank = RANKS[sort]
  return {
    query: compileFlowFilter(filter),
    sort: [...(rank === null ? [] : [rank]), timeSort('desc', 'lastAt'), { correlationKey: { order: 'asc' } }],
    size: limit + 1,
    _source: LISTED_FIELDS,
    ...(after !== null && {
      search_after: [...(rank === null ? [] : [after.rank]), after.lastAt, after.correlationKey],
    }),
  }
}

type Ranked = ListedSummary & Pick<ListedFlow, 'rank'>

/** The flows of the first summaries, up to `limit` or a weight of `PAGE_GROUPS_MAX`, and the number of summaries that these are. */
async function readListed(
  searcher: Searcher,
  team: string,
  found: readonly Ranked[],
  limit: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly flows: readonly ListedFlow[]; readonly done: number }> {
  const flows: ListedFlow[] = []
  let weight = 0
  let done = 0
  let atOnce = FLOWS_COUNTED_AT_ONCE
  while (done < Math.min(limit, found.length) && weight < PAGE_GROUPS_MAX) {
    const { summaries, counted } = await askForFewer(atOnce, async (count) => {
      atOnce = count
      const some = found.slice(done, Math.min(limit, done + count))
      const keys = some.map(({ correlationKey }) => correlationKey)
      return { summaries: some, counted: await readFlowGroups(searcher, team, keys, firstDay(some), signal) }
    })
    // A summary may exist before its entries are searchable, and may outlive them by a retention run.
    for (const summary of summaries) {
      const flow = flowOf(summary, counted.get(summary.correlationKey))
      if (flow !== undefined) flows.push({ ...flow, rank: summary.rank })
    }
    for (const ofKey of counted.values()) weight += weightOf(ofKey)
    done += summaries.length
  }
  return { flows, done }
}

/** The span of a flow comes from its summary, which also covers entries that retention removed; without a summary, from its entries. */
function flowOf(
  { correlationKey, firstAt, lastAt }: Pick<ListedSummary, 'correlationKey'> & Partial<ListedSummary>,
  groups: readonly FlowGroup[] | undefined,
): Flow | undefined {
  if (groups === undefined) return undefined
  return {
    correlationKey,
    firstAt: firstAt ?? groups.map((group) => group.firstAt).reduce(earlier),
    lastAt: lastAt ?? groups.map((group) => group.lastAt).reduce(later),
    groups,
  }
}

const firstDay = (summaries: readonly ListedSummary[]): string | null =>
  summaries.map(({ days }) => days[0] ?? '').sort()[0] || null

async function readSummary(
  connection: Connection,
  index: string,
  team: string,
  correlationKey: string,
  signal: AbortSignal | undefined,
): Promise<ListedSummary | undefined> {
  try {
    const path = `/${index}/_doc/${flowId(team, correlationKey)}`
    const query = { _source_includes: LISTED_FIELDS.join(',') }
    return (await connection.send<{ _source: ListedSummary }>({ method: 'GET', path, query, signal }))._source
  } catch (error) {
    if (error instanceof ElasticsearchError && error.status === 404) return undefined
    throw error
  }
}
