import type { Finding, FindingGroup } from './findings.ts'
import type { FuzzOptions, Summary } from './fuzz.ts'
import type { Plan } from './plan.ts'

/** Maximum bytes of a request shown in a finding, and in a replay. */
const SHOWN_MAX = 800
const REPLAYED_MAX = 20_000
const SCRIPTS_SHOWN_MAX = 3
const SUSPECTS_MAX = 6
const LARGE_BYTES = 20_000

const ESCAPES: Readonly<Record<string, string>> = { '\r': '\\r', '\n': '\\n', '\t': '\\t', '\\': '\\\\' }

/** Bytes in a form that can be read and copied (as for `printf '%b'`); the middle of long ones is omitted. */
export function shown(wire: Buffer, most = SHOWN_MAX): string {
  const half = Math.floor(most / 2)
  if (wire.length <= most) return escapedBytes(wire)
  const cut = `… ${wire.length} bytes in all …`
  return `${escapedBytes(wire.subarray(0, half))} ${cut} ${escapedBytes(wire.subarray(-half))}`
}

const escapedBytes = (bytes: Buffer): string =>
  bytes
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]|\\/g, (one) => ESCAPES[one] ?? `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** Everything that a case sends. */
export const planText = ({ number, label, stages }: Plan): string =>
  [
    `#${number} ${label}`,
    ...stages.flatMap(({ scripts }, stage) =>
      scripts.slice(0, SCRIPTS_SHOWN_MAX).map(({ wire, role, end, cuts }) => {
        const pieces = cuts.length === 0 ? '' : `, in ${cuts.length + 1} pieces`
        return `  ${stage + 1}. ${scripts.length} × to ${role}, then ${end.kind}${pieces}: ${shown(wire, REPLAYED_MAX)}`
      }),
    ),
  ].join('\n')

/** The cases in flight that may be the cause: attacks first, large ones before small ones, and the latest before lingering ones. */
export const suspects = (plans: readonly Plan[]): readonly Plan[] =>
  plans.toSorted((one, other) => rankOf(other) - rankOf(one) || other.number - one.number).slice(0, SUSPECTS_MAX)

const isAttack = ({ label }: Plan): boolean => label.startsWith('attack')

function rankOf(plan: Plan): number {
  if (isAttack(plan)) return plan.label.endsWith('(full)') ? 3 : 2
  return bytesOf(plan) > LARGE_BYTES ? 1 : 0
}

const bytesOf = ({ stages }: Plan): number =>
  stages.flatMap(({ scripts }) => scripts).reduce((sum, { wire }) => sum + wire.length, 0)

/** Suffix of a finding's name: the attack that most likely caused it. */
export const during = (plans: readonly Plan[]): string => {
  const attack = plans.find(isAttack)
  return attack === undefined ? '' : ` during ${attack.label}`
}

export const listed = (plans: readonly Plan[]): string =>
  plans.map(({ number, label }) => `#${number} ${label}`).join('\n')

export const replayCommand = (number: number, { seed, mode }: Pick<FuzzOptions, 'seed' | 'mode'>): string =>
  `npm run fuzz -- --mode ${mode} --seed ${seed} --replay ${number}`

/** `replay` returns the command that reproduces it. */
export function findingText({ what, plan, detail, measure }: Finding, replay: (number: number) => string): string {
  const lines = [`FINDING ${what}${measure === undefined ? '' : `: ${Math.round(measure.value)} ${measure.unit}`}`]
  if (detail !== undefined) lines.push(...detail.split('\n').map((line) => `    ${line.slice(0, 500)}`))
  if (plan !== undefined) {
    lines.push(`  #${plan.number} ${plan.label}`)
    for (const { scripts } of plan.stages) for (const { wire } of scripts.slice(0, 1)) lines.push(`  ${shown(wire)}`)
    lines.push(`  ${replay(plan.number)}`)
  }
  return lines.join('\n')
}

const LISTED_MAX = 10

/** The first of many. */
export const listText = (texts: readonly string[]): string => texts.slice(0, LISTED_MAX).join('\n')

/** A line of the program's own log as a finding; equal faults produce equal findings. */
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

export function summaryText(summary: Summary, { mode, seed }: FuzzOptions): string {
  const { cases, requests, answers, seconds, statuses, settlement, findings, peaksMiB } = summary
  const { accepted, stored, missing, duplicates } = settlement
  const rate = Math.round(requests / seconds)
  const counted = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status}: ${count}`)
  const peaks = Object.entries(peaksMiB).map(([name, peak]) => `${name} ${peak} MiB`)
  const line = [
    `fuzz ${mode} seed ${seed}: ${requests} requests in ${cases} cases and ${seconds.toFixed(1)} s (${rate}/s)`,
    `${answers} answers (${counted.join(', ')})`,
    `accepted ${accepted}, stored ${stored}, missing ${missing.length}, twice ${duplicates.length}`,
    `peak ${peaks.join(', ')}`,
    `findings ${findings.reduce((sum, { count }) => sum + count, 0)}`,
  ].join('; ')
  if (findings.length === 0) return line
  return [`${findings.length} distinct findings:`, ...findings.map(groupText), line].join('\n')
}

function groupText({ what, count, numbers, worst }: FindingGroup): string {
  const measure = worst === undefined ? '' : `, at worst ${Math.round(worst.value)} ${worst.unit}`
  const cases = numbers.length === 0 ? '' : ` (#${numbers.join(', #')})`
  return `  ${count} × ${what}${measure}${cases}`
}
