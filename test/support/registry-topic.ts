import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import { type Audited, readAudit, type ToldChange } from '../../shared/journal/audit.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import { createRegistryAdmin } from '../../shared/registry/admin.ts'
import { parseRegistryFile } from '../../shared/registry/file.ts'
import { type Plan, planApply } from '../../shared/registry/plan.ts'
import { emptyState, fold, type RegistryState } from '../../shared/registry/records.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import { createRegistryFold } from '../../shared/registry/registry-fold.ts'
import { createMemoryJournal, type MemoryJournal } from './memory-journal.ts'

export const NOW = '2026-03-04T05:06:07.000Z'

export const TOPIC = topicName('sluice', 'registry')

export const AUDIT_TOPIC = topicName('sluice', 'audit')

/** Makes changes without auditing them. */
const unaudited: Audited = (_changes, make) => make()

/** A journal with an empty registry topic, its administration, and a clock under test control. */
export function registryOnMemory() {
  const clock = { now: () => Date.parse(NOW) }
  const journal = createMemoryJournal({
    clock,
    topics: [
      { ...TOPICS.registry, name: TOPIC },
      { ...TOPICS.audit, name: AUDIT_TOPIC },
    ],
  })
  const admin = createRegistryAdmin({ journal, topic: TOPIC, clock, audited: unaudited })
  return { journal, admin, clock, topic: TOPIC, audited: unaudited }
}

/** An administration that another process gets ahead of: `other` runs between its first reading and its first append. */
export function overtaken({ journal, ...setup }: ReturnType<typeof registryOnMemory>, other: () => Promise<unknown>) {
  let pending: (() => Promise<unknown>) | undefined = other
  const append: Journal['append'] = async (batch) => {
    const first = pending
    pending = undefined
    await first?.()
    await journal.append(batch)
  }
  return createRegistryAdmin({ ...setup, journal: { ...journal, append } })
}

/** The changes recorded in a journal's audit. */
export async function toldBy(journal: Pick<Journal, 'scan'>): Promise<readonly ToldChange[]> {
  const told: ToldChange[] = []
  for await (const change of readAudit(journal, AUDIT_TOPIC)) told.push(change)
  return told
}

/** The state after the plan's changes. */
export function withChanges(state: RegistryState, { changes }: Plan): RegistryState {
  const next = {
    team: new Map(state.team),
    event: new Map(state.event),
    step: new Map(state.step),
    project: new Map(state.project),
    key: new Map(state.key),
    search: new Map(state.search),
  }
  for (const change of changes) fold(next, change)
  return next
}

/** Plans the changes for a well-formed file. */
export function planOf(state: RegistryState, text: string, { prune = false, now = NOW } = {}): Plan {
  const { file, problems } = parseRegistryFile(text)
  if (problems.length > 0) throw new Error(`the file has problems: ${JSON.stringify(problems)}`)
  return planApply(state, file, { prune, now })
}

/** The state after applying files to an empty registry, in order. */
export function stateOf(...files: string[]): RegistryState {
  return files.reduce((state, text) => {
    const plan = planOf(state, text)
    if (plan.problems.length > 0) throw new Error(JSON.stringify(plan.problems))
    return withChanges(state, plan)
  }, emptyState())
}

/** A registry with one file applied, as its readers see it. */
export const registryOf = (text: string): Registry => createRegistryFold(stateOf(text)).registry

/** The registry in the topic of a journal. */
export function registryIn({ journal }: { readonly journal: MemoryJournal }): Registry {
  const { registry, fold: add } = createRegistryFold()
  add(journal.recordsOf(TOPIC))
  return registry
}

/** A state as plain data, for comparison. */
export const plain = (state: RegistryState): Record<string, Record<string, unknown>> =>
  Object.fromEntries(Object.entries(state).map(([kind, map]) => [kind, Object.fromEntries(map)]))
