import { isDeepStrictEqual } from 'node:util'
import { AppendError } from '../journal/journal.ts'
import {
  appendChanges,
  type KnownRegistry,
  type Own,
  type RegistryAdminDeps,
  type Reread,
  readAfter,
} from './journal-access.ts'
import type { Plan } from './plan.ts'
import type { RegistryRecord, RegistryState } from './records.ts'

/** Maximum rounds of planning when another process keeps changing the same things. */
const ROUNDS_MAX = 5

/**
 * Appends the changes that `planOn` plans, unless it finds problems. A journal has no "append if nothing changed since", so the topic is
 * read again after each append, until nothing is left to do:
 *
 * - The changes are planned once more on the records before them. What others wrote there since the first reading is so taken into account:
 *   a change that overwrote it is corrected, and one that is not possible beside it is taken back, and not tried again.
 * - They are planned on the present state, as others may have overwritten them.
 *
 * Returns what was written, and what is left if another process took it away or kept undoing it. Rejects as the journal does, with an
 * `AppendError` of the outcome `unknown` if something may have been written.
 */
export async function applyPlan(
  deps: RegistryAdminDeps,
  present: KnownRegistry,
  planOn: (state: RegistryState) => Plan,
): Promise<{ readonly applied: readonly RegistryRecord[]; readonly left: Plan; readonly state: RegistryState }> {
  let { state, end: from } = present
  let left = planOn(state)
  const own: Own[] = []
  /** The last record of each object. */
  const applied = new Map<string, RegistryRecord>()
  for (let round = 0; round < ROUNDS_MAX && left.changes.length > 0; round += 1) {
    for (const change of left.changes) {
      own.push({ change, from })
      applied.set(keyOf(change), change)
    }
    const read = await append(deps, present, left.changes, state, own)
    const replanned = planOn(read.before)
    const corrections = correctionsOf(applied, read, replanned)
    state = read.state
    from = read.end
    // It may seem possible by now, beside another change that is about to be taken back as well.
    left = replanned.problems.length > 0 ? replanned : planOn(state)
    if (corrections.length > 0) left = { ...left, changes: corrections }
  }
  return { applied: [...applied.values()], left, state }
}

/** Appends changes, the last of the own, and reads the registry again. An append without an answer counts if its records are found. */
async function append(
  deps: RegistryAdminDeps,
  present: KnownRegistry,
  changes: readonly RegistryRecord[],
  state: RegistryState,
  own: readonly Own[],
): Promise<Reread> {
  try {
    await appendChanges(deps, changes, state)
  } catch (error) {
    if (!(error instanceof AppendError)) throw error
    // Changes of an earlier round may stand.
    if (error.outcome === 'not_written' && own.length > changes.length)
      throw new AppendError(error.message, 'unknown', { cause: error })
    const read = error.outcome === 'unknown' ? await readAfter(deps, present, own) : undefined
    if (read === undefined || !changes.every(read.has)) throw error
    return read
  }
  return readAfter(deps, present, own)
}

const keyOf = ({ kind, id }: RegistryRecord): string => `${kind}/${id}`

/** The changes by which what was applied becomes what is planned on the records before it. */
function correctionsOf(
  applied: ReadonlyMap<string, RegistryRecord>,
  { state, before }: Reread,
  { changes }: Plan,
): readonly RegistryRecord[] {
  const wanted = new Map(changes.map((change) => [keyOf(change), change]))
  for (const [key, { kind, id }] of applied)
    if (!wanted.has(key)) wanted.set(key, { kind, id, value: before[kind].get(id) ?? null } as RegistryRecord)
  return [...wanted].flatMap(([key, change]) => {
    const { kind, id, value } = change
    const is = applied.get(key)?.value ?? null
    const isStanding = isDeepStrictEqual(state[kind].get(id) ?? null, value)
    return isDeepStrictEqual(is, value) || isStanding ? [] : [change]
  })
}
