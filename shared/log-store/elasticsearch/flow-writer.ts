import { createHash } from 'node:crypto'
import type { FlowDelta } from '../../contract/documents.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { StoreHaltError } from '../log-store.ts'
import type { Bulk } from './bulk.ts'
import type { Lines } from './bulk-chunks.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { type FlowSummary, foldFlow } from './flow-summary.ts'
import type { IndexNames } from './index-names.ts'
import { backoffMs, pauseUnlessAborted, persist } from './retrying.ts'

const FLOWS_PER_READ = 500

/** A flow's document id: Team and key may together be longer than an id of Elasticsearch. */
export const flowId = (team: string, correlationKey: string): string =>
  createHash('sha256')
    .update(JSON.stringify([team, correlationKey]))
    .digest('base64url')

interface Deps {
  readonly bulk: Bulk
  readonly connection: Connection
  readonly names: IndexNames
  readonly logger: Logger
  readonly metrics: Metrics
}

interface Change {
  readonly id: string
  readonly summary: FlowSummary
  /** The version that was read and that the write builds on; undefined where there was none. */
  readonly basis: { readonly seqNo: number; readonly term: number } | undefined
}

export type MergeFlows = (deltas: readonly FlowDelta[], signal: AbortSignal) => Promise<void>

/** Reads the summaries, folds the deltas in, and writes them if nobody did meanwhile; else once more from the start. */
export function createFlowWriter({ bulk, connection, names, logger, metrics }: Deps): MergeFlows {
  const conflictsMet = metrics.counter('sluice_flow_conflicts_total')
  const linesOf = ({ id, summary, basis }: Change): Lines => {
    const target = { _index: names.flows, _id: id }
    const action =
      basis === undefined
        ? { create: target }
        : { index: { ...target, if_seq_no: basis.seqNo, if_primary_term: basis.term } }
    return [`${JSON.stringify(action)}\n`, `${JSON.stringify(summary)}\n`]
  }

  /** Merges once and returns the flows that somebody else changed at the same time. */
  async function mergeOnce(flows: ReadonlyMap<string, readonly FlowDelta[]>, signal: AbortSignal) {
    const known = await persist(() => readSummaries(connection, names.flows, [...flows.keys()], signal), logger, signal)
    const changes = [...flows].flatMap(([id, deltas]): Change[] => {
      const before = known.get(id)
      const summary = deltas.reduce<FlowSummary | undefined>(foldFlow, before?.summary)
      return summary === undefined || summary === before?.summary ? [] : [{ id, summary, basis: before }]
    })
    const settled = await bulk.run(changes, linesOf, signal)
    const conflicts = new Map<string, readonly FlowDelta[]>()
    for (const [position, { id }] of changes.entries()) {
      const outcome = settled[position]
      if (outcome?.outcome === 'refused') throw new StoreHaltError(`a flow summary was refused: ${outcome.reason}`)
      if (outcome?.outcome === 'duplicate') conflicts.set(id, flows.get(id) ?? [])
    }
    conflictsMet.inc(conflicts.size)
    return conflicts
  }

  return async function mergeFlows(deltas, signal) {
    signal.throwIfAborted()
    const flows = Map.groupBy(deltas, ({ team, correlationKey }) => flowId(team, correlationKey))
    const ids = [...flows.keys()]
    for (let from = 0; from < ids.length; from += FLOWS_PER_READ) {
      let pending: ReadonlyMap<string, readonly FlowDelta[]> = new Map(
        ids.slice(from, from + FLOWS_PER_READ).map((id) => [id, flows.get(id) ?? []]),
      )
      for (let attempt = 1; pending.size > 0; attempt++) {
        pending = await mergeOnce(pending, signal)
        if (pending.size > 0) await pauseUnlessAborted(backoffMs(attempt) / 4, signal)
      }
    }
  }
}

interface Known {
  readonly summary: FlowSummary
  readonly seqNo: number
  readonly term: number
}

async function readSummaries(
  connection: Connection,
  index: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Known>> {
  const { docs } = await connection.send<{
    docs: readonly {
      readonly _id: string
      readonly found?: boolean
      readonly _seq_no: number
      readonly _primary_term: number
      readonly _source: FlowSummary
      readonly error?: { readonly type: string }
    }[]
  }>({ method: 'POST', path: '/_mget', body: { docs: ids.map((_id) => ({ _index: index, _id })) }, signal })
  const failed = docs.find(({ error }) => error !== undefined && error.type !== 'index_not_found_exception')
  if (failed?.error !== undefined) throw new ElasticsearchError('a flow could not be read', null, failed.error)
  return new Map(
    docs
      .filter(({ found }) => found === true)
      .map(({ _id, _seq_no, _primary_term, _source }) => [
        _id,
        { summary: _source, seqNo: _seq_no, term: _primary_term },
      ]),
  )
}
