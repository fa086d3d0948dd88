import type { Journal, NewRecord } from '../journal/journal.ts'
import type { Clock } from '../runtime/clock.ts'
import { decodeRecord, emptyState, encodeRecord, fold, type RegistryRecord, type RegistryState } from './records.ts'
import type { Registry } from './registry.ts'
import { createRegistryFold } from './registry-fold.ts'

/** The registry topic of a journal, as whoever changes the registry needs it. */
export interface RegistryTopic {
  readonly journal: Pick<Journal, 'scan' | 'append'>
  readonly topic: string
}

export interface RegistryAdminDeps extends RegistryTopic {
  readonly clock: Clock
}

/** The topic has one partition, so its records have one order. */
const PARTITION = 0

/** Brokers refuse a batch of more than 1 MiB by default. */
const APPEND_BYTES_MAX = 500_000
const APPEND_RECORDS_MAX = 500

/** The registry as the topic has it now. Rejects as `Journal.scan` does. */
export async function readState({ journal, topic }: RegistryTopic): Promise<RegistryState> {
  const state = emptyState()
  for await (const each of journal.scan(topic)) {
    const { record } = decodeRecord(each)
    if (record !== undefined) fold(state, record)
  }
  return state
}

/** The same as its readers see it. */
export async function readRegistry({ journal, topic }: RegistryTopic): Promise<Registry> {
  const fold = createRegistryFold()
  for await (const record of journal.scan(topic)) fold.fold([record])
  return fold.registry
}

/**
 * Appends changes in their order. Up to 500 of them become durable together or not at all; of more, a part may stand when it
 * rejects with an `AppendError`.
 */
export async function appendChanges(
  { journal, topic }: RegistryTopic,
  changes: readonly RegistryRecord[],
): Promise<void> {
  for (const records of batchesOf(changes.map(encodeRecord))) {
    await journal.append({ topic, partition: PARTITION, records })
  }
}

function batchesOf(records: readonly NewRecord[]): NewRecord[][] {
  const batches: NewRecord[][] = []
  let room = 0
  for (const record of records) {
    const bytes = bytesOf(record.key) + bytesOf(record.value)
    const last = batches.at(-1)
    if (last === undefined || last.length >= APPEND_RECORDS_MAX || bytes > room) {
      batches.push([record])
      room = APPEND_BYTES_MAX - bytes
    } else {
      last.push(record)
      room -= bytes
    }
  }
  return batches
}

const bytesOf = (part: string | Uint8Array | null): number => (part === null ? 0 : Buffer.byteLength(part))
