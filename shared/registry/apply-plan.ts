import { appendChanges, type RegistryAdminDeps } from './journal-access.ts'
import type { Plan } from './plan.ts'
import type { RegistryRecord, RegistryState } from './records.ts'

/** Maximum rounds of planning when another process keeps changing the same things. */
const ROUNDS_MAX = 5

/** A plan, with the state that it applies to. */
export interface PlanOf extends Plan {
  readonly state: RegistryState
}

/**
 * Appends the planned changes, and plans again on the resulting topic until nothing is left to do: a journal has no "append if nothing
 * changed since". Returns what was written, and what is left if another process kept undoing it.
 */
export async function applyPlan(
  deps: RegistryAdminDeps,
  first: PlanOf,
  plan: () => Promise<PlanOf>,
): Promise<{ readonly applied: readonly RegistryRecord[]; readonly left: PlanOf }> {
  const applied: RegistryRecord[] = []
  let left = first
  for (let round = 0; round < ROUNDS_MAX && left.changes.length > 0; round += 1) {
    await appendChanges(deps, left.changes, left.state)
    applied.push(...left.changes)
    left = await plan()
  }
  return { applied, left }
}
