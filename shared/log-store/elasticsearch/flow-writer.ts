import { createHash } from 'node:crypto'
import type { FlowDelta } from '../../contract/documents.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { StoreHaltError } from '../log-store.ts'
import type { Bulk, Version } from './bulk.ts'
import type { Lines } from './bulk-chunks.ts'
import { type Connection, lookUp } from './connection.ts'
import { type FlowSummary, foldFlow } from './flow-summary.ts'
import type { VersionedHit } from './index-copy.ts'
import type { IndexNames } from './index-names.ts'
import { ONLY_MAPPED } from './outcome.ts'
import { askForFewer, backoffMs, pauseUnlessAborted } from './retrying.ts'
import { LENIENT } from './searcher.ts'

const FLOWS_PER_READ = 1_000
/** Summaries that exceed this together are read in smaller numbers: senders decide how long they are. */
const SUMMARIES_BYTES_MAX = 4 * 1024 * 1024

/** A flow's document id, hashed as Team and key together may be longer than Elasticsearch allows. */
export const flowId = (team: string, correlationKey: string): string =>
  createHash('sha256')
    .update(JSON.stringify([team, correlationKey]))
    .digest('base64url')

interface Deps {
  readonly bulk: Bulk
  readonly connection: Connection
  readonly names: IndexNames
  readonly metrics: Metrics
}

/** A stored summary, with the version that a write based on it has to name. */
interface Known extends Version {
  readonly summary: FlowSummary
}

interface Change {
  readonly id: string
  readonly summary: FlowSummary
  /** The summary as JSON. */
  readonly source: string
  /** The version that the write is based on; undefined if there was none. */
  readonly basis: Version | undefined
}

export type MergeFlows = (deltas: readonly FlowDelta[], signal: AbortSignal) => Promise<void>

/**
 * Reads the summaries, folds in the deltas, and writes them unless another writer did so meanwhile; otherwise starts over. Summaries that
 * this process wrote last are not read again, unless another process writes them too, or their index was replaced.
 */
export function createFlowWriter({ bulk, connection, names, metrics }: Deps): MergeFlows {
  const conflictsMet = metrics.counter('sluice_flow_conflicts_total')
  let written = createKnownFlows()
  /** The answer that identifies the index that they were written to. */
  let index: string | undefined
  /** The flows of each merge that waits for the answer to its write. */
  const underWay = new Set<ReadonlyMap<string, unknown>>()
  const isUnderWay = (id: string): boolean => [...underWay].some((flows) => flows.has(id))
  const linesOf = ({ id, source, basis }: Change): Lines => {
    const target = { _index: names.flows, _id: id, ...ONLY_MAPPED }
    const action =
      basis === undefined
        ? { create: target }
        : { index: { ...target, if_seq_no: basis.seqNo, if_primary_term: basis.term } }
    return [`${JSON.stringify(action)}\n`, `${source}\n`]
  }

  /**
   * The summaries that this process wrote last, which are none if another index has taken the place of theirs, by a rebuild or in a new
   * cluster: there, the same version may belong to another summary.
   */
  async function knownFlows(signal: AbortSignal): Promise<typeof written> {
    const path = `/${names.flows}/_settings/index.uuid`
    const found = JSON.stringify(await connection.send({ method: 'GET', path, query: LENIENT, signal }))
    if (found !== index) written = createKnownFlows()
    index = found
    return written
  }

  /** Merges once and returns the flows that another writer changed at the same time. */
  async function mergeOnce(flows: ReadonlyMap<string, readonly FlowDelta[]>, signal: AbortSignal) {
    const ids = [...flows.keys()]
    const needsIndex = index === undefined || ids.some((id) => written.get(id) !== undefined)
    const known = needsIndex ? await bulk.persist(() => knownFlows(signal), ids.length, signal) : written
    const kept = new Map(ids.map((id) => [id, known.get(id)]))
    const unread = ids.filter((id) => kept.get(id) === undefined)
    const read = await bulk.persist(() => readSummaries(connection, names.flows, unread, signal), unread.length, signal)
    const changes = [...flows].flatMap(([id, deltas]): Change[] => {
      const before = kept.get(id) ?? read.get(id)
      const summary = deltas.reduce<FlowSummary | undefined>(foldFlow, before?.summary)
      if (summary === undefined || summary === before?.summary) return []
      return [{ id, summary, source: JSON.stringify(summary), basis: before }]
    })
    underWay.add(flows)
    const settled = await bulk.run(changes, linesOf, signal, { versioned: true }).finally(() => underWay.delete(flows))
    const conflicts = new Map<string, readonly FlowDelta[]>()
    for (const [position, { id, summary, source }] of changes.entries()) {
      const outcome = settled[position]
      if (outcome?.outcome === 'refused') throw new StoreHaltError(`a flow summary was refused: ${outcome.reason}`)
      if (outcome?.outcome === 'duplicate') {
        // If no other merge of this process wrote it meanwhile, or is about to hear so, another process did, and probably will again.
        if (known.get(id) === kept.get(id)) (isUnderWay(id) ? known.forget : known.share)(id)
        conflicts.set(id, flows.get(id) ?? [])
      } else if (outcome?.version !== undefined) known.keep(id, { summary, ...outcome.version }, source.length)
    }
    conflictsMet.inc(conflicts.size)
    return conflicts
  }

  /** Merges until no other writer changes one of the flows at the same time. */
  async function merge(flows: ReadonlyMap<string, readonly FlowDelta[]>, signal: AbortSignal): Promise<void> {
    let pending = flows
    for (let attempt = 1; pending.size > 0; attempt++) {
      pending = await mergeOnce(pending, signal)
      if (pending.size > 0) await pauseUnlessAborted(backoffMs(attempt) / 4, signal)
    }
  }

  return async function mergeFlows(deltas, signal) {
    signal.throwIfAborted()
    const flows = [...Map.groupBy(deltas, ({ team, correlationKey }) => flowId(team, correlationKey))]
    let count = FLOWS_PER_READ
    for (let from = 0; from < flows.length; from += count) {
      count = await askForFewer(count, async (some) => {
        await merge(new Map(flows.slice(from, from + some)), signal)
        return some
      })
    }
  }
}

