import { createGateway } from '../../gateway/gateway.ts'
import type { BatchingPolicy } from '../../gateway/publisher/schedule.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { below } from '../../shared/http/base-path.ts'
import { type Audit, createAudit } from '../../shared/journal/audit.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import type { LogStore } from '../../shared/log-store/log-store.ts'
import { createRegistryFollower, type RegistryFollower } from '../../shared/registry/follower.ts'
import type { BaseServices, CoreServices, HealthCheck, RoleParts } from '../../shared/role.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { type Config, programName } from '../../shared/runtime/config.ts'
import { type Service, stopAll, stoppedTogether } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import { openedByTickets } from '../../views/session/tickets.ts'
import { createViews } from '../../views/views.ts'
import { createWatches } from '../../views/watches/watches.ts'
import { createHttpServers } from '../http/app.ts'
import { createEventLoopDelay } from '../http/event-loop-delay.ts'
import { tryListening } from '../http/listening.ts'
import { createReadiness } from '../http/operations.ts'
import { openJournal, openLogStore, openTracer } from './backends.ts'
import { banner } from './banner.ts'
import { createCertificateReport } from './certificates.ts'
import { createConsumersInThread, type RunningConsumers } from './consumers-in-thread.ts'
import { lockDataDir } from './data-dir-lock.ts'
import { setUpRegistry } from './first-start.ts'
import {
  checkRole,
  evaluatesWatches,
  indexesLogs,
  type Role,
  showsLogs,
  takesLogs,
  usesFiles,
  usesStore,
} from './roles.ts'
import { sessionSecrets } from './session-secret.ts'
import { exitAtOnce, onSignals } from './signals.ts'
import { VERSION } from './version.ts'

interface ServerOptions {
  readonly role: Role
  readonly config: Config
  readonly logger: Logger
  readonly print: (text: string) => void
}

/**
 * Runs a server until SIGTERM, SIGINT or SIGHUP (the second exits at once), until all its projections halt, or until its journal is lost.
 * Exit code: 0 drained, 1 failed.
 */
export async function serve(options: ServerOptions): Promise<number> {
  const { config, logger } = options
  const server = await startServer(options)
  const signal = Promise.withResolvers<'signal'>()
  onSignals(() => signal.resolve('signal'))
  const lost = server.journalLost.catch((err: unknown): 'failed' => {
    logger.fatal({ err }, 'the journal has failed, and needs a restart of this process')
    return 'failed'
  })
  const reason = await Promise.race([signal.promise, haltOf(server, options), lost])
  onSignals(exitAtOnce)
  logger.info({ reason }, 'the server is stopping')
  try {
    await server.stop(systemClock.now() + config.DRAIN_TIMEOUT_MS)
  } catch (err) {
    logger.error({ err }, 'the server did not stop cleanly')
    return 1
  }
  return reason === 'signal' ? 0 : 1
}

/**
 * Resolves when halted projections have to end the process. A process that also takes logs stays up: the entries it accepts are durable and
 * become visible once the cause is fixed; readiness, a metric and the log show the halt.
 */
async function haltOf({ halted }: Server, { role, logger }: ServerOptions): Promise<'halted'> {
  try {
    await halted
  } catch (err) {
    logger.fatal({ err }, 'every view of this process has halted and needs an operator')
    if (role === 'consumers') return 'halted'
  }
  return new Promise(() => {})
}

interface Server {
  /** Rejects when all projections have halted. */
  readonly halted: Promise<void>
  /** Rejects when the journal can no longer be used. */
  readonly journalLost: Promise<never>
  /** Stops taking requests, answers those taken, flushes and releases everything by the deadline (milliseconds since 1970). */
  stop(deadline: number): Promise<void>
}

/**
 * Starts a server from the store upwards, so that no part receives work before the part it passes work to. If a part cannot start, stops
 * those already started and rejects.
 */
