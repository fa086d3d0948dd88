import type { AuditedChange } from '../contract/audit.ts'
import type { Audited } from '../journal/audit.ts'
import { batchesOf } from '../journal/batches.ts'
import type { Journal } from '../journal/journal.ts'
import type { Clock } from '../runtime/clock.ts'
import {
  emptyState,
  encodeRecord,
  foldRecords,
  type RegistryRecord,
  type RegistryState,
  splitOwnedId,
} from './records.ts'
import type { Registry } from './registry.ts'
import { createRegistryView } from './registry-view.ts'

/** The registry topic of a journal, as needed to change the registry. */
export interface RegistryTopic {
  readonly journal: Pick<Journal, 'scan' | 'append'>
  readonly topic: string
}

export interface RegistryAdminDeps extends RegistryTopic {
  readonly clock: Clock
  /** Audits each change, on behalf of its author. */
  readonly audited: Audited
}

/** The topic has one partition, so that its records have a total order. */
const PARTITION = 0

/** The present state of the registry, read from the topic. Rejects as `Journal.scan` does. */
export async function readState({ journal, topic }: RegistryTopic): Promise<RegistryState> {
  const state = emptyState()
  for await (const each of journal.scan(topic)) foldRecords(state, [each])
  return state
}

/** The present registry in the form that its readers use. */
export const readRegistry = async (topic: RegistryTopic): Promise<Registry> =>
  createRegistryView(await readState(topic)).registry

/**
 * Appends changes of a state in order, each with its audit record. Up to 500 of them become durable together or not at all; with more, some
 * may be durable when it rejects with an `AppendError`.
 */
export async function appendChanges(
  { journal, topic, audited }: RegistryAdminDeps,
  changes: readonly RegistryRecord[],
  state: RegistryState,
): Promise<void> {
  const told = changes.map((change) => auditedChange(change, state))
  for (const records of batchesOf(changes.map(encodeRecord)))
    await audited(told.splice(0, records.length), () => journal.append({ topic, partition: PARTITION, records }))
}

function auditedChange({ kind, id, value }: RegistryRecord, state: RegistryState): AuditedChange {
  const before = state[kind].get(id) ?? null
  const action = before === null ? 'created' : value === null ? 'deleted' : (markedAs(before, value) ?? 'changed')
  const change = { action, before, after: value } as const
  // A hash would reveal a weak key.
  if (kind === 'key') {
    const { prefix = '' } = value ?? state.key.get(id) ?? {}
    return { team: splitOwnedId(id).team, subject: { kind, id: prefix }, ...change }
  }
  if (kind === 'search') return { team: splitOwnedId(id).team, subject: { kind, id: splitOwnedId(id).id }, ...change }
  const team = kind === 'team' ? id : ((value ?? state[kind].get(id))?.team ?? null)
  return { team, subject: { kind, id }, ...change }
}

/** The meaning of a change that sets or removes a mark. */
function markedAs(before: object, after: object): 'archived' | 'restored' | 'revoked' | undefined {
  const isMarked = (value: Readonly<{ archivedAt?: string; revokedAt?: string | null }>): boolean =>
    (value.archivedAt ?? value.revokedAt ?? null) !== null
  if (isMarked(before) === isMarked(after)) return undefined
  if (isMarked(before)) return 'restored'
  return 'revokedAt' in after ? 'revoked' : 'archived'
}
