import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Consumer, createConsumer, endOfAll } from '../../consumers/consumer.ts'
import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import { createGateway } from '../../gateway/gateway.ts'
import { PUBLISHER_DEFAULTS } from '../../gateway/publisher/publisher.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import { StoreHaltError } from '../../shared/log-store/log-store.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { loadConfig } from '../../shared/runtime/config.ts'
import { startAll, stopAll } from '../../shared/runtime/lifecycle.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import type { MemoryStoreWriter } from '../support/consumers-store.ts'
import { createGatewayRegistry, PROJECT } from '../support/gateway.ts'
import type { MemoryJournal } from '../support/memory-journal.ts'
import { createSimulatedJournal } from './journal.ts'
import { CallError, FAULTY_MS, type Network, never, type Process, wait } from './network.ts'
import { createSimulatedStore } from './store.ts'
import type { World } from './world.ts'

/** The environment of the processes: the servers and the network. */
export interface Site {
  readonly world: World
  readonly network: Network
  readonly journal: MemoryJournal
  readonly store: MemoryStoreWriter
  /** More consecutive dead letters count as a flood. */
  readonly deadLetterRunMax: number
  readonly onCommitted: (group: string, topic: string, partition: number, position: number) => void
}

export interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A gateway, served by whichever process is currently running. */
export interface Gateway {
  /** The status and body of the answer; `unreachable` if the request was certainly not received, `cut` if that is unknown. */
  exchange(request: Request): Promise<Answer | 'unreachable' | 'cut'>
}

export interface Answer {
  readonly status: number
  readonly body: string
}

/** Another Project of the same Team. */
export const OTHER_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3309'
export const PREFIX = 'sluice'
const config = loadConfig({ REQUEST_DEADLINE_MS: '2000' })
/** How long after its deadline a request may be answered: timers are late, and an answer takes several turns. */
const LATE_MS = 100
/** The range of grace periods for stopping a process, in milliseconds. */
const STOP_MS = [100, 4_000] as const
/** After one request in this many, the gateway is stopped within this many milliseconds. */
const STOP_IN = 15
const STOP_SOON_MS = 500

// Both only record, so that all processes of all schedules can share them.
const metrics = createMetrics()
const logger = createLogger('silent', 'simulation')
const known = createGatewayRegistry()
const registry: Registry = {
  ...known,
  project: (id) => known.project(id === OTHER_PROJECT ? PROJECT : id) && { id, team: 'payments', name: 'A Project' },
}

/** Runs processes one after the other, each until it ends. */
export function supervise(
  { network }: Pick<Site, 'network'>,
  name: string,
  live: (process: Process) => Promise<void>,
): void {
  const runAll = async (): Promise<never> => {
    for (let life = 1; ; life += 1) {
      const process = network.createProcess(`${name}.${life}`)
      await Promise.race([live(process), process.died])
      process.kill()
      await wait(network.random.between(100, 3_000))
    }
  }
  void runAll()
}

/** Resolves when an operator stops the process gracefully; before that, may kill it or expel it from its group. */
export async function order(
  { network, world }: Pick<Site, 'network' | 'world'>,
  process: Process,
  expel?: () => void,
): Promise<void> {
  const { random } = network
  const actions = ['kill', 'stop', ...(expel === undefined ? [] : (['expel', 'expel'] as const))] as const
  for (;;) {
    await wait(random.between(500, random.pick([3_000, FAULTY_MS])))
    if (network.isHealed || !process.isAlive) return never()
    const action = random.pick(actions)
    world.note(`${process.name}: ${action}`)
    if (action === 'stop') return undefined
    if (action === 'kill') process.kill()
    else expel?.()
  }
}

