import type { Backend } from '../../test/stack/backend.ts'
import { chosenProviders, startFirst } from '../../test/support/backends-choice.ts'

/** A Kafka broker or an Elasticsearch node that the bench uses. */
export interface Server {
  readonly address: string
  /** CPU seconds used so far; not a number where the server was not started here. */
  cpuSeconds(): Promise<number>
  /** Ends it where it was started here. */
  stop(): Promise<void>
}

/** A server that the bench has started, and may freeze and end. */
export interface OwnServer extends Server {
  pause(): Promise<void>
  resume(): Promise<void>
  kill(): Promise<void>
}

/** Containers, or processes of this machine's Java. TEST_BACKENDS names one of the two. */
const providers = () => chosenProviders(process.env['TEST_BACKENDS'])

/** One broker with Java set up for load. What is deleted is gone at once, since the bench fills topic after topic. */
export async function startKafka(): Promise<OwnServer> {
  const properties = { 'log.segment.delete.delay.ms': '1000' }
  return own(await startFirst(providers(), 'kafka', { brokers: 1, underLoad: true, properties }))
}

/** One node with Java set up for load. */
export const startElasticsearch = async (): Promise<OwnServer> =>
  own(await startFirst(providers(), 'elasticsearch', { heap: '2g', underLoad: true }))

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

/** Stops what was started and still runs; for an end that comes from outside. */
export const stopServers = async (): Promise<void> => {
  await Promise.all([...started].map((backend) => backend.stop()))
}

/** A server that runs already, of which only the address is known. */
export const running = (address: string): Server => ({
  address,
  cpuSeconds: async () => Number.NaN,
  stop: async () => undefined,
})
