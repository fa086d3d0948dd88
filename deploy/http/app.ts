import type { RequestListener } from 'node:http'
import express, { Router } from 'express'
import { below } from '../../shared/http/base-path.ts'
import { createListener, type Routes } from '../../shared/http/listener.ts'
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
  mountDocs(router, deps)
  const endpoints = roles.map((role) => role.endpoints).find((routes) => routes !== undefined)
  const listener = listenerOf(router, config.BASE_PATH, deps, endpoints)
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

/** A server for health and metrics alone. */
export function createOperationsServer(
  deps: OperationsDeps & { readonly config: Config },
  port: number,
): ListeningServer {
  const { logger, metrics } = deps
  const listener = listenerOf(Router().use(healthRoutes(deps)).use(metricsRoutes(deps)), '/', { logger, metrics })
  return createHttpServer({ ...deps, name: 'metrics', host: deps.config.HOST, port, setting: 'METRICS_PORT', listener })
}

const onPort = <Server>(port: number | null, create: (port: number) => Server): Server | undefined =>
  port === null ? undefined : create(port)

function mountDocs(router: Router, { config, version, hasPage }: HttpServersDeps): void {
  const document = createOpenApi({
    version,
    basePath: config.BASE_PATH,
    batchEntriesMax: config.MAX_BATCH_ENTRIES,
  })
  registerDocs(router, document)
  if (hasPage) return
  const location = below(config.BASE_PATH, '/docs/')
  router.get('/', (_request, response) => void response.writeHead(302, { location }).end())
}

/** Answers by `endpoints` first, then by the routes. */
function listenerOf(
  router: Router,
  basePath: string,
  { logger, metrics, tracer }: Pick<HttpServersDeps, 'logger' | 'metrics' | 'tracer'>,
  endpoints?: Routes,
): RequestListener {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.use(basePath, router)
  return timed(createListener(app, logger, endpoints), metrics, tracer)
}
