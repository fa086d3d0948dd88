/**
 * Honest senders and readers, in a thread of their own: only the program slows them down, not the generation of attacks. Requests are sent
 * at fixed times, whether or not earlier ones were answered; after a delay they catch up, as long as a client is free.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { createAcceptedLedger } from '../ledger.ts'
import { TEAMS } from '../material.ts'
import type { Verdict } from '../oracle/dialects.ts'
import type { Plan } from '../plan.ts'
import { createRunner, type RunOne } from '../run.ts'
import { settle } from '../stored.ts'
import { createTeamKeys } from '../team-keys.ts'
import { type Clients, COUNTS, type HonestOrder, type HonestReport, type OrderChange, PER_SECOND } from './order.ts'
import { readPlan, sendPlan } from './plans.ts'

/** Maximum number of attempts for a retryable refusal, and the pause between them. */
const ATTEMPTS = 10
const PAUSE_MS = 500

const { seed, clients, material, counts } = workerData as HonestOrder
let { where } = workerData as HonestOrder
let isOver = false

const report = (message: HonestReport): void => parentPort?.postMessage(message)
const count = (name: (typeof COUNTS)[number]): void => void Atomics.add(counts, COUNTS.indexOf(name), 1)

const target = { port: (role: string) => where.ports[role] ?? 0, deaths: () => where.deaths, up: async () => {} }
const ledger = createAcceptedLedger()
const runner = createRunner({
  target,
  // With its Idempotency-Key a repeated request is stored once, whatever happened to the first attempt.
  ledger: { ...ledger, unknown: () => {} },
  findings: {
    add: ({ what, detail, measure }) => {
      report({ kind: 'finding', finding: { what: `an honest client: ${what}`, detail, measure } })
      return true
    },
    groups: () => [],
  },
  keys: createTeamKeys(),
  onAnswer: () => {},
})

const isGood = (verdicts: readonly Verdict[]): boolean =>
  verdicts.length > 0 && verdicts.every(({ failure, problems }) => failure === undefined && problems.length === 0)

/** Whether the request succeeded; retryable refusals are retried. */
async function succeeds(run: RunOne, plan: Plan): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const verdicts = await run(plan)
    if (isGood(verdicts)) return true
    const refused = verdicts.find(({ failure }) => failure !== undefined)?.failure
    if (refused?.retryable && attempt < ATTEMPTS) {
      count('refused')
      await delay(PAUSE_MS)
      continue
    }
    const what = `an honest request failed: ${plan.label}: ${refused?.code ?? 'no answer'}`
    report({ kind: 'finding', finding: { what, detail: refused?.message } })
    return false
  }
}

/** Clients of one kind; each awaits the response before taking the next request. */
async function work(kind: keyof Clients, planFor: (number: number) => Plan): Promise<void> {
  const began = performance.now()
  let taken = 0
  const client = (): Promise<void> =>
    runner.onConnections(async (run) => {
      while (!isOver) {
        const number = taken
        taken += 1
        await delay(Math.max(0, began + (number * 1000) / PER_SECOND[kind] - performance.now()))
        count((await succeeds(run, planFor(number))) ? kind : 'failed')
      }
    })
  await Promise.all(Array.from({ length: clients[kind] }, client))
}

const all = Promise.all([
  work('sends', (number) => sendPlan(seed, 2 * number, material)),
  work('reads', (number) => readPlan(seed, 2 * number + 1, material)),
])

parentPort?.on('message', (change: OrderChange) => {
  where = change.where
  if (!change.isOver || isOver) return
  isOver = true
  void all.then(async () => report({ kind: 'over', settlement: await settle(target, ledger, [TEAMS.main]) }))
})
