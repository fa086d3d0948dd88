import type { RequestListener } from 'node:http'
import express, { Router } from 'express'
import { createGateway } from '../gateway/gateway.ts'
import { createPublisher, PUBLISHER_DEFAULTS } from '../gateway/publisher/publisher.ts'
import type { BatchingPolicy } from '../gateway/publisher/schedule.ts'
import { createRefusalOutbox } from '../gateway/refusals/outbox.ts'
import { createRefusalRecorder } from '../gateway/refusals/recorder.ts'
import {
  BATCH_ENTRY_SCHEMA,
  BATCH_LOG_ENTRY_SCHEMA,
  EXTERNAL_LOG_SCHEMA,
  LOG_ENTRY_SCHEMA,
} from '../gateway/schemas/requests.ts'
import { topicName } from '../shared/contract/topics.ts'
import { createListener, type Routes } from '../shared/http/listener.ts'
import { createProxies } from '../shared/http/proxies.ts'
import type { LogStoreReader } from '../shared/log-store/log-store.ts'
import type { Registry } from '../shared/registry/registry.ts'
import type { Service } from '../shared/runtime/lifecycle.ts'
import { viewsPart } from '../views/api/openapi.ts'
import { registerViews } from '../views/api/register.ts'
import { createRefusalsFollower } from '../views/refusals/follower.ts'
import { sessionPart } from '../views/session/openapi.ts'
import { registerSession } from '../views/session/register.ts'
import { createTickets, type Tickets } from '../views/session/tickets.ts'
import { registerSite } from '../views/site.ts'
import { teamPart } from '../views/team/openapi.ts'
import { registerTeam } from '../views/team/register.ts'
import { healthRoutes, metricsRoutes, type OperationsDeps } from './http/operations.ts'
import { createHttpServer } from './http/server.ts'
import { registerDocs } from './openapi/docs-page.ts'
import { createOpenApi } from './openapi/openapi.ts'
import { type Role, showsLogs, takesLogs } from './roles.ts'
import type { Foundation } from './server.ts'
import { sessionSecret } from './session-secret.ts'
import { VERSION } from './version.ts'

export interface HttpEdgeDeps extends Foundation, OperationsDeps {
  readonly role: Role
  /** Null where the role has no use for it (roles.ts). */
  readonly store: LogStoreReader | null
  readonly batchingPolicy: BatchingPolicy
}

export interface HttpEdge {
  /** To be started in this order. */
  readonly parts: readonly Service[]
  /** Where the main server listens; valid once the parts have started. */
  url(): string
}

/** Everything that answers HTTP in this process, by its role. */
export function createHttpEdge(deps: HttpEdgeDeps): HttpEdge {
  const { config, role, store } = deps
  const routes = Router()
  const secret = showsLogs(role) ? sessionSecret(config, role, deps.logger) : config.SESSION_SECRET
  const tickets = secret === null ? null : createTickets(secret, deps.clock)
  const gateway = takesLogs(role) ? createGatewayParts(deps, tickets) : { parts: [] }
  const ownUrl = (): string => `${main.url()}${config.BASE_PATH.replace(/\/+$/, '')}`
  const views =
    showsLogs(role) && store !== null && secret !== null && tickets !== null
      ? mountViews(routes, { ...deps, store, secret, tickets, ownUrl })
      : []
  mountDocs(routes, deps)
  routes.use(healthRoutes(deps))
  if (config.METRICS_PORT === null) routes.use(metricsRoutes(deps))
  const main = createHttpServer({
    ...deps,
    name: 'http',
    host: config.HOST,
    port: config.PORT,
    listener: listenerOf(routes, config.BASE_PATH, deps, gateway.routes),
  })
  // Tails end before the server waits for its requests to end, so they come after it.
  return { parts: [...gateway.parts, ...metricsServer(deps), main, ...views], url: () => main.url() }
}

interface GatewayParts {
  readonly parts: readonly Service[]
  readonly routes?: Routes
}

