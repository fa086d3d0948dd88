import type { RequestListener } from 'node:http'
import express, { Router } from 'express'
import { below } from '../../shared/http/base-path.ts'
import { createListener, type Routes, type Unknown } from '../../shared/http/listener.ts'
import { timed } from '../../shared/http/request-times.ts'
import type { RoleParts } from '../../shared/role.ts'
import type { Config } from '../../shared/runtime/config.ts'
import type { Tracer } from '../../shared/runtime/tracing.ts'
import { registerDocs } from '../openapi/docs-page.ts'
import { createOpenApi } from '../openapi/openapi.ts'
import { withinFileLimit } from './connection-limits.ts'
import { createGrpcServer } from './grpc-server.ts'
import type { ListeningServer } from './listening.ts'
import { healthRoutes, metricsRoutes, type OperationsDeps } from './operations.ts'
import { createHttpServer } from './server.ts'
import { refuseUnknownPaths } from './unknown-path.ts'

interface HttpServersDeps extends OperationsDeps {
  readonly config: Config
  readonly roles: readonly RoleParts[]
  /** The version of the program. */
  readonly version: string
  /** Whether one of the roles serves the page at `/`. */
  readonly hasPage: boolean
  readonly tracer?: Tracer | null
}

interface HttpServers {
  readonly main: ListeningServer
  /** For metrics and health alone, if METRICS_PORT is set. */
  readonly metrics: ListeningServer | undefined
  /** For OTLP over gRPC, if OTLP_GRPC_PORT is set and the process takes logs. */
  readonly grpc: ListeningServer | undefined
}

/** The HTTP servers of the process: the routes of its roles, the documentation of the API, health and metrics. */
export function createHttpServers(given: HttpServersDeps): HttpServers {
  const deps = { ...given, config: withinFileLimit(given.config, given.logger) }
  const { config, roles } = deps
  const { HOST: host, METRICS_PORT: metricsPort, OTLP_GRPC_PORT: grpcPort } = config
  const router = Router()
  for (const role of roles) if (role.router !== undefined) router.use(role.router)
  router.use(healthRoutes(deps))
  if (metricsPort === null) router.use(metricsRoutes(deps))
  const paths = mountDocs(router, deps).map((path) => below(config.BASE_PATH, path))
  const endpoints = roles.map((role) => role.endpoints).find((routes) => routes !== undefined)
  const list = `${below(config.BASE_PATH, '/docs')} lists all paths.`
  const listener = listenerOf(router, config.BASE_PATH, deps, refuseUnknownPaths(paths, list), endpoints)
  const methods = roles.map((role) => role.methods).find((found) => found !== undefined)
  return {
    main: createHttpServer({ ...deps, name: 'http', host, port: config.PORT, setting: 'PORT', listener }),
    metrics: onPort(metricsPort, (port) => createOperationsServer(deps, port)),
    grpc: onPort(
      grpcPort,
      (port) => methods && createGrpcServer({ ...deps, host, port, setting: 'OTLP_GRPC_PORT', methods }),
    ),
  }
}

const OPERATIONS = ['/health/live', '/health/ready', '/metrics']
const OPERATIONS_ONLY = `this port has ${OPERATIONS.join(', ')} alone, and a server has the others on its PORT.`

/** A server for health and metrics alone. */
export function createOperationsServer(
  deps: OperationsDeps & { readonly config: Config },
  port: number,
): ListeningServer {
  const { logger, metrics } = deps
  const routes = Router().use(healthRoutes(deps)).use(metricsRoutes(deps))
  const listener = listenerOf(routes, '/', { logger, metrics }, refuseUnknownPaths(OPERATIONS, OPERATIONS_ONLY))
  return createHttpServer({ ...deps, name: 'metrics', host: deps.config.HOST, port, setting: 'METRICS_PORT', listener })
}

const onPort = <Server>(port: number | null, create: (port: number) => Server): Server | undefined =>
  port === null ? undefined : create(port)

/** Returns the documented paths that have no parameters. */
function mountDocs(router: Router, { config, version, hasPage }: HttpServersDeps): readonly string[] {
  const document = createOpenApi({
    version,
    basePath: config.BASE_PATH,
    batchEntriesMax: config.MAX_BATCH_ENTRIES,
  })
  registerDocs(router, document)
  const paths = Object.keys(document.paths).filter((path) => !path.includes('{'))
  if (hasPage) return paths
  const location = below(config.BASE_PATH, '/docs/')
  router.get('/', (_request, response) => void response.writeHead(302, { location }).end())
  return paths
}

/** Answers by `endpoints` first, then by the routes. */
function listenerOf(
  router: Router,
  basePath: string,
  { logger, metrics, tracer }: Pick<HttpServersDeps, 'logger' | 'metrics' | 'tracer'>,
  unknown: Unknown,
  endpoints?: Routes,
): RequestListener {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.use(basePath, router)
  return timed(createListener(app, logger, endpoints, unknown), metrics, tracer)
}
