import { setTimeout as delay } from 'node:timers/promises'
import type { Draft } from './draft.ts'
import type { Findings } from './findings.ts'
import type { Verdict } from './oracle/dialects.ts'
import type { Plan } from './plan.ts'

/** A refusal marked retryable must be true: each kind is retried once nothing else is running. */
export interface TriedAgain {
  note(plan: Plan, request: Draft, verdict: Verdict): void
  tryAll(run: (plan: Plan) => Promise<readonly Verdict[]>): Promise<void>
}

const ATTEMPTS = 3
const PAUSE_MS = 1_000
const KINDS_MAX = 40

export function createTriedAgain(findings: Findings, pauseMs = PAUSE_MS): TriedAgain {
  const refused = new Map<string, Plan>()
  return {
    note: (plan, { route, dialect }, { failure }) => {
      // A case with several requests would have to be repeated as a whole.
      const isSimple =
        plan.stages.length === 1 &&
        plan.stages[0]?.scripts.length === 1 &&
        plan.stages[0].scripts[0]?.requests.length === 1
      if (!failure?.retryable || failure.code !== 'server_error' || dialect === 'health' || !isSimple) return
      if (refused.size < KINDS_MAX) refused.set(`${route}: ${failure.message.split('. ')[0]}`, plan)
    },
    tryAll: async (run) => {
      for (const [what, plan] of refused)
        if (await isRefusedAgain(plan, run, pauseMs))
          findings.add({ what: `${what}: is refused for now whenever it is sent`, plan })
    },
  }
}

async function isRefusedAgain(
  plan: Plan,
  run: (plan: Plan) => Promise<readonly Verdict[]>,
  pauseMs: number,
): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await delay(pauseMs)
    const verdicts = await run(plan)
    if (!verdicts.some(({ failure }) => failure?.retryable)) return false
  }
  return true
}