async function startServer(options: ServerOptions): Promise<Server> {
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

/** The composition root: the services that every role works with, the parts of the role, and HTTP in front of them. */
async function startParts(options: ServerOptions, run: Run, draining: () => boolean) {
  const { role, config, print } = options
  const started = await startCore(options, run)
  const { core, newKey } = started
  const consumers = indexesLogs(role) ? createConsumersInThread(config, options.logger) : null
  const url = (): string => http.main.url() + below(config.BASE_PATH)
  const roles = createRoles(options, started, consumers, url)
  const http = createHttpServers({
    ...core,
    roles,
    version: VERSION,
    hasPage: showsLogs(role),
    moreMetrics: async () => (await consumers?.metrics()) ?? [],
    health: createReadiness([...started.health, ...roles.flatMap((parts) => parts.health ?? [])]),
    draining,
  })
  const inOrder = [
    ...roles.flatMap((parts) => parts.services),
    createEventLoopDelay(core.metrics),
    ...(http.metrics === undefined ? [] : [http.metrics]),
    // Started last of the services that serve requests, as its readiness says that all parts are up.
    stoppedTogether('servers', [...(http.grpc === undefined ? [] : [http.grpc]), http.main]),
    ...roles.flatMap(({ streams = [] }) => streams),
  ]
  for (const service of inOrder) await run(service)
  const metricsUrl = `${http.metrics?.url() ?? url()}/metrics`
  const { registry } = core
  const grpcUrl = http.grpc?.url()
  print(banner({ role, url: url(), metricsUrl, grpcUrl, registry, newKey, program: programName() }))
  return { halted: consumers?.done ?? new Promise<void>(() => {}), journalLost: started.journalLost }
}

/** The services that every role works with, and those that only some take. */
interface Started {
  readonly core: CoreServices
  readonly journalLost: Promise<never>
  readonly batchingPolicy: BatchingPolicy
  readonly audit: Audit
  readonly knownRegistry: RegistryFollower['known']
  /** Null if the role needs none. */
  readonly store: LogStore | null
  readonly health: readonly HealthCheck[]
  /** The key made at the first start; null at later ones. */
  readonly newKey: string | null
}

/** Starts metrics and traces, the journal, the audit, the registry, and the log store. */
async function startCore({ role, config, logger, print }: ServerOptions, run: Run): Promise<Started> {
  checkRole(role, config)
  const metrics = createMetrics({ processMetrics: true })
  metrics.gauge('sluice_build_info').set({ version: VERSION, role }, 1)
  await run(createCertificateReport(config, metrics))
  const tracer = await openTracer({ config, clock: systemClock, logger, metrics })
  if (tracer !== null) await run(closing('tracer', tracer.stop))
  const deps = { config, clock: systemClock, logger, metrics, tracer }
  if (usesFiles(config, role)) await run(closing('data folder', lockDataDir(config.DATA_DIR)))
  // Before a Team is made: its key and the first commands are shown once, and a taken port is what a first start is most likely to meet.
  if (role === 'all') await tryListening({ host: config.HOST, port: config.PORT, setting: 'PORT' })
  // Opened before a broker is asked: a setting that is wrong is told at once.
  const opened = usesStore(role) ? await openLogStore(deps, 'own') : null
  const store = opened?.store ?? null
  if (store !== null) await run(closing('log store', () => store.close()))
  const { journal, lost: journalLost, batchingPolicy, ...topics } = await openJournal(deps, 'own')
  await run(closing('journal', () => journal.close()))
  if (config.AUTO_CREATE) for (const line of await topics.applyTopics()) logger.debug({ line }, 'topic')
  if (takesLogs(role) && config.UNSAFE_TOPICS === 'refuse') await topics.checkTopics()
  const audit = createServerAudit(deps, journal)
  const topic = topicName(config.TOPIC_PREFIX, 'registry')
  const newKey = await setUpRegistry({ ...deps, role, journal, topic, audit })
  // Printed before anything else can fail: only its hash is kept, and the next start makes no other Team.
  if (newKey !== null) print(`\nA Team was made for you. Its key, shown this once: ${newKey}`)
  const follower = await run(createRegistryFollower({ ...deps, journal, topic }))
  if (config.AUTO_CREATE) await opened?.prepareIndices()
  const core = { ...deps, journal, registry: follower.registry, registryReady: follower.ready }
  const health = [
    { name: 'registry', health: async () => follower.health() },
    { name: 'journal', health: () => journal.health() },
    ...(store === null ? [] : [{ name: 'log-store', health: () => store.health() }]),
  ]
  return { core, journalLost, batchingPolicy, audit, knownRegistry: follower.known, store, health, newKey }
}

/** The parts that the role runs (roles.ts), in the order of their start; `url` is valid once HTTP listens. */
function createRoles(
  { role, config, logger }: ServerOptions,
  { core, batchingPolicy, audit, knownRegistry, store }: Started,
  consumers: RunningConsumers | null,
  url: () => string,
): readonly RoleParts[] {
  const secrets = sessionSecrets(config, role, logger)
  const roles: RoleParts[] = []
  if (consumers !== null) {
    const storeWrites: HealthCheck = { name: 'log-store writes', health: () => consumers.storeHealth() }
    roles.push({ services: [consumers], health: [consumers, storeWrites] })
  }
  if (takesLogs(role)) {
    const registry = secrets === null ? core.registry : openedByTickets(core.registry, secrets, core.clock)
    roles.push(createGateway({ ...core, registry, batchingPolicy }))
  }
  if (store === null || !(showsLogs(role) || evaluatesWatches(role))) return roles
  const watches = createWatches({ ...core, store })
  roles.push(watches.shared)
  if (showsLogs(role) && secrets !== null) {
    const ownGateway = takesLogs(role) ? url : undefined
    roles.push(createViews({ ...core, audit, knownRegistry, store, secrets, watches, ownGateway }))
  }
  if (evaluatesWatches(role)) {
    const { services, health = [] } = watches.evaluation()
    // A process that takes logs is ready without watches.
    roles.push({ services, health: role === 'watches' ? health : [] })
  }
  return roles
}

function createServerAudit({ config, clock, logger, metrics }: BaseServices, journal: Journal): Audit {
  const failures = metrics.counter('sluice_audit_failures_total', { record: ['change', 'outcome'] })
  const topic = topicName(config.TOPIC_PREFIX, 'audit')
  return createAudit({
    journal,
    topic,
    clock,
    onFailure: (err, record) => {
      failures.inc({ record })
      const text = record === 'change' ? 'a change was refused' : 'the outcome of a change is not told'
      logger.error({ err, topic }, `${text}: its audit record was not confirmed`)
    },
  })
}

/** A resource that is already open, as a service that closes it in its turn. */
const closing = (name: string, close: (deadline: number) => void | Promise<void>): Service => ({
  name,
  start: async () => {},
  stop: async (deadline) => close(deadline),
})
