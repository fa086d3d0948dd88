import { foldFlows } from '../../consumers/projections/flows.ts'
import type { EntryDocument, FlowDelta } from '../../shared/contract/documents.ts'
import type { LogStoreWriter, WriteOutcome } from '../../shared/log-store/log-store.ts'

/** An in-memory store's writing half: unique by id, flows merged; tests control its behaviour. */
export interface MemoryStoreWriter extends LogStoreWriter {
  /** Documents by id, as first written. */
  readonly documents: ReadonlyMap<string, EntryDocument>
  /** The merged deltas of all batches, by Team and key. */
  flows(): readonly FlowDelta[]
  /** The number of documents in each call of `write`. */
  readonly writes: readonly number[]
  /** The arguments of the `removeBefore` calls, in order. */
  readonly removedBefore: readonly string[]
  /** Called before each write and merge; if it throws, the call fails and stores nothing. */
  beforeWrite: ((signal: AbortSignal) => Promise<void> | void) | undefined
  /** Called after each write and merge has been stored; if it throws, the call fails nevertheless. */
  afterWrite: ((signal: AbortSignal) => Promise<void> | void) | undefined
  /** Returns the reason to refuse a document, if any. */
  refuse: ((document: EntryDocument) => string | undefined) | undefined
}

export function createMemoryStoreWriter({ searchableWithinMs = 0 } = {}): MemoryStoreWriter {
  const documents = new Map<string, EntryDocument>()
  const writes: number[] = []
  const removedBefore: string[] = []
  let flows: readonly FlowDelta[] = []

  const writeOne = (document: EntryDocument): WriteOutcome => {
    const reason = store.refuse?.(document)
    if (reason !== undefined) return { outcome: 'refused', reason }
    if (documents.has(document.id)) return { outcome: 'duplicate' }
    documents.set(document.id, document)
    return { outcome: 'stored' }
  }
  const store: MemoryStoreWriter = {
    searchableWithinMs,
    documents,
    writes,
    removedBefore,
    beforeWrite: undefined,
    afterWrite: undefined,
    refuse: undefined,
    flows: () => flows,
    write: async (documentsOfBatch, signal) => {
      await store.beforeWrite?.(signal)
      signal.throwIfAborted()
      const batch = [...documentsOfBatch]
      writes.push(batch.length)
      const outcomes = batch.map(writeOne)
      await store.afterWrite?.(signal)
      return outcomes
    },
    mergeFlows: async (deltas, signal) => {
      await store.beforeWrite?.(signal)
      signal.throwIfAborted()
      flows = foldFlows([...flows, ...deltas])
      await store.afterWrite?.(signal)
    },
    removeBefore: async (day) => {
      removedBefore.push(day)
      const old = [...documents.values()].filter(({ receivedAt }) => receivedAt.slice(0, 10) < day)
      for (const { id } of old) documents.delete(id)
      return old.length
    },
  }
  return store
}
