import { setTimeout as delay } from 'node:timers/promises'
import type { Honest } from './honest/honest.ts'
import { type Counts, MANY } from './honest/order.ts'
import { type Hostile, startHostile } from './hostile.ts'
import type { RigOptions } from './rig.ts'

/** The minimum share of their rate that honest clients must keep. */
const KEPT_MIN = 0.8
/** A freshly started program is slower. */
const WARM_UP_MS = 3_000

export interface MeasureOptions extends Omit<RigOptions, 'stalls'> {
  readonly seed: number
  readonly seconds: number
  /** How long honest clients are measured without attacks. */
  readonly aloneSeconds: number
  readonly lanes: number
}

/** The outcome of attacks on one program. */
export interface Row {
  readonly attacks: readonly string[]
  readonly cases: number
  readonly peaksMiB: Readonly<Record<string, number>>
  /** The longest wait for /health/live per process, in ms. */
  readonly waits: Readonly<Record<string, number>>
  /** The rates during the attacks, relative to those without. */
  readonly kept: { readonly sends: number; readonly reads: number }
  readonly refused: number
  readonly failed: number
  /** Missing and duplicate entries among the accepted ones, of honest senders and attackers. */
  readonly missing: number
  readonly twice: number
  readonly found: number
}

/** Runs honest clients alone, and then beside these attacks. */
export async function measure(attacks: readonly string[], options: MeasureOptions): Promise<Row> {
  const hostile = await startHostile({ ...options, stalls: true }, options.seed, MANY)
  try {
    return await measured(hostile, attacks, options)
  } finally {
    await hostile.stop()
  }
}

async function measured(
  hostile: Hostile,
  attacks: readonly string[],
  { seconds, aloneSeconds, lanes }: MeasureOptions,
): Promise<Row> {
  const { honest, findings, watch } = hostile
  await delay(WARM_UP_MS)
  const alone = await rates(honest, () => delay(aloneSeconds * 1000))
  const end = performance.now() + seconds * 1000
  let cases = 0
  const beside = await rates(honest, async () => {
    cases = await hostile.attack(attacks, lanes, () => performance.now() > end)
  })
  const kept = { sends: beside.sends / alone.sends, reads: beside.reads / alone.reads }
  for (const [kind, part] of Object.entries(kept)) {
    if (!(part >= KEPT_MIN)) findings.add({ what: `honest ${kind} kept only ${part.toFixed(2)} of their rate` })
  }
  const settlements = await hostile.finishAll()
  const sum = (of: (settlement: (typeof settlements)[number]) => readonly string[]): number =>
    settlements.reduce((total, settlement) => total + of(settlement).length, 0)
  const { refused, failed } = honest.counts()
  return {
    attacks,
    cases,
    peaksMiB: watch.peaks(),
    waits: watch.longestWaits(),
    kept,
    refused,
    failed,
    missing: sum(({ missing }) => missing),
    twice: sum(({ duplicates }) => duplicates),
    found: findings.groups().length,
  }
}

/** Successful requests per second during `work`. */
async function rates(honest: Honest, work: () => Promise<void>): Promise<Pick<Counts, 'sends' | 'reads'>> {
  const before = honest.counts()
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  const { sends, reads } = honest.counts()
  return { sends: (sends - before.sends) / seconds, reads: (reads - before.reads) / seconds }
}

export const HEADER: readonly string[] = [
  '| attack | cases | peak memory, MiB | longest wait for /health/live, ms | honest rate kept (senders, readers) | refused for now | failed | missing, twice | findings |',
  '| --- | --: | --: | --: | --: | --: | --: | --: | --: |',
]

export function rowText(row: Row): string {
  const { attacks, cases, kept, refused, failed, missing, twice, found } = row
  const cells = [
    attacks.length === 1 ? attacks[0] : `${attacks.length} at once`,
    cases,
    numbersText(row.peaksMiB),
    numbersText(Object.fromEntries(Object.keys(row.peaksMiB).map((name) => [name, row.waits[name] ?? 0]))),
    `${kept.sends.toFixed(2)}, ${kept.reads.toFixed(2)}`,
    refused,
    failed,
    `${missing}, ${twice}`,
    found,
  ]
  return `| ${cells.join(' | ')} |`
}

/** A single number, or one per named process. */
function numbersText(numbers: Readonly<Record<string, number>>): string {
  const all = Object.entries(numbers)
  return all.map(([name, value]) => `${all.length === 1 ? '' : `${name} `}${Math.round(value)}`).join(', ')
}
