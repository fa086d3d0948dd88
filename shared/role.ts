import type { Router } from 'express'
import type { Methods } from './grpc/call.ts'
import type { Routes } from './http/listener.ts'
import type { Journal } from './journal/journal.ts'
import type { Registry } from './registry/registry.ts'
import type { Clock } from './runtime/clock.ts'
import type { Config } from './runtime/config.ts'
import type { Health, Service } from './runtime/lifecycle.ts'
import type { Logger } from './runtime/logger.ts'
import type { Metrics } from './runtime/metrics.ts'
import type { Tracer } from './runtime/tracing.ts'

/** The services that every thread uses; they run before the journal and the log store are opened. */
export interface BaseServices {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly tracer?: Tracer | null
}

/** The services that every role uses; they run before the roles are created. */
export interface CoreServices extends BaseServices {
  readonly journal: Journal
  readonly registry: Registry
  /** Whether the registry has been read to its end; before that, nothing can be refused as unknown. */
  readonly registryReady: () => boolean
}

/** A part of the process whose health may have to be requested from another thread or from a server. */
export interface HealthCheck {
  readonly name: string
  health(): Promise<Health | readonly Health[]>
}

/** One role of a process, as the composition root runs it. */
export interface RoleParts {
  /** Running from before the first request until after the last answer; started in this order. */
  readonly services: readonly Service[]
  /** Routes that are matched before the router. */
  readonly endpoints?: Routes
  readonly router?: Router
  /** gRPC methods, served if OTLP_GRPC_PORT is set. */
  readonly methods?: Methods
  /** Endless answers, which have to stop before the server waits for its requests to end. */
  readonly streams?: readonly Service[]
  readonly health?: readonly HealthCheck[]
}
