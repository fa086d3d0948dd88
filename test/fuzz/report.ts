import type { Finding } from './findings.ts'
import type { FuzzOptions, Summary } from './fuzz.ts'
import type { Plan } from './plan.ts'

const SHOWN_MAX = 1_200
const SUSPECTS_MAX = 6

/** Bytes as a reader can see and copy them, the middle of long ones left out. */
export function shown(wire: Buffer): string {
  const text = JSON.stringify(wire.toString('latin1')).slice(1, -1)
  if (text.length <= SHOWN_MAX) return text
  return `${text.slice(0, (SHOWN_MAX * 3) / 4)} … ${wire.length} bytes … ${text.slice(-SHOWN_MAX / 4)}`
}

/** Those in flight that may be the cause: attacks first, then the largest and the oldest. */
export const suspects = (plans: readonly Plan[]): readonly Plan[] =>
  plans.toSorted((one, other) => weightOf(other) - weightOf(one)).slice(0, SUSPECTS_MAX)

const weightOf = ({ stages, label }: Plan): number =>
  (label.startsWith('attack') ? 1e12 : 0) +
  stages.flatMap(({ scripts }) => scripts).reduce((sum, { wire }) => sum + wire.length, 0)

export const replayCommand = (number: number, { seed, mode }: Pick<FuzzOptions, 'seed' | 'mode'>): string =>
  `npm run fuzz -- --mode ${mode} --seed ${seed} --replay ${number}`

export function findingText({ what, plan, detail }: Finding, options: FuzzOptions): string {
  const lines = [`FINDING ${what}`]
  if (detail !== undefined) lines.push(...detail.split('\n').map((line) => `    ${line.slice(0, 500)}`))
  if (plan !== undefined) {
    lines.push(`  #${plan.number} ${plan.label}`)
    for (const { scripts } of plan.stages) for (const { wire } of scripts.slice(0, 1)) lines.push(`  ${shown(wire)}`)
    lines.push(`  ${replayCommand(plan.number, options)}`)
  }
  return lines.join('\n')
}

/** A line of the program's own log as a finding: the same wherever it is of the same fault. */
export function complaintOf(line: string): Finding {
  if (!line.startsWith('{')) return { what: `printed: ${line.replaceAll(/\d+/g, 'n').slice(0, 200)}`, detail: line }
  const { msg, err } = JSON.parse(line) as { msg?: string; err?: { type?: string; message?: string; stack?: string } }
  const frame =
    /\n\s+at (?:\S+ \()?(?:file:\/\/)?(?:\S*?\/)?((?:gateway|views|shared|consumers|deploy|node_modules)\/[^\s:)]+)/.exec(
      err?.stack ?? '',
    )?.[1]
  const message = (err?.message ?? '').replaceAll(/\d+/g, 'n').slice(0, 120)
  return { what: `logged: ${msg}: ${err?.type} ${message} (${frame ?? 'no frame'})`, detail: line.slice(0, 2_000) }
}

export function summaryText(summary: Summary, options: FuzzOptions): string {
  const { cases, requests, seconds, statuses, settlement, findings, peaksMiB } = summary
  const counted = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`)
  const lines = findings.map(
    ({ what, count, numbers }) =>
      `  ${count} × ${what.split('\n')[0]}${numbers.length > 0 ? ` (#${numbers.join(', #')})` : ''}`,
  )
  const peaks = Object.entries(peaksMiB).map(([name, peak]) => `${name} ${peak} MiB`)
  return [
    ...(findings.length === 0 ? [] : [`${findings.length} distinct findings:`, ...lines]),
    `fuzz ${options.mode} seed ${options.seed}: ${cases} cases, ${requests} answers in ${seconds.toFixed(1)} s (${Math.round(requests / seconds)}/s); statuses ${counted.join(', ')}; accepted ${settlement.accepted}, stored ${settlement.stored}, missing ${settlement.missing.length}, twice ${settlement.duplicates.length}; peak ${peaks.join(', ')}; findings ${findings.reduce((sum, { count }) => sum + count, 0)}`,
  ].join('\n')
}
