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

/** The services that every role works with; they run before the roles are made. */
export interface CoreServices {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly tracer?: Tracer | null
  readonly journal: Journal
  readonly registry: Registry
  /** Whether the registry is folded up to its end; until then nobody can be told that something is not there. */
  readonly registryReady: () => boolean
}

/** A part of the process whose health may have to be asked of another thread or of a server. */
export interface HealthCheck {
  readonly name: string
  health(): Promise<Health | readonly Health[]>
}

/** One role of a process, as the composition root runs it. */
export interface RoleParts {
  /** Run before the first request and until the last answer; started in this order. */
  readonly services: readonly Service[]
  /** Routes that requests are matched with before they reach the router. */
  readonly endpoints?: Routes
  readonly router?: Router
  /** Methods of gRPC, served where OTLP_GRPC_PORT is set. */
  readonly methods?: Methods
  /** Answers without an end, which have to stop before the server waits for its requests to end. */
  readonly streams?: readonly Service[]
  readonly health?: readonly HealthCheck[]
}
