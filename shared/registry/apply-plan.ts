import { appendChanges, type RegistryAdminDeps } from './journal-access.ts'
import type { Plan } from './plan.ts'
import type { RegistryRecord, RegistryState } from './records.ts'

/** How often it is planned anew when another process keeps changing the same things. */
const ROUNDS_MAX = 5

/** A plan, with the state that it is for. */
export interface PlanOf extends Plan {
  readonly state: RegistryState
}

/**
 * Appends what is planned, and plans again on what the topic then says until nothing is left to do: a journal has no "append if
 * nothing changed since". Gives what was written, and what is left where another process would not let it stand.
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
