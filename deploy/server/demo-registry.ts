import { randomUUID } from 'node:crypto'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { appendChanges, type RegistryAdminDeps, readState } from '../../shared/registry/journal-access.ts'
import { generateKey } from '../../shared/registry/keys.ts'
import { newKeyRecord } from '../../shared/registry/plan-keys.ts'
import { isEmpty, type RegistryRecord } from '../../shared/registry/records.ts'

/** The facts that the first start shows its user; the key is returned only here and not stored. */
export interface Demo {
  readonly team: string
  readonly event: string
  readonly steps: readonly string[]
  readonly project: string
  readonly key: string
}

/** Fills an empty registry with a Team to try Sluice with; returns undefined, and changes nothing, if it is not empty. */
export async function createDemo(deps: RegistryAdminDeps): Promise<Demo | undefined> {
  const state = await readState(deps)
  if (!isEmpty(state)) return undefined
  const team = 'demo'
  const event = 'order-placed'
  const key = generateKey()
  const project = randomUUID()
  const steps = ['Validate', 'Charge', 'Ship'].map((name, index) => ({
    id: `${event}.${name.toLowerCase()}`,
    value: { team, event, name, order: index + 1 },
  }))
  const changes: RegistryRecord[] = [
    { kind: 'team', id: team, value: { name: 'Demo' } },
    newKeyRecord(team, key, timestampOf(deps.clock.now())),
    { kind: 'event', id: event, value: { team, name: 'Order placed' } },
    ...steps.map((step): RegistryRecord => ({ kind: 'step', ...step })),
    { kind: 'project', id: project, value: { team, name: 'Checkout API' } },
  ]
  await appendChanges(deps, changes, state)
  return { team, event, steps: steps.map(({ id }) => id), project, key }
}
