import { appendChanges, type RegistryTopic } from './journal-access.ts'
import type { Plan } from './plan.ts'
import type { RegistryRecord } from './records.ts'

/** How often it is planned anew when another process keeps changing the same things. */
const ROUNDS_MAX = 5

/**
 * Appends what is planned, and plans again on what the topic then says until nothing is left to do: a journal has no "append if
 * nothing changed since". Gives what was written, and what is left where another process would not let it stand.
 */
export async function applyPlan(
  topic: RegistryTopic,
  first: Plan,
  plan: () => Promise<Plan>,
): Promise<{ readonly applied: readonly RegistryRecord[]; readonly left: Plan }> {
  const applied: RegistryRecord[] = []
  let left = first
  for (let round = 0; round < ROUNDS_MAX && left.changes.length > 0; round += 1) {
    await appendChanges(topic, left.changes)
    applied.push(...left.changes)
    left = await plan()
  }
  return { applied, left }
}
