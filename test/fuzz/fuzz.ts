import { createTriedAgain } from './again.ts'
import { startEmbedded } from './embedded-target.ts'
import { createFindings, type FindingGroup } from './findings.ts'
import { startFull } from './full-target.ts'
import { createAcceptedLedger, type Settlement } from './ledger.ts'
import { planOf } from './make-plan.ts'
import type { Plan } from './plan.ts'
import { prepare } from './prepare.ts'
import { findingText, listText, planText, shown, summaryText } from './report.ts'
import { createRunner, type Runner } from './run.ts'
import { settle } from './stored.ts'
import { createTeamKeys } from './team-keys.ts'
import { createTrouble } from './trouble.ts'
import { startWatch } from './watch.ts'

export interface FuzzOptions {
  readonly mode: 'embedded' | 'full'
  readonly seed: number
  readonly seconds?: number | undefined
  /** The run ends with the case that completes so many. */
  readonly requests?: number | undefined
  /** The only case that is run. */
  readonly replay?: number | undefined
  /** Cases at a time. */
  readonly lanes: number
  readonly attacks: boolean
  /** Whether it is judged how soon the processes answer. */
  readonly stalls: boolean
  readonly bail: boolean
  readonly print: (text: string) => void
}

export interface Summary {
  readonly cases: number
  readonly requests: number
  /** All answers, those to requests that were sent again until an entry was shown included. */
  readonly answers: number
  readonly seconds: number
  readonly statuses: ReadonlyMap<number, number>
  readonly settlement: Settlement
  readonly peaksMiB: Readonly<Record<string, number>>
  readonly findings: readonly FindingGroup[]
}

/** Starts the program, sends it what no client should, and tells what must not be. */
export async function fuzz(options: FuzzOptions): Promise<Summary> {
  const { seed, print, attacks, replay, mode } = options
  const findings = createFindings((finding) => print(findingText(finding, options)))
  let runner: Runner | undefined
  const inFlight = (): readonly Plan[] => [...(runner?.inFlight.values() ?? [])]
  const trouble = createTrouble(findings, inFlight)
  const target = await (mode === 'full' ? startFull(trouble) : startEmbedded(trouble))
  try {
    const url = (role: 'gateway' | 'views'): string => `http://127.0.0.1:${target.port(role)}`
    const material = await prepare({ gateway: url('gateway'), views: url('views') })
    const ledger = createAcceptedLedger()
    const again = createTriedAgain(findings)
    const statuses = new Map<number, number>()
    runner = createRunner({
      target,
      ledger,
      findings,
      keys: createTeamKeys(),
      onAnswer: (plan, request, answer, verdict) => {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        again.note(plan, request, verdict)
        if (replay !== undefined) print(`  ${answer.status} ${shown(answer.body)}`)
      },
    })
    const watch = startWatch(target, { ...trouble, stalls: options.stalls })
    const caseOf = (number: number): Plan => planOf(seed, number, material, attacks)
    if (replay !== undefined) print(planText(caseOf(replay)))
    const began = performance.now()
    const cases = createCases(options, caseOf, () => findings.groups().length)
    await runner.run(cases.next, options.lanes)
    const seconds = (performance.now() - began) / 1000
    const settlement = await settle(target, ledger)
    const { missing, duplicates } = settlement
    if (missing.length > 0) findings.add({ what: 'what was accepted cannot be read', detail: listText(missing) })
    if (duplicates.length > 0) findings.add({ what: 'what was accepted is there twice', detail: listText(duplicates) })
    await again.tryAll(runner.once)
    trouble.end()
    await watch.stop()
    const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0)
    const peaksMiB = watch.peaks()
    const summary = {
      cases: cases.given(),
      requests: cases.requests(),
      answers,
      seconds,
      statuses,
      settlement,
      peaksMiB,
      findings: findings.groups(),
    }
    print(summaryText(summary, options))
    return summary
  } finally {
    await target.stop()
  }
}

interface Cases {
  readonly next: () => Plan | undefined
  readonly given: () => number
  readonly requests: () => number
}

/** The cases in turn, until they have enough requests or findings, or the time is up. */
function createCases(
  { replay, requests = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY, bail }: FuzzOptions,
  caseOf: (number: number) => Plan,
  found: () => number,
): Cases {
  const endsAt = performance.now() + seconds * 1000
  const most = replay === undefined ? Number.POSITIVE_INFINITY : 1
  let given = 0
  let asked = 0
  const isOver = (): boolean =>
    given >= most || asked >= requests || performance.now() >= endsAt || (bail && found() > 0)
  return {
    next: () => {
      if (isOver()) return undefined
      const plan = caseOf((replay ?? 0) + given)
      given += 1
      asked += requestsOf(plan)
      return plan
    },
    given: () => given,
    requests: () => asked,
  }
}

/** The requests of a case; a pipeline that is left unread counts as one. */
const requestsOf = ({ stages }: Plan): number =>
  stages
    .flatMap(({ scripts }) => scripts)
    .reduce((sum, { end, requests }) => sum + (end.kind === 'leave' ? 1 : requests.length), 0)
