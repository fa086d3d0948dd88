import type { EntryRecord } from '../../shared/contract/records.ts'
import type { LogStore } from '../../shared/log-store/log-store.ts'
import { filterOf, type Read } from './reads.ts'

/** A store that is filled and read beside others. */
export interface Side {
  readonly name: string
  held(): Promise<number>
  /** Stores entries. Returns the CPU seconds of this process; null where a server does most of the work. */
  fill(batch: readonly EntryRecord[]): Promise<number | null>
  /** Resolves once all stored entries can be read. */
  settle(): Promise<void>
  /** Makes the read once; null where the side has no read with the same answer. */
  read(read: Read): Promise<Timed | null>
  /** The bytes on disk of all entries and flows. */
  bytes(): Promise<number>
  close(): Promise<void>
}

export interface Timed {
  /** Milliseconds. */
  readonly ms: number
  /** The size of the answer, as `Read.sizeOf` counts it. */
  readonly size: number
}

/** Times a read of a log store of Sluice. */
export async function readStore(store: LogStore, read: Read): Promise<Timed> {
  const start = performance.now()
  const answer = await read.run(store)
  return { ms: performance.now() - start, size: read.sizeOf(answer) }
}

export const heldBy = (store: LogStore): Promise<number> => store.count(filterOf(''))

type Projections = Pick<
  typeof import('../../consumers/projections/entries.ts') & typeof import('../../consumers/projections/flows.ts'),
  'applicationLogDocument' | 'eventLogDocument' | 'flowFact' | 'foldFlows'
>

/** Makes the documents and flows of records, as the projections of a checkout do. */
export const projectionOf =
  ({ applicationLogDocument, eventLogDocument, flowFact, foldFlows }: Projections) =>
  (batch: readonly EntryRecord[]) => ({
    documents: batch.map((one) =>
      one.kind === 'event'
        ? eventLogDocument(one, JSON.stringify(one))
        : applicationLogDocument(one, JSON.stringify(one)),
    ),
    flows: foldFlows(batch.map(flowFact).filter((fact) => fact !== null)),
  })
