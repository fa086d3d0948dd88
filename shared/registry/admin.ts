import { timestampOf } from '../contract/timestamp.ts'
import { applyPlan } from './apply-plan.ts'
import { encodeBackup, planRestore, readBackup } from './backup.ts'
import { parseRegistryFile } from './file.ts'
import { type RegistryAdminDeps, readRegistry, readState, readTopic } from './journal-access.ts'
import { revokeKey, rotateKey } from './key-admin.ts'
import { type Plan, planApply } from './plan.ts'
import { isEmpty, type RegistryRecord, type RegistryState } from './records.ts'
import { changeSearch } from './search-admin.ts'
import { changeOwn, setDefaultProject } from './team-admin.ts'
import { byLine, type FileProblem } from './yaml-reader.ts'

export type ApplyResult =
  | { readonly outcome: 'applied'; readonly changes: readonly RegistryRecord[]; readonly notes: readonly string[] }
  | { readonly outcome: 'refused'; readonly problems: readonly FileProblem[] }
  /** Another process changed the registry meanwhile; `changes` of this file were written, and these problems remain. */
  | {
      readonly outcome: 'disturbed'
      readonly changes: readonly RegistryRecord[]
      readonly problems: readonly FileProblem[]
    }

/**
 * The operations on the registry of an operator, and of a Team on what is its own. A journal has no "append if nothing changed since", so
 * two at once may plan on the same state. Every operation therefore reads the registry again after it wrote and checks the outcome:
 * `applyFile` plans until nothing is left to do, `rotateKey` revokes its key if it came too late to be one of two. If two files still
 * disagree about a name, the last writer wins. All reject as the journal does.
 */
export const createRegistryAdmin = (deps: RegistryAdminDeps) => ({
  applyFile: applyFile.bind(null, deps),
  rotateKey: rotateKey.bind(null, deps),
  revokeKey: revokeKey.bind(null, deps),
  changeOwn: changeOwn.bind(null, deps),
  setDefaultProject: setDefaultProject.bind(null, deps),
  changeSearch: changeSearch.bind(null, deps),
  export: exportAll.bind(null, deps),
  restore: restore.bind(null, deps),
  /** The registry as it is now. */
  read: readRegistry.bind(null, deps),
})

export type RegistryAdmin = ReturnType<typeof createRegistryAdmin>

/** Applies a registry file (YAML); changes nothing if it has problems. */
async function applyFile(
  deps: RegistryAdminDeps,
  text: string,
  { prune, dryRun = false }: { readonly prune: boolean; readonly dryRun?: boolean },
): Promise<ApplyResult> {
  const { file, problems } = parseRegistryFile(text)
  const options = { prune, now: timestampOf(deps.clock.now()) }
  const planOn = (state: RegistryState): Plan => {
    const planned = planApply(state, file, options)
    return { ...planned, problems: [...problems, ...planned.problems].toSorted(byLine) }
  }
  return carryOut(deps, planOn, dryRun)
}

/** The whole registry in the form that `restore` takes; undefined if it is empty. */
async function exportAll(deps: RegistryAdminDeps): Promise<string | undefined> {
  const state = await readState(deps)
  return isEmpty(state) ? undefined : encodeBackup(state, timestampOf(deps.clock.now()))
}

/** Restores everything in a text of `exportAll`; changes nothing if that is incomplete. */
async function restore(
  deps: RegistryAdminDeps,
  bytes: Uint8Array,
  { dryRun }: { readonly dryRun: boolean },
): Promise<ApplyResult> {
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