function createGatewayParts(deps: HttpEdgeDeps, tickets: Tickets | null): GatewayParts {
  const { config, registry: follower } = deps
  const registry = tickets === null ? follower.registry : withTickets(follower.registry, tickets)
  const publisher = createPublisher({
    ...deps,
    options: {
      ...PUBLISHER_DEFAULTS,
      ...deps.batchingPolicy,
      topics: [topicName(config.TOPIC_PREFIX, 'event-logs'), topicName(config.TOPIC_PREFIX, 'application-logs')],
      bufferBytesMax: config.PUBLISH_BUFFER_BYTES,
      sendTimeoutMs: config.REQUEST_DEADLINE_MS,
    },
  })
  const outbox = createRefusalOutbox({ ...deps, topic: topicName(config.TOPIC_PREFIX, 'refusals') })
  const notes = createRefusalRecorder({ ...deps, registry, outbox })
  const routes = createGateway({ ...deps, registry, registryReady: follower.ready, publisher, notes })
  return { parts: [publisher, outbox], routes }
}

/** A registry whose Teams are also opened by what the page's server was given for them. */
const withTickets = (registry: Registry, tickets: Tickets): Registry => ({
  ...registry,
  keyOpens: (team, key) => registry.keyOpens(team, key) || tickets.opens(team, key),
})

interface ViewsMount extends HttpEdgeDeps {
  readonly store: LogStoreReader
  /** Signs the sessions of the page. */
  readonly secret: string
  readonly tickets: Tickets
  /** The address of this process. */
  readonly ownUrl: () => string
}

function mountViews(routes: Router, deps: ViewsMount): readonly Service[] {
  const { config, secret, tickets } = deps
  const basePath = config.BASE_PATH
  const here = takesLogs(deps.role)
  const refusals = createRefusalsFollower({ ...deps, topic: topicName(config.TOPIC_PREFIX, 'refusals') })
  const proxies = createProxies(config.TRUSTED_PROXIES)
  const common = { ...deps, registry: deps.registry.registry, registryReady: deps.registry.ready, proxies }
  const sessions = registerSession(routes, { ...common, basePath, secret })
  const views = registerViews(routes, { ...common, refusals, teamOfSession: sessions.teamOf })
  registerTeam(routes, {
    ...common,
    teamOfSession: sessions.teamOf,
    registryTopic: topicName(config.TOPIC_PREFIX, 'registry'),
    gate: views.gate,
    deadlineMs: config.READ_DEADLINE_MS,
    gateway: { url: config.GATEWAY_URL, here },
    // Where this process takes logs itself, the address that clients use may not be one that it can reach.
    access: { url: here ? deps.ownUrl : () => config.GATEWAY_INTERNAL_URL ?? config.GATEWAY_URL, tickets },
  })
  registerSite(routes, { basePath, gateway: config.GATEWAY_URL ?? (here ? 'here' : 'unknown') })
  return [refusals, { name: 'live tails', start: async () => {}, stop: async () => views.closeStreams() }]
}

function mountDocs(routes: Router, { config, role }: HttpEdgeDeps): void {
  const ingestion = {
    externalLog: EXTERNAL_LOG_SCHEMA,
    logEntry: LOG_ENTRY_SCHEMA,
    batchEntry: BATCH_ENTRY_SCHEMA,
    batch: BATCH_LOG_ENTRY_SCHEMA,
  }
  const document = createOpenApi({
    version: VERSION,
    basePath: config.BASE_PATH,
    ingestion,
    batchEntriesMax: config.MAX_BATCH_ENTRIES,
    parts: [viewsPart, teamPart, sessionPart],
  })
  registerDocs(routes, document)
  if (showsLogs(role)) return
  routes.get(
    '/',
    (_request, response) =>
      void response.writeHead(302, { location: `${config.BASE_PATH.replace(/\/$/, '')}/docs/` }).end(),
  )
}

function metricsServer(deps: HttpEdgeDeps): readonly Service[] {
  const { METRICS_PORT: port, HOST: host } = deps.config
  if (port === null) return []
  const routes = Router().use(healthRoutes(deps)).use(metricsRoutes(deps))
  return [createHttpServer({ ...deps, name: 'metrics', host, port, listener: listenerOf(routes, '/', deps) })]
}

/** Answers by these routes, `first` by those that stand before them. */
function listenerOf(routes: Router, basePath: string, { logger }: HttpEdgeDeps, first?: Routes): RequestListener {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.use(basePath, routes)
  return createListener(app, logger, first)
}
