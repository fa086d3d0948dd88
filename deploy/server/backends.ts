import type { BaseServices } from '../../shared/role.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { type Role, usesStore } from './roles.ts'
import type { RunningTracer } from './tracer.ts'

/** The thread of an adapter that works synchronously: one of its own, or the one that opens it. */
export type Where = 'own' | 'same'

export const usesKafka = (config: Config): boolean => config.KAFKA_BROKERS.length > 0

const usesElasticsearch = (config: Config): boolean => config.ELASTICSEARCH_URL !== null

/** Whether this process keeps any data in files under DATA_DIR. */
export const usesFiles = (config: Config, role: Role): boolean =>
  !usesKafka(config) || (usesStore(role) && !usesElasticsearch(config))

/** The configured tracer, or null. OpenTelemetry is loaded only if there is one. */
export async function openTracer({ config, ...deps }: BaseServices): Promise<RunningTracer | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === null || Number(config.OTEL_TRACES_SAMPLER_ARG) === 0) return null
  const { createTracer } = await import('./tracer.ts')
  const messagingSystem = usesKafka(config) ? 'kafka' : 'sqlite'
  return createTracer({ ...deps, config: { ...config, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, messagingSystem })
}

/** The role cannot run with these backends. */
class RoleError extends Error {
  override readonly name = 'RoleError'
}

/** Throws a `RoleError` if a role that runs by itself would have its data in files that no other process can share. */
export function checkRole(role: Role, config: Config): void {
  if (role === 'all') return
  const missing = [
    usesKafka(config) ? [] : ['KAFKA_BROKERS'],
    role === 'gateway' || usesElasticsearch(config) ? [] : ['ELASTICSEARCH_URL'],
  ].flat()
  if (missing.length === 0) return
  throw new RoleError(
    `--role ${role} shares its data with other processes: set ${missing.join(' and ')}, or run all roles in one process`,
  )
}
