import { timestampOf } from '../contract/timestamp.ts'
import { applyPlan } from './apply-plan.ts'
import { encodeBackup, planRestore, readBackup } from './backup.ts'
import { parseRegistryFile } from './file.ts'
import { type RegistryAdminDeps, readRegistry, readState, readTopic } from './journal-access.ts'
import { type RevokeResult, type RotateOptions, type RotateResult, revokeKey, rotateKey } from './key-admin.ts'
import { type Plan, planApply } from './plan.ts'
import { isEmpty, type RegistryRecord, type RegistryState } from './records.ts'
import type { Registry, Team } from './registry.ts'
import { changeSearch, type SearchChange, type SearchResult } from './search-admin.ts'
import { changeOwn, type OwnItem, type OwnResult, setDefaultProject } from './team-admin.ts'
import type { FileProblem } from './yaml-reader.ts'
import { byLine } from './yaml-reader.ts'

/**
 * An operator's operations on the registry. A journal has no "append if nothing changed since", so two operators at once may plan on the
 * same state. Every operation therefore reads the registry again after it wrote and checks the outcome: `applyFile` plans until nothing is
 * left to do, `rotateKey` revokes its key if it came too late to be one of two. If two files still disagree about a name, the last writer
 * wins.
 */
export interface RegistryAdmin {
  /** Applies a registry file (YAML); changes nothing if it has problems. Rejects as the journal does. */
  applyFile(text: string, options: { readonly prune: boolean; readonly dryRun?: boolean }): Promise<ApplyResult>
  /** Gives a Team a new key. The old one stays live unless `revokeOld`. */
  rotateKey(team: string, options: RotateOptions): Promise<RotateResult>
  /** Revokes a key, named by its first characters (up to 6) or in full; with `keepLast`, not the last live one. */
  revokeKey(team: string, prefix: string, options?: { readonly keepLast: boolean }): Promise<RevokeResult>
  /** Creates or changes an Event, Step or Project of a Team, as the Team itself may. */
  changeOwn(team: string, item: OwnItem, how: 'create' | 'change'): Promise<OwnResult>
  /** Sets the Project of a Team for logs of unknown services, or none. */
  setDefaultProject(team: string, project: string | null): Promise<OwnResult<Team>>
  /** Saves, renames or deletes a search of a Team. */
  changeSearch(team: string, change: SearchChange): Promise<SearchResult>
  /** The whole registry in the form that `restore` takes; undefined if it is empty. */
  export(): Promise<string | undefined>
  /** Restores everything in a text of `export`; changes nothing if that is incomplete. Rejects as the journal does. */
  restore(backup: Uint8Array, options: { readonly dryRun: boolean }): Promise<ApplyResult>
  /** The registry as it is now. */
  read(): Promise<Registry>
}

export type ApplyResult =
  | { readonly outcome: 'applied'; readonly changes: readonly RegistryRecord[]; readonly notes: readonly string[] }
  | { readonly outcome: 'refused'; readonly problems: readonly FileProblem[] }
  /** Another process changed the registry meanwhile; `changes` of this file were written, and these problems remain. */
  | {
      readonly outcome: 'disturbed'
      readonly changes: readonly RegistryRecord[]
      readonly problems: readonly FileProblem[]
    }

export function createRegistryAdmin(deps: RegistryAdminDeps): RegistryAdmin {
  return {
    applyFile: (text, { prune, dryRun = false }) => applyFile(deps, text, prune, dryRun),
    rotateKey: (team, options) => rotateKey(deps, team, options),
    revokeKey: (team, prefix, options = { keepLast: false }) => revokeKey(deps, team, prefix, options),
    changeOwn: (team, item, how) => changeOwn(deps, team, item, how),
    setDefaultProject: (team, project) => setDefaultProject(deps, team, project),
    changeSearch: (team, change) => changeSearch(deps, team, change),
    export: () => exportAll(deps),
    restore: (backup, { dryRun }) => restore(deps, backup, dryRun),
    read: () => readRegistry(deps),
  }
}

async function applyFile(deps: RegistryAdminDeps, text: string, prune: boolean, dryRun: boolean): Promise<ApplyResult> {
  const { file, problems } = parseRegistryFile(text)
  const options = { prune, now: timestampOf(deps.clock.now()) }
  const planOn = (state: RegistryState): Plan => {
    const planned = planApply(state, file, options)
    return { ...planned, problems: [...problems, ...planned.problems].toSorted(byLine) }
  }
  return carryOut(deps, planOn, dryRun)
}

async function exportAll(deps: RegistryAdminDeps): Promise<string | undefined> {
  const state = await readState(deps)
  return isEmpty(state) ? undefined : encodeBackup(state, timestampOf(deps.clock.now()))
}

async function restore(deps: RegistryAdminDeps, bytes: Uint8Array, dryRun: boolean): Promise<ApplyResult> {
  const backup = readBackup(bytes)
  if ('problem' in backup) return { outcome: 'refused', problems: [backup.problem] }
  return carryOut(deps, (state) => planRestore(state, backup.state), dryRun)
}

/** Makes the changes of a plan until none is left; makes none if the plan has problems. */
async function carryOut(
  deps: RegistryAdminDeps,
  planOn: (state: RegistryState) => Plan,
  dryRun: boolean,
): Promise<ApplyResult> {
  const present = await readTopic(deps)
  const first = planOn(present.state)
  if (first.problems.length > 0) return { outcome: 'refused', problems: first.problems }
  if (dryRun) return { outcome: 'applied', changes: first.changes, notes: first.notes }
  const { applied, left } = await applyPlan(deps, present, planOn)
  if (left.problems.length === 0 && left.changes.length === 0)
    return { outcome: 'applied', changes: applied, notes: first.notes }
  return { outcome: 'disturbed', changes: applied, problems: left.problems }
}
