import type { EntryDocument, FlowDelta } from '../../contract/documents.ts'
import type { EntryKind, EntryRecord } from '../../contract/records.ts'
import { parseRecord } from '../../contract/rows.ts'
import { DAY_MS, timestampOf } from '../../contract/timestamp.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { Bulk } from './bulk.ts'
import type { Lines } from './bulk-chunks.ts'
import type { Unread } from './checkpoints.ts'
import type { Connection } from './connection.ts'
import { entryBody } from './entry-body.ts'
import { type FlowSummary, factsOf } from './flow-summary.ts'
import { createFlowWriter, type MergeFlows } from './flow-writer.ts'
import { missingIds, pagesOf, RebuildError, requireDocuments, shardsOf } from './index-copy.ts'
import type { IndexNames } from './index-names.ts'
import { type DayIndex, dayIndices, type Indices, indexBehind } from './indices.ts'
import { type ReplaceOptions, replaceIndex } from './replace-index.ts'
import { type EntrySource, type Hit, type StampedSource, textOf, WHOLE } from './searcher.ts'

/** The functions that make documents and facts of stored records. */
interface Projections {
  documentOf(entry: EntryRecord, source: string): EntryDocument
  /** Null for an entry without a correlationKey. */
  flowFact(entry: EntryRecord): FlowDelta | null
  foldFlows(facts: readonly FlowDelta[]): readonly FlowDelta[]
}

export interface RebuildOptions extends ReplaceOptions, Projections {
  readonly kind: EntryKind | 'flows'
  /** The first day (yyyy-mm-dd) to rebuild; null for all. Flows are always rebuilt from all days. */
  readonly since: string | null
}

interface Deps {
  /** A connection that retries (`retrying`). */
  readonly connection: Connection
  /** Sends one request at a time, so that copies keep the order of their originals. */
  readonly bulk: Bulk
  readonly names: IndexNames
  readonly indices: Pick<Indices, 'check'>
  readonly clock: Clock
  readonly metrics: Metrics
}

export type Rebuild = (options: RebuildOptions) => Promise<void>

/**
 * Projects the stored records anew, into a new generation of their indices, beside running consumers and views (`replaceIndex`). Rejects
 * with a `RebuildError` if an index cannot be replaced; those of earlier days have been by then.
 */
export function createRebuild(deps: Deps): Rebuild {
  return async function rebuild(options) {
    const { kind, since, signal } = options
    const [difference] = await deps.indices.check()
    if (difference !== undefined) throw new RebuildError(`run \`sluice indices apply\` first: ${difference}`)
    if (kind === 'flows') return rebuildFlows(deps, options)
    for (const day of await daysInOrder(deps)) {
      if (day.kind !== kind || (since !== null && day.day < since)) continue
      signal.throwIfAborted()
      requireOpen(day)
      await rebuildDay(deps, day.name, options)
    }
  }
}

async function daysInOrder({ connection, names }: Deps) {
  return (await dayIndices(connection, names)).toSorted((a, b) => (a.day < b.day ? -1 : 1))
}

function requireOpen({ index, closed }: DayIndex): void {
  if (closed) throw new RebuildError(`${index} is closed: its documents cannot be read`)
}

async function rebuildDay({ connection, bulk, names }: Deps, name: string, options: RebuildOptions): Promise<void> {
  const { documentOf, signal } = options
  const create = (made: string, hit: Hit<StampedSource>): Lines => {
    const text = textOf(hit)
    return [
      `${JSON.stringify({ create: { _index: made, _id: hit._id } })}\n`,
      ...entryBody(documentOf(parseRecord(text), text), hit._source.writtenAt),
      '\n',
    ]
  }
  const copy = async (parts: readonly Unread[], made: string): Promise<void> => {
    for (const part of parts) {
      for await (const hits of pagesOf<StampedSource>(connection, part, { fields: [...WHOLE, 'writtenAt'], signal })) {
        const settled = await bulk.run(hits, (hit) => create(made, hit), signal)
        const refused = settled.find((each) => each.outcome === 'refused')
        if (refused !== undefined) throw new RebuildError(`an entry of ${name} was refused: ${refused.reason}`)
      }
      for await (const hits of pagesOf(connection, part, { fields: false, signal }))
        await requireDocuments(connection, made, hits, signal)
    }
  }
  await replaceIndex(connection, names, name, { keepsShards: true, copy }, options)
}

/**
 * Folds the flows of all stored entries. From the summaries before come only the flows that no stored entry tells of, and the facts that
 * were folded since about a day ago: the entries they are from may be on their way, as their consumer may be slower.
 */
async function rebuildFlows(deps: Deps, options: RebuildOptions): Promise<void> {
  const { connection, names, clock } = deps
  const { signal } = options
  const recent = timestampOf(clock.now() - DAY_MS).slice(0, 10)
  const copy = async (parts: readonly Unread[], made: string, round: number): Promise<void> => {
    const merge = createFlowWriter({ ...deps, names: { ...names, flows: made } })
    if (round === 1) await foldEntries(deps, options, merge)
    for (const part of parts) {
      for await (const hits of pagesOf<FlowSummary>(connection, part, { fields: true, signal })) {
        const ids = hits.map(({ _id }) => _id)
        const missing = new Set(await missingIds(connection, made, ids, signal))
        const carried = hits.filter(({ _id, _source }) => round > 1 || missing.has(_id) || _source.lastDay >= recent)
        const facts = carried.map(({ _source }) => factsOf(_source))
        await merge(facts, signal)
        await requireDocuments(connection, made, hits, signal)
      }
    }
  }
  await replaceIndex(connection, names, names.flows, { keepsShards: false, copy }, options)
}

async function foldEntries(
  deps: Deps,
  { flowFact, foldFlows, signal }: RebuildOptions,
  merge: MergeFlows,
): Promise<void> {
  const { connection, names } = deps
  const filter = { exists: { field: 'correlationKey' } }
  for (const day of await daysInOrder(deps)) {
    requireOpen(day)
    const found = await indexBehind(connection, day.index)
    if (found === undefined) continue
    for (const stream of await shardsOf(connection, found, names)) {
      for await (const hits of pagesOf<EntrySource>(
        connection,
        { stream, after: -1 },
        { fields: WHOLE, filter, signal },
      )) {
        const facts = hits.map((hit) => flowFact(parseRecord(textOf(hit)))).filter((fact) => fact !== null)
        await merge(foldFlows(facts), signal)
      }
    }
  }
}
