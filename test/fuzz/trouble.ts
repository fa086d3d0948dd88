import type { Findings } from './findings.ts'
import type { Plan } from './plan.ts'
import { complaintOf, during, listed, suspects } from './report.ts'
import type { TargetOptions } from './target.ts'
import type { WatchOptions } from './watch.ts'

/** Makes findings of stalls, memory, deaths and log lines: no answer tells of them, so the cases in flight are named. */
export interface Trouble extends TargetOptions, Omit<WatchOptions, 'stalls'> {
  /** Tells of stalls that never ended. */
  end(): void
}

export function createTrouble(findings: Findings, inFlight: () => readonly Plan[]): Trouble {
  /** The cases in flight when a process did not answer in time, by its name. */
  const stalls = new Map<string, { readonly plans: readonly Plan[]; readonly since: number }>()

  function add(what: string, plans: readonly Plan[], detail: string, value?: number, unit = ''): void {
    const measure = value === undefined ? undefined : { value, unit }
    findings.add({
      what: what + during(plans),
      plan: plans[0],
      detail: [listed(plans), detail].join('\n').trim(),
      measure,
    })
  }

  const onStallOver = (name: string, tookMs: number | undefined): void => {
    const plans = stalls.get(name)?.plans ?? suspects(inFlight())
    stalls.delete(name)
    if (tookMs !== undefined) add(`${name} stalled`, plans, '', tookMs, 'ms')
  }

  return {
    onDeath: (name, printed) => {
      stalls.delete(name)
      add(`${name} died`, suspects(inFlight()), printed)
    },
    onStall: (name) => void stalls.set(name, { plans: suspects(inFlight()), since: performance.now() }),
    onStallOver,
    onMemory: (name, mebibytes) => add(`${name} took too much memory`, suspects(inFlight()), '', mebibytes, 'MiB'),
    onComplaint: (line) => void findings.add(complaintOf(line)),
    end: () => {
      for (const [name, { since }] of stalls) onStallOver(name, performance.now() - since)
    },
  }
}
