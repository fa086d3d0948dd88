import { Worker } from 'node:worker_threads'
import type { Settlement } from '../ledger.ts'
import { during, suspects } from '../report.ts'
import { addDifferences, type Rig } from '../rig.ts'
import {
  type Clients,
  COUNTS,
  type Counts,
  type HonestOrder,
  type HonestReport,
  type OrderChange,
  type Where,
} from './order.ts'

/** Running honest senders and readers. */
export interface Honest {
  readonly clients: Clients
  /** The counts so far. */
  counts(): Counts
  /** Ends their work, and returns what happened to the entries that they sent. */
  finish(): Promise<Settlement>
  stop(): Promise<void>
}

const LOOK_MS = 100

export function startHonest({ target, material, findings, runner }: Rig, seed: number, clients: Clients): Honest {
  const where = (): Where => ({
    ports: { gateway: target.port('gateway'), views: target.port('views') },
    deaths: target.deaths(),
  })
  const counts = new Int32Array(new SharedArrayBuffer(COUNTS.length * Int32Array.BYTES_PER_ELEMENT))
  const workerData: HonestOrder = { seed, clients, material, where: where(), counts }
  const worker = new Worker(new URL('./honest-thread.ts', import.meta.url), { workerData })
  const tell = (isOver: boolean): void => worker.postMessage({ where: where(), isOver } satisfies OrderChange)
  const over = Promise.withResolvers<Settlement>()
  over.promise.catch(() => {})
  worker.on('error', over.reject)
  worker.on('message', (message: HonestReport) => {
    if (message.kind === 'over') return over.resolve(message.settlement)
    const { what, ...more } = message.finding
    findings.add({ ...more, what: what + during(suspects([...runner.inFlight.values()])) })
  })
  const timer = setInterval(() => tell(false), LOOK_MS)
  return {
    clients,
    counts: () => Object.fromEntries(COUNTS.map((name, index) => [name, Atomics.load(counts, index)])) as Counts,
    finish: async () => {
      tell(true)
      const settlement = await over.promise
      addDifferences(findings, settlement)
      return settlement
    },
    stop: async () => {
      clearInterval(timer)
      await worker.terminate()
    },
  }
}
