import type { Config } from '../../shared/runtime/config.ts'

/** The work of a process: everything, or one stage on the way of an entry. */
export const ROLES = ['all', 'gateway', 'consumers', 'views', 'watches'] as const

export type Role = (typeof ROLES)[number]

export const takesLogs = (role: Role): boolean => role === 'all' || role === 'gateway'
export const indexesLogs = (role: Role): boolean => role === 'all' || role === 'consumers'
export const showsLogs = (role: Role): boolean => role === 'all' || role === 'views'
export const evaluatesWatches = (role: Role): boolean => role === 'all' || role === 'watches'
/** Whether the role needs the log store. */
export const usesStore = (role: Role): boolean => role !== 'gateway'

export const usesKafka = (config: Config): boolean => config.KAFKA_BROKERS.length > 0

const usesElasticsearch = (config: Config): boolean => config.ELASTICSEARCH_URL !== null

/** Whether this process keeps any data in files under DATA_DIR. */
export const usesFiles = (config: Config, role: Role): boolean =>
  !usesKafka(config) || (usesStore(role) && !usesElasticsearch(config))

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
