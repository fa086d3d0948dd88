import { createTriedAgain } from './again.ts'
import { createFindings, type Finding, type Findings } from './findings.ts'
import { createAcceptedLedger, type Settlement } from './ledger.ts'
import type { Material, TeamMaterial } from './material.ts'
import { prepare } from './prepare.ts'
import { listText } from './report.ts'
import { createRunner, type InFlight, type RunDeps, type Runner } from './run.ts'
import { settle } from './stored.ts'
import type { Target, TargetOptions } from './target.ts'
import { createTeamKeys } from './team-keys.ts'
import { createTrouble } from './trouble.ts'
import { startWatch, type Watch } from './watch.ts'

/** The running program, and everything that checks it from outside. */
export interface Rig {
  readonly target: Target
  readonly material: Material
  readonly findings: Findings
  readonly runner: Runner
  readonly watch: Watch
  /**
   * Compares accepted entries with those that these Teams, by default all, can read, retries the temporary refusals, and ends the watch.
   * To be called once nothing is sent any more.
   */
  finish(teams?: readonly TeamMaterial[]): Promise<Settlement>
  /** Ends the program. */
  stop(): Promise<void>
}

export interface RigOptions {
  start(options: TargetOptions): Promise<Target>
  /** The checkout whose program runs, if not this one. */
  readonly root?: string | undefined
  /** Whether response times of the processes are checked. */
  readonly stalls: boolean
  /** Called with the first finding of each kind. */
  readonly onFinding: (finding: Finding) => void
  readonly onAnswer?: RunDeps['onAnswer']
}

export async function startRig({ start, root, stalls, onFinding, onAnswer }: RigOptions): Promise<Rig> {
  const findings = createFindings(onFinding)
  let inFlight: InFlight = new Map()
  const trouble = createTrouble(findings, () => [...inFlight.values()])
  const target = await start({ ...trouble, root })
  try {
    const url = (role: 'gateway' | 'views'): string => `http://127.0.0.1:${target.port(role)}`
    const material = await prepare({ gateway: url('gateway'), views: url('views') })
    const ledger = createAcceptedLedger()
    const again = createTriedAgain(findings)
    const runner = createRunner({
      target,
      ledger,
      findings,
      keys: createTeamKeys(),
      onAnswer: (plan, request, answer, verdict) => {
        again.note(plan, request, verdict)
        onAnswer?.(plan, request, answer, verdict)
      },
    })
    inFlight = runner.inFlight
    const watch = startWatch(target, { ...trouble, stalls })
    return {
      target,
      material,
      findings,
      runner,
      watch,
      finish: async (teams) => {
        const settlement = await settle(target, ledger, teams)
        addDifferences(findings, settlement)
        await again.tryAll(runner.once)
        trouble.end()
        await watch.stop()
        return settlement
      },
      stop: async () => {
        await watch.stop()
        await target.stop()
      },
    }
  } catch (error) {
    await target.stop()
    throw error
  }
}

export function addDifferences(findings: Findings, { missing, duplicates }: Settlement): void {
  if (missing.length > 0) findings.add({ what: 'what was accepted cannot be read', detail: listText(missing) })
  if (duplicates.length > 0) findings.add({ what: 'what was accepted is there twice', detail: listText(duplicates) })
}
