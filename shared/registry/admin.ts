import { timestampOf } from '../contract/timestamp.ts'
import { type FileProblem, parseRegistryFile } from './file.ts'
import { appendChanges, type RegistryAdminDeps, readRegistry, readState } from './journal-access.ts'
import { type RevokeResult, type RotateResult, revokeKey, rotateKey } from './key-admin.ts'
import { type Plan, planApply } from './plan.ts'
import type { RegistryRecord } from './records.ts'
import type { Registry } from './registry.ts'

/**
 * What an operator does to the registry. A journal has no "append if nothing changed since", so two operators at once may plan
 * on the same state. Every operation therefore reads the registry again after it wrote and judges the outcome: `applyFile`
 * plans until nothing is left to do, `rotateKey` takes its key back where it came too late to be one of two. What is left is the
 * last writer's word where two files disagree about one name.
 */
export interface RegistryAdmin {
  /** Applies a registry file (YAML); changes nothing where it has problems. Rejects as the journal does. */
  applyFile(text: string, options: { readonly prune: boolean; readonly dryRun?: boolean }): Promise<ApplyResult>
  /** Gives a Team a new key: a random one, or `key` where it is strong. The old one stays live unless `revokeOld`. */
  rotateKey(team: string, options: { readonly revokeOld: boolean; readonly key?: string }): Promise<RotateResult>
  /** Ends a key, named by its first characters (up to 6) or in full. */
  revokeKey(team: string, prefix: string): Promise<RevokeResult>
  /** The registry as it is now. */
  read(): Promise<Registry>
}

export type ApplyResult =
  | { readonly outcome: 'applied'; readonly changes: readonly RegistryRecord[]; readonly notes: readonly string[] }
  | { readonly outcome: 'refused'; readonly problems: readonly FileProblem[] }
  /** Another process changed the registry meanwhile; `changes` of this file were written, and these problems are left. */
  | {
      readonly outcome: 'disturbed'
      readonly changes: readonly RegistryRecord[]
      readonly problems: readonly FileProblem[]
    }

/** How often `applyFile` plans anew when another process keeps changing the same things. */
const ROUNDS_MAX = 5

export function createRegistryAdmin(deps: RegistryAdminDeps): RegistryAdmin {
  return {
    applyFile: (text, { prune, dryRun = false }) => applyFile(deps, text, prune, dryRun),
    rotateKey: (team, options) => rotateKey(deps, team, options),
    revokeKey: (team, prefix) => revokeKey(deps, team, prefix),
    read: () => readRegistry(deps),
  }
}

async function applyFile(deps: RegistryAdminDeps, text: string, prune: boolean, dryRun: boolean): Promise<ApplyResult> {
  const { file, problems } = parseRegistryFile(text)
  const plan = async (): Promise<Plan> => {
    const planned = planApply(await readState(deps), file, { prune, now: timestampOf(deps.clock.now()) })
    return {
      ...planned,
      problems: [...problems, ...planned.problems].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    }
  }
  const first = await plan()
  if (first.problems.length > 0) return { outcome: 'refused', problems: first.problems }
  const applied: RegistryRecord[] = []
  const done: ApplyResult = { outcome: 'applied', changes: applied, notes: first.notes }
  if (dryRun) return { ...done, changes: first.changes }
  let left = first
  for (let round = 0; round < ROUNDS_MAX && left.changes.length > 0; round += 1) {
    await appendChanges(deps, left.changes)
    applied.push(...left.changes)
    left = await plan()
  }
  if (left.problems.length === 0 && left.changes.length === 0) return done
  return { outcome: 'disturbed', changes: applied, problems: left.problems }
}
