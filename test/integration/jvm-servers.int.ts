import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { type Backend, BackendUnavailableError } from '../stack/backend.ts'
import { jvmProvider } from '../stack/jvm.ts'
import { eventually } from '../support/eventually.ts'
import { notProved, REQUIRED } from '../support/toolchains.ts'

const PATIENCE_MS = 180_000
/** An ApiVersions request of version 0, with its length before it. */
const API_VERSIONS = Buffer.from('0000000a0012000000000001ffff', 'hex')

/** Resolves when the broker answers; rejects where nothing listens. */
async function askBroker(address: string | undefined): Promise<void> {
  const [host = '', port] = (address ?? '').split(':')
  const socket = connect(Number(port), host)
  try {
    await once(socket, 'connect')
    socket.write(API_VERSIONS)
    await once(socket, 'data')
  } finally {
    socket.destroy()
  }
}

/** Starts servers for the tests of `body`; where this machine cannot, one test says so. */
async function describeJvm(name: string, start: () => Promise<Backend>, body: (servers: Backend) => void) {
  try {
    const servers = await start()
    describe(name, () => {
      body(servers)
      afterAll(() => servers.stop())
    })
  } catch (error) {
    if (!(error instanceof BackendUnavailableError)) throw error
    notProved(name, error.message, REQUIRED, 'no servers of Java')
  }
}

/** All other suites have their servers from containers, where Docker answers. */
await describeJvm(
  'Kafka as processes of Java',
  () => jvmProvider.startKafka({ brokers: 2 }),
  (servers) => {
    test(
      'each broker answers; a killed one is gone until it is started again',
      async () => {
        await Promise.all(servers.addresses.map(askBroker))
        await servers.kill(2)
        await expect(askBroker(servers.addresses[1])).rejects.toThrow(/ECONN(REFUSED|RESET)/)
        await askBroker(servers.addresses[0])
        await servers.restart(2)
        await askBroker(servers.addresses[1])
      },
      PATIENCE_MS,
    )

    test(
      'a frozen one answers once it goes on, and not before',
      async () => {
        const order: string[] = []
        await servers.pause(2)
        const answered = askBroker(servers.addresses[1]).then(() => void order.push('answered'))
        for (let times = 0; times < 20; times += 1) await askBroker(servers.addresses[0])
        order.push('resumed')
        await servers.resume(2)
        await answered
        expect(order).toEqual(['resumed', 'answered'])
        expect(await servers.cpuSeconds(2)).toBeGreaterThan(0)
      },
      PATIENCE_MS,
    )
  },
)

await describeJvm(
  'Elasticsearch as a process of Java',
  () => jvmProvider.startElasticsearch({}),
  (servers) => {
    test(
      'keeps its documents over a kill',
      async () => {
        const document = `${servers.addresses[0]}/kept/_doc/1`
        const headers = { 'Content-Type': 'application/json' }
        expect((await fetch(document, { method: 'PUT', headers, body: '{"a":1}' })).status).toBe(201)
        await servers.kill(1)
        await expect(fetch(document)).rejects.toThrow()
        await servers.restart(1)
        // The index opens a moment after the node.
        await eventually(async () => {
          expect(await (await fetch(document)).json()).toMatchObject({ found: true, _source: { a: 1 } })
        }, PATIENCE_MS)
      },
      PATIENCE_MS,
    )
  },
)
