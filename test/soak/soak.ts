import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { statusMiB } from '../../bench/measured-process.ts'
import { topicName } from '../../shared/contract/topics.ts'
import type { ElasticsearchServer, KafkaServers } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { type FullStack, type Part, startFullStack } from '../support/full-stack.ts'
import { prove } from '../support/full-stack-ledger.ts'
import { leaderMoves } from '../support/kafka.ts'
import type { Load } from '../support/load.ts'
import { SOAK_FAULTS, type SoakRig } from './faults.ts'
import { type Planned, roundOf, roundText } from './schedule.ts'

/** Three brokers with `PREFERRED_LEADERS`, and an Elasticsearch node, all of which may be disrupted. */
export interface SoakServers {
  readonly kafka: KafkaServers
  readonly elasticsearch: ElasticsearchServer
}

export interface SoakOptions {
  readonly seed: number
  /** No round begins after this many milliseconds. */
  readonly forMs: number
  /** Called with each round before it begins, and with the state of the processes at the end. */
  readonly print: (line: string) => void
}

/** Maximum resident memory of a process, in MiB. */
const MEMORY_MAX_MIB = 700
/** Tolerance for connections that come and go; a leak grows with every round. */
const HANDLES_MORE_MAX = 64
/** Entries that have to be answered after a round before the next one begins. */
const BETWEEN_ROUNDS = 200
const READ_EVERY_MS = 200

/**
 * The whole stack with two gateways, two consumer processes and one views process, under load and read from, during rounds of two faults
 * drawn from the seed. Finally the ledger of `prove` has to hold, every process has to be alive, and memory and handles have to be
 * released; rejects otherwise. Returns the number of rounds.
 */
export async function soak({ kafka, elasticsearch }: SoakServers, options: SoakOptions): Promise<number> {
  const { seed, forMs, print } = options
  const proxy = await startFaultProxy(elasticsearch.url)
  const stack = await startFullStack({
    brokers: kafka.brokers,
    elasticsearchUrl: elasticsearch.url,
    consumersSee: proxy.url,
  })
  const moves = leaderMoves(kafka.brokers, topicName(stack.topicPrefix, 'application-logs'))
  try {
    const gateways = [stack.gateway, await stack.startPart('gateway')] as const
    const consumers = [stack.consumers, await stack.startPart('consumers')] as const
    const rig: SoakRig = { stack, gateways, consumers, kafka, elasticsearch, moves, proxy }
    const parts = {
      'gateway 1': gateways[0],
      'gateway 2': gateways[1],
      'consumers 1': consumers[0],
      'consumers 2': consumers[1],
      views: stack.views,
    }
    let turn = 0
    const balanced = (): string => gateways[turn++ % 2 === 0 ? 0 : 1].url()
    let rounds = 0
    const before = new Map<string, number>()
    const play = async (load: Load): Promise<void> => {
      for (const [name, part] of Object.entries(parts)) before.set(name, handlesOf(part))
      const end = performance.now() + forMs
      for (; performance.now() < end; rounds += 1) {
        const round = roundOf(seed, rounds)
        print(`${new Date().toISOString()} round ${rounds}: ${roundText(round)}`)
        await Promise.all(round.map((planned) => bringAbout(rig, planned)))
        for (const [name, part] of Object.entries(parts)) await lives(name, part)
        await load.answeredMore(BETWEEN_ROUNDS)
      }
    }
    const reads = readOn(stack)
    try {
      await prove({ ...stack, startLoad: (name) => stack.startLoad(name, balanced) }, `soak ${seed}`, play)
    } finally {
      print(await reads.stop())
    }
    for (const [name, part] of Object.entries(parts)) print(await settled(name, part, before.get(name) ?? 0))
    return rounds
  } finally {
    await moves.close()
    await stack.stop()
    await proxy.close()
  }
}

async function bringAbout(rig: SoakRig, planned: Planned): Promise<void> {
  await delay(planned.afterMs)
  try {
    await SOAK_FAULTS[planned.name].run(rig, planned)
  } catch (error) {
    throw new Error(`${planned.name}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** Fails the run if a process has ended by itself. */
async function lives(name: string, part: Part): Promise<void> {
  await eventually(async () => {
    const { ok } = await fetch(`${part.url()}/health/live`, { signal: AbortSignal.timeout(5_000) })
    if (!ok) throw new Error(`${name} does not live:\n${part.process().printed()}`)
  })
}

const handlesOf = (part: Part): number => readdirSync(`/proc/${part.process().pid}/fd`).length

/** Waits until a process has released its handles, and describes its resources. */
async function settled(name: string, part: Part, before: number): Promise<string> {
  const { pid } = part.process()
  const handles = await eventually(() => {
    const now = handlesOf(part)
    if (now > before + HANDLES_MORE_MAX) throw new Error(`${name} had ${before} handles, and has ${now}`)
    return now
  }, 90_000)
  const [now, peak] = [statusMiB(pid, 'VmRSS'), statusMiB(pid, 'VmHWM')]
  if (peak > MEMORY_MAX_MIB) throw new Error(`${name} has taken ${peak} MiB`)
  return `${name}: ${now} MiB, at most ${peak}; ${handles} handles, ${before} before`
}

/** Reads lists, searches, counts and flows repeatedly; failures while the store or the views are down are counted. */
function readOn({ client }: FullStack): { stop(): Promise<string> } {
  const PATHS = [
    '/api/event-logs?limit=50',
    '/api/application-logs?q=Fault&limit=50',
    '/api/application-logs/histogram?buckets=50',
    '/api/flows?limit=20',
  ]
  const over = new AbortController()
  const counts = { answered: 0, failed: 0 }
  const reading = (async () => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const answer = await client()
        .get(PATHS[turn % PATHS.length] ?? '')
        .catch(() => undefined)
      counts[answer?.success === true ? 'answered' : 'failed'] += 1
      await delay(READ_EVERY_MS, undefined, { signal: over.signal }).catch(() => undefined)
    }
  })()
  return {
    stop: async () => {
      over.abort()
      await reading
      return `reads: ${counts.answered} answered, ${counts.failed} not`
    },
  }
}
