import type { AuditedChange } from '../contract/audit.ts'
import type { Audited } from '../journal/audit.ts'
import { batchesOf } from '../journal/batches.ts'
import type { Journal } from '../journal/journal.ts'
import type { Clock } from '../runtime/clock.ts'
import {
  decodeRecord,
  emptyState,
  encodeRecord,
  fold,
  type RegistryRecord,
  type RegistryState,
  splitKeyId,
  splitSearchId,
} from './records.ts'
import type { Registry } from './registry.ts'
import { createRegistryFold } from './registry-fold.ts'

/** The registry topic of a journal, as whoever changes the registry needs it. */
export interface RegistryTopic {
  readonly journal: Pick<Journal, 'scan' | 'append'>
  readonly topic: string
}

export interface RegistryAdminDeps extends RegistryTopic {
  readonly clock: Clock
  /** Tells of each change, for whoever makes it. */
  readonly audited: Audited
}

/** The topic has one partition, so its records have one order. */
const PARTITION = 0

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
 * Appends changes of a state in their order, each with its audit record. Up to 500 of them become durable together or not at all; of more,
 * a part may stand when it rejects with an `AppendError`.
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
  // A hash would give a weak key away.
  if (kind === 'key') {
    const { prefix = '' } = value ?? state.key.get(id) ?? {}
    return { team: splitKeyId(id).team, subject: { kind, id: prefix }, ...change }
  }
  if (kind === 'search') return { team: splitSearchId(id).team, subject: { kind, id: splitSearchId(id).id }, ...change }
  const team = kind === 'team' ? id : ((value ?? state[kind].get(id))?.team ?? null)
  return { team, subject: { kind, id }, ...change }
}

/** What a mark that comes or goes makes of the change. */
function markedAs(before: object, after: object): 'archived' | 'restored' | 'revoked' | undefined {
  const isMarked = (value: Readonly<{ archivedAt?: string; revokedAt?: string | null }>): boolean =>
    (value.archivedAt ?? value.revokedAt ?? null) !== null
  if (isMarked(before) === isMarked(after)) return undefined
  if (isMarked(before)) return 'restored'
  return 'revokedAt' in after ? 'revoked' : 'archived'
}