/** Maximum characters of the known summaries as JSON; in memory they take several times as many bytes. */
const KNOWN_CHARACTERS_MAX = 4 * 1024 * 1024

/** Summaries as this process wrote them, up to a total size; the least recently written are forgotten first. */
function createKnownFlows() {
  /** The flows by their ids; null for a flow that other processes write as well. */
  const known = new Map<string, { readonly flow: Known | null; readonly size: number }>()
  let held = 0
  const put = (id: string, flow: Known | null, size: number): void => {
    held += size - (known.get(id)?.size ?? 0)
    known.delete(id)
    known.set(id, { flow, size })
    for (const [oldest, { size }] of known) {
      if (held <= KNOWN_CHARACTERS_MAX) break
      known.delete(oldest)
      held -= size
    }
  }
  return {
    get: (id: string): Known | undefined => known.get(id)?.flow ?? undefined,
    /** Answers may arrive in a different order than the writes. */
    keep: (id: string, flow: Known, size: number): void => {
      const before = known.get(id)?.flow
      if (before === undefined || (before !== null && before.seqNo < flow.seqNo)) put(id, flow, size)
    },
    /** Has a flow read once, unless it is shared. */
    forget: (id: string): void => {
      const before = known.get(id)
      if (before === undefined || before.flow === null) return
      known.delete(id)
      held -= before.size
    },
    /** Marks a flow as shared: it has to be read from now on. */
    share: (id: string): void => put(id, null, SHARED_SIZE),
  }
}

/** The approximate size of an id. */
const SHARED_SIZE = 100

async function readSummaries(
  connection: Connection,
  index: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Known>> {
  if (ids.length === 0) return new Map()
  const lookups = ids.map((_id) => ({ _index: index, _id }))
  const docs = await lookUp<VersionedHit<FlowSummary>>(connection, 'the lookup of flows', lookups, {
    signal,
    ...(ids.length > 1 && { answerBytesMax: SUMMARIES_BYTES_MAX }),
  })
  return new Map(
    docs
      .filter((doc) => doc.found === true)
      .map(({ _id, _source, _seq_no, _primary_term }) => [
        _id,
        { summary: _source, seqNo: _seq_no, term: _primary_term },
      ]),
  )
}
