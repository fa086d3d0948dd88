import type { AuditedChange } from '../contract/audit.ts'
import type { Audited } from '../journal/audit.ts'
import { batchesOf } from '../journal/batches.ts'
import { AppendError, type Journal } from '../journal/journal.ts'
import type { Clock } from '../runtime/clock.ts'
import {
  copyOf,
  decodeRecord,
  emptyState,
  encodeRecord,
  fold,
  type RegistryRecord,
  type RegistryState,
  splitOwnedId,
} from './records.ts'
import type { Registry } from './registry.ts'
import { createRegistryFold } from './registry-fold.ts'

/** The registry topic of a journal, as needed to change the registry. */
interface RegistryTopic {
  readonly journal: Pick<Journal, 'scan' | 'append'>
  readonly topic: string
  /** The state that the process already knows, as it follows the topic: only later records are read. */
  readonly known?: (() => KnownRegistry) | undefined
}

/** A state of the registry. */
export interface KnownRegistry {
  readonly state: RegistryState
  /** The position after the last record in it. */
  readonly end: number
}

export interface RegistryAdminDeps extends RegistryTopic {
  readonly clock: Clock
  /** Audits each change, on behalf of its author. */
  readonly audited: Audited
}

/** The topic has one partition, so that its records have a total order. */
const PARTITION = 0

/** The present state of the registry. Rejects as `Journal.scan` does. */
export const readState = async (topic: RegistryTopic): Promise<RegistryState> => (await readTopic(topic)).state

/**
 * See `readState`. It reads on at the last record of the known state: a topic that has none there was made anew, or has lost its last records
 * by an unclean election, and is read from its first record, on top of what is known. Behind its end, a change would not be found again.
 */
export async function readTopic({ journal, topic, known }: RegistryTopic): Promise<KnownRegistry> {
  const from = known?.()
  const state = from === undefined ? emptyState() : copyOf(from.state)
  const read = async (position: number): Promise<number> => {
    let end = 0
    for await (const each of journal.scan(topic, position)) {
      const { record } = decodeRecord(each)
      if (record !== undefined) fold(state, record)
      end = each.offset + 1
    }
    return end
  }
  const last = Math.max(0, (from?.end ?? 0) - 1)
  const end = await read(last)
  return { state, end: end === 0 && last > 0 ? await read(0) : end }
}

/** A change that was appended, at this position or later. */
export interface Own {
  readonly change: RegistryRecord
  readonly from: number
}

/** The registry after own changes, which may have overwritten what others wrote since the state that they were planned on. */
export interface Reread {
  readonly state: RegistryState
  /** The state that the last of the own changes should have been planned on: all records before it but the own. */
  readonly before: RegistryState
  readonly end: number
  /** Whether the topic has the record of an own change. */
  readonly has: (change: RegistryRecord) => boolean
}

/** Reads the registry again after own changes, the first of which was planned on `present`. Rejects with an `AppendError` (`unknown`). */
export async function readAfter(
  { journal, topic }: RegistryTopic,
  present: KnownRegistry,
  own: readonly Own[],
): Promise<Reread> {
  const [state, before] = [copyOf(present.state), copyOf(present.state)]
  // Reversed, so that of equal changes the position of the first one is kept.
  const froms = new Map(own.toReversed().map(({ change, from }) => [textOf(change), from]))
  const found = new Set<string>()
  const since: RegistryRecord[] = []
  let { end } = present
  try {
    for await (const each of journal.scan(topic, end)) {
      end = each.offset + 1
      const { record } = decodeRecord(each)
      if (record === undefined) continue
      fold(state, record)
      const text = textOf(record)
      if (each.offset < (froms.get(text) ?? Number.POSITIVE_INFINITY)) {
        since.push(record)
        continue
      }
      found.add(text)
      for (const earlier of since.splice(0)) fold(before, earlier)
    }
  } catch (cause) {
    throw new AppendError('the registry could not be read after the change', 'unknown', { cause })
  }
  return { state, before, end, has: (change) => found.has(textOf(change)) }
}

const textOf = (record: RegistryRecord): string => JSON.stringify([record.kind, record.id, record.value])

/** The present registry in the form that its readers use. */
export const readRegistry = async (topic: RegistryTopic): Promise<Registry> =>
  createRegistryFold(await readState(topic)).registry

/**
 * Appends changes of a state in order, each with its audit record. Up to 500 of them become durable together or not at all; with more, some
 * may be durable when it rejects with an `AppendError`.
 */
export async function appendChanges(
  { journal, topic, audited }: RegistryAdminDeps,
  changes: readonly RegistryRecord[],
  state: RegistryState,
): Promise<void> {
  const toAudit = changes.map((change) => auditedChange(change, state))
  for (const records of batchesOf(changes.map(encodeRecord)))
    await audited(toAudit.splice(0, records.length), () => journal.append({ topic, partition: PARTITION, records }))
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
