import type { Draft } from './draft.ts'
import { startEmbedded } from './embedded-target.ts'
import { createFindings, type FindingGroup } from './findings.ts'
import { createAcceptedLedger, type Settlement } from './ledger.ts'
import { planOf } from './make-plan.ts'
import type { Plan } from './plan.ts'
import { prepare } from './prepare.ts'
import { complaintOf, findingText, summaryText, suspects } from './report.ts'
import { createRunner } from './run.ts'
import { settle } from './stored.ts'
import { createTeamKeys } from './team-keys.ts'
import { startWatch } from './watch.ts'

export interface FuzzOptions {
  readonly mode: 'embedded' | 'full'
  readonly seed: number
  readonly seconds?: number | undefined
  readonly requests?: number | undefined
  /** The only case that is run. */
  readonly replay?: number | undefined
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
  readonly seconds: number
  readonly statuses: ReadonlyMap<number, number>
  readonly settlement: Settlement
  readonly peaksMiB: Readonly<Record<string, number>>
  readonly findings: readonly FindingGroup[]
}

/** Starts the program, attacks it, and tells what must not be. */
export async function fuzz(options: FuzzOptions): Promise<Summary> {
  const { seed, print, replay, bail } = options
  const findings = createFindings((finding) => print(findingText(finding, options)))
  const isOver = (): boolean => bail && findings.groups().length > 0
  const inFlight = (): readonly Plan[] => [...runner.inFlight.values()]
  const target = await startEmbedded({
    onDeath: (name, printed) => {
      const plans = suspects(inFlight())
      findings.add({
        what: `the process ${name} died`,
        plan: plans[0],
        detail: `${plans.map(({ number, label }) => `#${number} ${label}`).join('\n')}\n${printed}`,
      })
    },
  })
  const url = (role: 'gateway' | 'views'): string => `http://127.0.0.1:${target.port(role)}`
  const material = await prepare({ gateway: url('gateway'), views: url('views') })
  const ledger = createAcceptedLedger()
  const statuses = new Map<number, number>()
  const keys = createTeamKeys()
  const runner = createRunner({
    target,
    ledger,
    findings,
    keys,
    planOf: (number) => planOf(seed, number, material),
    onAnswer: (_plan: Plan, _request: Draft, status: number) =>
      void statuses.set(status, (statuses.get(status) ?? 0) + 1),
  })
  const during = (what: string, detail: string): void => {
    const plans = suspects(inFlight())
    findings.add({
      what,
      plan: plans[0],
      detail: [detail, ...plans.map(({ number, label }) => `#${number} ${label}`)].join('\n'),
    })
  }
  const watch = startWatch(target, {
    stalls: options.stalls,
    onStall: (name) => during(`a stall of ${name}`, ''),
    onStallOver: () => {},
    onMemory: (name, mebibytes) => during(`memory of ${name}`, `${mebibytes} MiB`),
    onComplaint: (line) => void findings.add(complaintOf(line)),
  })
  const began = performance.now()
  const endsAt = options.seconds === undefined ? Number.POSITIVE_INFINITY : began + options.seconds * 1000
  const last = replay === undefined ? (options.requests ?? Number.POSITIVE_INFINITY) : replay + 1
  let number = replay ?? 0
  await runner.run({
    lanes: options.lanes,
    next: () => (number < last && performance.now() < endsAt && !isOver() ? number++ : undefined),
  })
  const seconds = (performance.now() - began) / 1000
  const settlement = await settle(() => url('views'), ledger)
  if (settlement.missing.length > 0)
    findings.add({ what: 'accepted and not readable', detail: settlement.missing.slice(0, 10).join('\n') })
  if (settlement.duplicates.length > 0)
    findings.add({ what: 'stored twice', detail: settlement.duplicates.slice(0, 10).join('\n') })
  await watch.stop()
  await target.stop()
  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const summary = {
    cases: number - (replay ?? 0),
    requests,
    seconds,
    statuses,
    settlement,
    peaksMiB: watch.peaks(),
    findings: findings.groups(),
  }
  print(summaryText(summary, options))
  return summary
}
