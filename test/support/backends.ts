import { afterAll, describe, inject } from 'vitest'
import type { ElasticsearchOptions, KafkaOptions } from '../stack/backend.ts'
import { notProved, REQUIRED } from './toolchains.ts'

/** Kafka brokers. Only a test file's own servers may be killed, paused or restarted; shared ones refuse. */
export interface KafkaServers extends Levers {
  /** `host:port` of each broker; node n is at index n - 1. */
  readonly brokers: readonly string[]
}

/** One Elasticsearch node without security; node 1. */
export interface ElasticsearchServer extends Levers {
  readonly url: string
}

/** Disruptions of a node. */
export interface Levers {
  kill(node: number): Promise<void>
  pause(node: number): Promise<void>
  resume(node: number): Promise<void>
  /** Restarts a killed node with its data; resolves when it is ready. */
  restart(node: number): Promise<void>
}

/**
 * `shared`: one broker or node for all test files of the run; isolate tests by topic, group and index names. Options: servers of this
 * file's own, stopped after its tests; required for killing or pausing.
 */
export interface Needs {
  readonly kafka?: 'shared' | KafkaOptions
  /** A second cluster. */
  readonly standby?: KafkaOptions
  readonly elasticsearch?: 'shared' | ElasticsearchOptions
}

type Given<N extends Needs> = (N extends { kafka: unknown } ? { readonly kafka: KafkaServers } : unknown) &
  (N extends { standby: unknown } ? { readonly standby: KafkaServers } : unknown) &
  (N extends { elasticsearch: unknown } ? { readonly elasticsearch: ElasticsearchServer } : unknown)

/**
 * A `describe` whose tests need real servers. Await it at the top level of a test file: the servers are running when `body` is called. If
 * they are unavailable, the tests are skipped with a line that says what was not proved; with REQUIRE_BACKENDS=1 they fail.
 */
export async function describeWithBackends<N extends Needs>(
  name: string,
  needs: N,
  body: (backends: Given<N>) => void,
): Promise<void> {
  try {
    const kafka = needs.kafka === undefined ? undefined : await start('kafka', needs.kafka)
    const standby = needs.standby === undefined ? undefined : await start('kafka', needs.standby)
    const elasticsearch =
      needs.elasticsearch === undefined ? undefined : await start('elasticsearch', needs.elasticsearch)
    const given = {
      ...(kafka && { kafka: { ...kafka.levers, brokers: kafka.addresses } }),
      ...(standby && { standby: { ...standby.levers, brokers: standby.addresses } }),
      ...(elasticsearch && { elasticsearch: { ...elasticsearch.levers, url: elasticsearch.addresses[0] } }),
    }
    describe(name, () => {
      body(given as Given<N>)
      afterAll(async () => {
        await Promise.all([kafka?.release(), standby?.release(), elasticsearch?.release()])
      }, 60_000)
    })
  } catch (error) {
    if (!(error instanceof HostRefusalError)) throw error
    notProved(name, error.message, REQUIRED, 'no real servers')
  }
}

interface Started {
  readonly addresses: readonly string[]
  readonly levers: Levers
  release(): Promise<void>
}

async function start(kind: 'kafka' | 'elasticsearch', options: unknown): Promise<Started> {
  const { id, addresses } = await ask<{ id: string; addresses: readonly string[] }>('start', { kind, options })
  const lever =
    (action: string) =>
    async (node: number): Promise<void> => {
      await ask(action, { id, node })
    }
  return {
    addresses,
    levers: { kill: lever('kill'), pause: lever('pause'), resume: lever('resume'), restart: lever('restart') },
    release: async () => {
      await ask('release', { id })
    },
  }
}

class HostRefusalError extends Error {
  override readonly name = 'HostRefusalError'
}

/** The process that runs Vitest owns all servers, so that they outlive a test file and end with the run. */
async function ask<T>(action: string, body: unknown): Promise<T> {
  const answer = await fetch(`${inject('backendsUrl')}/${action}`, { method: 'POST', body: JSON.stringify(body) })
  const result = (await answer.json()) as { value?: T; error?: string; unavailable?: boolean }
  if (result.unavailable) throw new HostRefusalError(result.error)
  if (result.error !== undefined) throw new Error(result.error)
  return result.value as T
}
