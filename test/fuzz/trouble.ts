import type { Findings } from './findings.ts'
import type { Plan } from './plan.ts'
import { complaintOf, during, listed, suspects } from './report.ts'
import type { TargetOptions } from './target.ts'
import type { Stall, WatchOptions } from './watch.ts'

/** Turns stalls, memory use, deaths and log lines into findings: no response reveals them, so the cases in flight are named. */
export interface Trouble extends TargetOptions, Omit<WatchOptions, 'stalls'> {
  /** Reports stalls that never ended. */
  end(): void
}

export function createTrouble(findings: Findings, inFlight: () => readonly Plan[]): Trouble {
  /** The cases in flight when a process was late, by process name. */
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

  function addStall(name: string, detail: string, tookMs: number): void {
    add(`${name} stalled`, stalls.get(name)?.plans ?? suspects(inFlight()), detail, tookMs, 'ms')
  }

  const onStallOver = (name: string, stall: Stall | undefined): void => {
    if (stall !== undefined) addStall(name, `its thread ran ${Math.round(stall.ranMs)} ms of it`, stall.afterMs)
    stalls.delete(name)
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
      for (const [name, { since }] of stalls) addStall(name, 'it never ended', performance.now() - since)
    },
  }
}
