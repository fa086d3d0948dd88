import { compareTimestamps } from '../../contract/timestamp.ts'
import type { Flow, FlowGroup, LogStoreReader } from '../log-store.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { compileFlowFilter } from './filter-dsl.ts'
import { readFlowGroups } from './flow-groups.ts'
import type { FlowSummary } from './flow-summary.ts'
import { flowId } from './flow-writer.ts'
import type { IndexNames } from './index-names.ts'
import type { Searcher } from './searcher.ts'

interface Deps {
  /** One that retries. */
  readonly connection: Connection
  readonly searcher: Searcher
  readonly names: IndexNames
}

/** Flows are found and put in order by their summaries; what they hold is counted from the entries. */
export function createFlowReader({ connection, searcher, names }: Deps): Pick<LogStoreReader, 'searchFlows' | 'flow'> {
  return {
    async searchFlows(filter, { limit, after }) {
      const answer = await searcher.flows<FlowSummary>(filter.team, {
        query: compileFlowFilter(filter),
        sort: [
          { lastAt: { order: 'desc', format: 'strict_date_optional_time_nanos', numeric_type: 'date_nanos' } },
          { correlationKey: { order: 'asc' } },
        ],
        size: limit + 1,
        ...(after !== null && { search_after: [after.lastAt, after.correlationKey] }),
      })
      const found = (answer.hits?.hits ?? []).map((hit) => hit._source)
      const summaries = found.slice(0, limit)
      const last = summaries.at(-1)
      if (last === undefined) return { flows: [], next: null }
      const keys = summaries.map(({ correlationKey }) => correlationKey)
      const counted = await readFlowGroups(searcher, filter.team, keys, firstDay(summaries))
      // A summary may come before its entries can be searched, and may outlive them by a retention run.
      const flows = summaries.flatMap((summary) => flowOf(summary, counted.get(summary.correlationKey)) ?? [])
      const next = found.length > limit ? { lastAt: last.lastAt, correlationKey: last.correlationKey } : null
      return { flows, next }
    },

    async flow(team, correlationKey) {
      const summary = await readSummary(connection, names.flows, team, correlationKey)
      const since = summary === undefined ? null : firstDay([summary])
      const groups = (await readFlowGroups(searcher, team, [correlationKey], since)).get(correlationKey)
      return flowOf(summary ?? { correlationKey }, groups)
    },
  }
}

/** A flow's span is its summary's, which also remembers entries that retention removed; without a summary, its entries'. */
function flowOf(
  { correlationKey, firstAt, lastAt }: Pick<FlowSummary, 'correlationKey'> & Partial<FlowSummary>,
  groups: readonly FlowGroup[] | undefined,
): Flow | undefined {
  if (groups === undefined) return undefined
  return {
    correlationKey,
    firstAt: firstAt ?? groups.map((group) => group.firstAt).reduce((a, b) => (compareTimestamps(a, b) <= 0 ? a : b)),
    lastAt: lastAt ?? groups.map((group) => group.lastAt).reduce((a, b) => (compareTimestamps(a, b) >= 0 ? a : b)),
    groups,
  }
}

const firstDay = (summaries: readonly FlowSummary[]): string | null =>
  summaries.map(({ days }) => days[0] ?? '').sort()[0] || null

async function readSummary(
  connection: Connection,
  index: string,
  team: string,
  correlationKey: string,
): Promise<FlowSummary | undefined> {
  try {
    const path = `/${index}/_doc/${flowId(team, correlationKey)}`
    return (await connection.send<{ _source: FlowSummary }>({ method: 'GET', path }))._source
  } catch (error) {
    if (error instanceof ElasticsearchError && error.status === 404) return undefined
    throw error
  }
}