export function runGateway(site: Site, name: string): Gateway {
  const { world, network } = site
  let open: { readonly process: Process; readonly handle: (request: Request) => Promise<Answer> } | undefined

  async function live(process: Process): Promise<void> {
    const journal = createSimulatedJournal({ network, process, journal: site.journal.anotherClient() })
    const parts = createGateway({
      config,
      journal,
      clock: systemClock,
      logger,
      metrics,
      registry,
      registryReady: () => true,
      batchingPolicy: network.random.pick([PUBLISHER_DEFAULTS, { eagerSends: 1, regatherMs: 2 }]),
    })
    try {
      await startAll(parts.services)
    } catch (error) {
      if (!(error instanceof CallError)) world.find(`${process.name} did not start: ${error}`)
      return
    }
    world.note(`${process.name} is up`)
    const unanswered = new Set<Promise<Answer>>()
    const ordered = Promise.withResolvers<void>()
    open = {
      process,
      handle: (request) => {
        // Most randomly timed stops happen while there is nothing to do.
        if (network.fails(STOP_IN)) void wait(network.random.int(STOP_SOON_MS)).then(ordered.resolve)
        const answer = answerOf(parts.endpoints, request)
        unanswered.add(answer)
        void answer.then(() => unanswered.delete(answer))
        return answer
      },
    }
    await Promise.race([order(site, process), ordered.promise])
    // Its successor may be up by now.
    if (!process.isAlive) return
    world.note(`${process.name} stops`)
    open = undefined
    await stopAll(parts.services, systemClock.now() + network.random.between(...STOP_MS))
    await wait(1)
    if (unanswered.size > 0) world.find(`${process.name} stopped without an answer to ${unanswered.size} requests`)
  }

  supervise(site, name, live)

  return {
    exchange: async (request) => {
      await network.travel()
      const taken = open
      if (taken === undefined || !taken.process.isAlive) return 'unreachable'
      const { process, handle } = taken
      let isAnswered = false
      const answered = handle(request).then((answer) => {
        isAnswered = true
        return process.isAlive ? answer : never()
      })
      const died = process.died.then(() => 'cut' as const)
      void wait(config.REQUEST_DEADLINE_MS + LATE_MS).then(() => {
        if (process.isAlive && !isAnswered) world.find(`${process.name} did not answer in time`)
      })
      const impatient = wait(network.random.between(50, 2 * config.REQUEST_DEADLINE_MS)).then(() => 'cut' as const)
      const answer = await Promise.race([answered, died, network.isHealed ? never() : impatient])
      await network.travel()
      return network.fails(20) ? 'cut' : answer
    },
  }
}

/** Calls an endpoint without a connection. */
function answerOf(
  endpoints: ReturnType<typeof createGateway>['endpoints'],
  { path, headers, body }: Request,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const bytes = Buffer.from(body)
  const request = Object.assign(new EventEmitter(), {
    method: 'POST',
    url: path,
    headers: { ...headers, 'content-length': String(bytes.length) },
    destroy: () => undefined,
  })
  let status = 0
  const response = {
    setHeader: () => undefined,
    writeHead: (given: number) => {
      status = given
    },
    end: (given: string | Uint8Array) => resolve({ status, body: String(given) }),
  }
  const handle = endpoints?.(path)
  if (handle === undefined) throw new Error(`there is no endpoint at ${path}`)
  void handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  setImmediate(() => {
    request.emit('data', bytes)
    request.emit('end')
  })
  return promise
}

/** A process with a consumer per projection. An operator restarts it when one of them has halted. */
export function runConsumers(site: Site, name: string): void {
  const { world, network, deadLetterRunMax } = site
  const { random } = network

  async function live(process: Process): Promise<void> {
    const client = site.journal.anotherClient()
    const journal = createSimulatedJournal({ network, process, journal: client, onCommitted: site.onCommitted })
    const store = createSimulatedStore(network, process, site.store)
    const options = {
      lagIntervalMs: 15_000,
      batchRecordsMax: random.between(1, 8),
      gatherMs: random.pick([0, 1_000]),
      writeDocumentsMax: random.between(1, 6),
      deadLetterRunMax,
    }
    const consumers = PROJECTION_NAMES.map((projection) =>
      createConsumer({ projection, topicPrefix: PREFIX, journal, store, clock: systemClock, logger, metrics, options }),
    )
    for (const consumer of consumers) void judgeHalt(process, consumer)
    const allHalted = endOfAll(consumers).catch(() => undefined)
    const started = await startAll(consumers).catch(() => 'failed')
    if (started === 'failed') return
    world.note(`${process.name} is up`)
    const looked = async (): Promise<void> => {
      await Promise.race(consumers.map(({ done }) => done.catch(() => undefined)))
      await wait(random.between(100, 5_000))
    }
    await Promise.race([order(site, process, journal.expel), looked(), allHalted])
    await stopAll(consumers, systemClock.now() + network.random.between(...STOP_MS))
  }

  /** Checks that a consumer halts only for errors that it cannot handle. */
  async function judgeHalt(process: Process, consumer: Consumer): Promise<void> {
    try {
      await consumer.done
    } catch (error) {
      if (!process.isAlive) return
      world.note(`${process.name}: the ${consumer.name} halted: ${error}`)
      if (consumer.health().ready) world.find(`the ${consumer.name} halted and says that it is ready`)
      const isMeant = error instanceof StoreHaltError || error instanceof CallError
      if (!isMeant) world.find(`the ${consumer.name} of ${process.name} halted: ${error}`)
    }
  }

  supervise(site, name, live)
}

/** A journal client in a process of its own, such as an operator's command. */
export function openJournal({ network, journal }: Site, process: Process): Journal {
  return createSimulatedJournal({ network, process, journal: journal.anotherClient() })
}
