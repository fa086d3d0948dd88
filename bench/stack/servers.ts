import { createElasticsearchLogStore } from '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics } from '../../shared/runtime/metrics.ts'
import type { Backend } from '../../test/stack/backend.ts'
import { chosenProviders, startFirst } from '../../test/support/backends-host.ts'

/** A Kafka broker or an Elasticsearch node used by the bench. */
export interface Server {
  readonly address: string
  /** CPU seconds used so far; NaN for a server that the bench did not start. */
  cpuSeconds(): Promise<number>
  /** Stops the server if the bench started it. */
  stop(): Promise<void>
}

/** A server started by the bench, which may freeze and stop it. */
export interface OwnServer extends Server {
  pause(): Promise<void>
  resume(): Promise<void>
  kill(): Promise<void>
}

/** Containers, or local Java processes; TEST_BACKENDS selects one kind. */
const providers = () => chosenProviders(process.env['TEST_BACKENDS'])

/** One broker with JVM settings for load. Deleted segments are removed after a second, since the bench fills topic after topic. */
export async function startKafka(): Promise<OwnServer> {
  const properties = { 'log.segment.delete.delay.ms': '1000' }
  return own(await startFirst(providers(), 'kafka', { brokers: 1, underLoad: true, properties }))
}

/** One node with JVM settings for load. */
export const startElasticsearch = async (): Promise<OwnServer> =>
  own(await startFirst(providers(), 'elasticsearch', { heap: '2g', underLoad: true }))

/** Sluice's log store on a node; to be closed. */
export const openStore = (url: string, indexPrefix: string, clock: Clock) =>
  createElasticsearchLogStore({
    url,
    auth: () => ({ type: 'none' }),
    caFile: null,
    indexPrefix,
    clock,
    logger: createLogger('warn', 'bench'),
    metrics: createMetrics(),
    options: { replicas: 0 },
  })

const started = new Set<Backend>()

function own(backend: Backend): OwnServer {
  started.add(backend)
  return {
    address: backend.addresses[0] ?? '',
    cpuSeconds: () => backend.cpuSeconds(1),
    pause: () => backend.pause(1),
    resume: () => backend.resume(1),
    kill: () => backend.kill(1),
    stop: async () => {
      await backend.stop()
      started.delete(backend)
    },
  }
}

/** Stops the servers that are still running. */
export const stopServers = async (): Promise<void> => {
  await Promise.all([...started].map((backend) => backend.stop()))
}

/** A signal that ends this process stops the servers first. */
export function stopServersOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopServers().finally(() => process.exit(1)))
  }
}

/** An already running server, of which only the address is known. */
export const running = (address: string): Server => ({
  address,
  cpuSeconds: async () => Number.NaN,
  stop: async () => undefined,
})
