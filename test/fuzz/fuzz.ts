import type { FindingGroup } from './findings.ts'
import type { Settlement } from './ledger.ts'
import { planOf } from './make-plan.ts'
import { type Mode, type Programs, programsOf } from './modes.ts'
import type { Plan } from './plan.ts'
import { findingText, planText, replayCommand, shown, summaryText } from './report.ts'
import { startRig } from './rig.ts'

export interface FuzzOptions {
  readonly mode: Mode
  readonly seed: number
  readonly seconds?: number | undefined
  /** The run ends with the case that reaches this number. */
  readonly requests?: number | undefined
  /** The only case to run. */
  readonly replay?: number | undefined
  /** Number of concurrent cases. */
  readonly lanes: number
  readonly attacks: boolean
  /** Whether response times of the processes are checked. */
  readonly stalls: boolean
  readonly bail: boolean
  readonly print: (text: string) => void
}

export interface Summary {
  readonly cases: number
  readonly requests: number
  /** All responses, including those to repeated requests that waited for an entry to appear. */
  readonly answers: number
  readonly seconds: number
  readonly statuses: ReadonlyMap<number, number>
  readonly settlement: Settlement
  readonly peaksMiB: Readonly<Record<string, number>>
  readonly findings: readonly FindingGroup[]
}

/** Starts the program, sends it invalid and hostile requests, and reports its faults. */
export async function fuzz(options: FuzzOptions): Promise<Summary> {
  const programs = await programsOf(options.mode)
  try {
    return await fuzzOne(programs, options)
  } finally {
    await programs.stop()
  }
}

async function fuzzOne({ start }: Programs, options: FuzzOptions): Promise<Summary> {
  const { seed, print, attacks, replay, stalls } = options
  const statuses = new Map<number, number>()
  const rig = await startRig({
    start,
    stalls,
    onFinding: (finding) => print(findingText(finding, (number) => replayCommand(number, options))),
    onAnswer: (_plan, _request, answer) => {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (replay !== undefined) print(`  ${answer.status} ${shown(answer.body)}`)
    },
  })
  try {
    const { findings, material, runner, watch } = rig
    const caseOf = (number: number): Plan => planOf(seed, number, material, attacks)
    if (replay !== undefined) print(planText(caseOf(replay)))
    const began = performance.now()
    const cases = createCases(options, caseOf, () => findings.groups().length)
    await runner.run(cases.next, options.lanes)
    const seconds = (performance.now() - began) / 1000
    const settlement = await rig.finish()
    const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0)
    const summary = {
      cases: cases.given(),
      requests: cases.requests(),
      answers,
      seconds,
      statuses,
      settlement,
      peaksMiB: watch.peaks(),
      findings: findings.groups(),
    }
    print(summaryText(summary, options))
    return summary
  } finally {
    await rig.stop()
  }
}

interface Cases {
  readonly next: () => Plan | undefined
  readonly given: () => number
  readonly requests: () => number
}

/** Returns the cases in turn, until there are enough requests or findings, or the time is up. */
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

/** The number of requests in a case; an unread pipeline counts as one. */
const requestsOf = ({ stages }: Plan): number =>
  stages
    .flatMap(({ scripts }) => scripts)
    .reduce((sum, { end, requests }) => sum + (end.kind === 'leave' ? 1 : requests.length), 0)
