import { topicName } from '../shared/contract/topics.ts'
import type { Journal } from '../shared/journal/journal.ts'
import type { LogStore } from '../shared/log-store/log-store.ts'
import { createRegistryFollower, type RegistryFollower } from '../shared/registry/follower.ts'
import { type Clock, systemClock } from '../shared/runtime/clock.ts'
import type { Config } from '../shared/runtime/config.ts'
import { type Service, stopAll } from '../shared/runtime/lifecycle.ts'
import type { Logger } from '../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../shared/runtime/metrics.ts'
import { type BackendDeps, checkRole, usesFiles } from './backends.ts'
import { banner } from './banner.ts'
import { createConsumersInThread } from './consumers-in-thread.ts'
import { lockDataDir } from './data-dir-lock.ts'
import { createEventLoopDelay } from './event-loop-delay.ts'
import { setUpRegistry } from './first-start.ts'
import { createHttpEdge } from './http-edge.ts'
import { openJournal } from './journals.ts'
import { openLogStore } from './log-stores.ts'
import { createReadiness, type Part } from './readiness.ts'
import { indexesLogs, type Role, takesLogs, usesStore } from './roles.ts'

export interface ServerOptions {
  readonly role: Role
  readonly config: Config
  readonly logger: Logger
  readonly print: (text: string) => void
}

export interface Server {
  readonly url: string
  /** Rejects when a view halts. */
  readonly halted: Promise<void>
  /** Stops taking, answers what was taken, flushes and lets go of everything by the deadline (milliseconds since 1970). */
  stop(deadline: number): Promise<void>
}

/** What is made before the roles, for all of them. */
export interface Foundation {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly journal: Journal
  readonly registry: RegistryFollower
}

/**
 * Starts a server from the store upwards, so that no part receives work before the part it hands it to. Rejects, having stopped what
 * was started, where a part cannot start.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const running: Service[] = []
  const run = async <Part extends Service>(part: Part): Promise<Part> => {
    running.push(part)
    await part.start()
    return part
  }
  let stopping: Promise<void> | undefined
  const stop = (deadline: number): Promise<void> => {
    stopping ??= stopAll(running, deadline)
    return stopping
  }
  try {
    return { ...(await startParts(options, run, () => stopping !== undefined)), stop }
  } catch (error) {
    await stop(systemClock.now() + options.config.DRAIN_TIMEOUT_MS).catch((err) =>
      options.logger.warn({ err }, 'a part did not stop'),
    )
    throw error
  }
}

type Run = <Part extends Service>(part: Part) => Promise<Part>

async function startParts({ role, config, logger, print }: ServerOptions, run: Run, draining: () => boolean) {
  checkRole(role, config)
  const metrics = createMetrics({ processMetrics: true })
  const deps = { config, clock: systemClock, logger, metrics }
  if (usesFiles(config, role)) await run(closing('data folder', lockDataDir(config.DATA_DIR)))
  const { journal, batchingPolicy, ...topics } = await openJournal(deps, 'own')
  await run(closing('journal', () => journal.close()))
  if (config.AUTO_CREATE) for (const line of await topics.applyTopics()) logger.debug({ line }, 'topic')
  if (takesLogs(role) && config.UNSAFE_TOPICS === 'refuse') await topics.checkTopics()
  const newKey = await setUpRegistry({ ...deps, role, journal, topic: registryTopic(config) })
  const registry = await run(createRegistryFollower({ ...deps, journal, topic: registryTopic(config) }))
  const store = usesStore(role) ? await openStore(deps, run) : null
  const consumers = indexesLogs(role) ? await run(createConsumersInThread(config)) : null
  const eventLoopDelay = await run(createEventLoopDelay(metrics))
  const foundation: Foundation = { ...deps, journal, registry }
  const parts: readonly (Part | null)[] = [
    { name: 'registry', health: async () => registry.health() },
    { name: 'journal', health: () => journal.health() },
    store && { name: 'log-store', health: () => store.health() },
    consumers,
  ]
  const edge = createHttpEdge({
    ...foundation,
    role,
    store,
    batchingPolicy,
    moreMetrics: async () => (await consumers?.metrics()) ?? [],
    health: createReadiness(parts.filter((part) => part !== null)),
    eventLoopDelay,
    draining,
  })
  for (const part of edge.parts) await run(part)
  print(banner({ role, url: edge.url() + config.BASE_PATH.replace(/\/+$/, ''), registry: registry.registry, newKey }))
  return { url: edge.url(), halted: consumers?.done ?? new Promise<void>(() => {}) }
}

const registryTopic = (config: Config): string => topicName(config.TOPIC_PREFIX, 'registry')

async function openStore(deps: BackendDeps, run: Run): Promise<LogStore> {
  const { store, applyIndices } = await openLogStore(deps, 'own')
  await run(closing('log store', () => store.close()))
  if (deps.config.AUTO_CREATE) await applyIndices()
  return store
}

/** Something already open that only has to be closed in its turn. */
const closing = (name: string, close: () => void | Promise<void>): Service => ({
  name,
  start: async () => {},
  stop: async () => close(),
})
