import { readFileSync } from 'node:fs'
import { GenericContainer, getContainerRuntimeClient, Network, type StartedTestContainer, Wait } from 'testcontainers'
import {
  type Backend,
  type BackendProvider,
  BackendUnavailableError,
  ELASTICSEARCH_IMAGE,
  type ElasticsearchOptions,
  KAFKA_IMAGE,
  type KafkaOptions,
} from '../stack/backend.ts'
import { kafkaProperties } from '../stack/kafka-properties.ts'
import { freePorts } from '../stack/ports.ts'

// Testcontainers' reaper (Ryuk) is another image, and needs the engine's socket. Containers left by a killed run are found by their label
// instead.
process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true'

const OWNER_LABEL = 'sluice.test.owner'
const STARTUP_TIMEOUT_MS = 120_000
const NANOSECONDS_PER_SECOND = 1e9
/** A folder in memory, for whatever user the image has. */
const MEMORY = { '/memory': 'rw,mode=1777' }

export const dockerProvider: BackendProvider = {
  name: 'Docker',
  startKafka,
  startElasticsearch,
}

type Client = Awaited<ReturnType<typeof getContainerRuntimeClient>>

/** The engine's client; first removes containers of dead runs and ensures that the image is present. */
async function prepare(image: string): Promise<Client> {
  try {
    const client = await getContainerRuntimeClient()
    await removeOrphans(client)
    const docker = client.container.dockerode
    const found = await docker.listImages({ filters: { reference: [image] } })
    if (found.length === 0) {
      const progress = await docker.pull(image)
      await new Promise<void>((resolve, reject) => {
        docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()))
      })
    }
    return client
  } catch (error) {
    throw new BackendUnavailableError(`no engine, or no image ${image}: ${(error as Error).message}`, { cause: error })
  }
}

async function removeOrphans(client: Client): Promise<void> {
  const docker = client.container.dockerode
  const containers = await docker.listContainers({ all: true, filters: { label: [OWNER_LABEL] } })
  const orphans = containers.filter(({ Labels }) => !isAlive(Labels[OWNER_LABEL] ?? ''))
  const removals = orphans.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true }))
  for (const removal of await Promise.allSettled(removals)) {
    // Servers that start at the same time find the same orphans.
    if (removal.status === 'rejected' && ![404, 409].includes(removal.reason.statusCode)) throw removal.reason
  }
}

/** Pid and start time of this process; the time distinguishes it from a later process with the same pid. */
const owner = (): string => `${process.pid}-${startTimeOf(process.pid)}`

function isAlive(label: string): boolean {
  const [pid, startTime] = label.split('-')
  return startTimeOf(Number(pid)) === startTime
}

function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/** Controls for containers; the last one to stop removes the network. */
function backendOf(
  client: Client,
  containers: readonly StartedTestContainer[],
  addresses: readonly string[],
  ready: (node: number) => Promise<void>,
  removeNetwork: () => Promise<unknown>,
): Backend {
  const container = (node: number) => {
    const started = containers[node - 1]
    if (started === undefined) throw new Error(`there is no node ${node}`)
    return client.container.dockerode.getContainer(started.getId())
  }
  let stopped: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    await Promise.all(
      containers.map((each) => client.container.dockerode.getContainer(each.getId()).remove({ force: true, v: true })),
    )
    await removeNetwork()
  }
  return {
    addresses,
    kill: async (node) => void (await container(node).kill()),
    pause: (node) => pausePatiently(container(node)),
    resume: async (node) => void (await container(node).unpause()),
    cpuSeconds: async (node) => {
      const stats = await container(node).stats({ stream: false, 'one-shot': true })
      return stats.cpu_stats.cpu_usage.total_usage / NANOSECONDS_PER_SECOND
    },
    restart: async (node) => {
      await container(node).start()
      await ready(node)
    },
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

async function startKafka({
  brokers,
  sasl,
  tls,
  properties = {},
  underLoad = false,
  inMemory = false,
}: KafkaOptions): Promise<Backend> {
  const client = await prepare(KAFKA_IMAGE)
  const network = await new Network().start()
  const ports = await freePorts(brokers)
  const hosts = ports.map((_, index) => `kafka-${index + 1}`)
  const containers = await Promise.all(
    ports.map((port, index) => {
      const settings = kafkaProperties({
        node: index + 1,
        clients: { bind: '0.0.0.0', host: '127.0.0.1', port },
        peers: hosts.map((host) => ({ host, brokerPort: 9093, controllerPort: 9094 })),
        bind: '0.0.0.0',
        sasl,
        tls,
        properties,
      })
      const environment = Object.fromEntries(Object.entries(settings).map(([key, value]) => [variableOf(key), value]))
      return new GenericContainer(KAFKA_IMAGE)
        .withNetwork(network)
        .withNetworkAliases(hosts[index] ?? '')
        .withLabels({ [OWNER_LABEL]: owner() })
        .withExposedPorts({ container: port, host: port })
        .withTmpFs(inMemory ? MEMORY : {})
        .withEnvironment({
          ...environment,
          CLUSTER_ID: '4L6g3nShT-eMCtK--X86sw',
          ...javaOfKafka(underLoad),
          ...(inMemory && { KAFKA_LOG_DIRS: '/memory/kafka' }),
        })
        .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
        .withStartupTimeout(STARTUP_TIMEOUT_MS)
        .start()
    }),
  )
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  return backendOf(
    client,
    containers,
    addresses,
    (node) => logs(containers[node - 1], /Kafka Server started/),
    () => network.stop(),
  )
}

/** The image's variable for a broker property, such as KAFKA_MIN_INSYNC_REPLICAS; `_` becomes `__`, `-` becomes `___`. */
const variableOf = (key: string): string =>
  `KAFKA_${key.replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_').toUpperCase()}`

/** The image's options restrict the JVM to its fast compiler; under load, overriding them enables the optimising one. */
const javaOfKafka = (underLoad: boolean): Record<string, string> =>
  underLoad
    ? { KAFKA_HEAP_OPTS: '-Xms1g -Xmx1g', KAFKA_JVM_PERFORMANCE_OPTS: '-XX:+UseG1GC' }
    : { KAFKA_HEAP_OPTS: '-Xms128m -Xmx400m' }

async function startElasticsearch({
  heap = '512m',
  underLoad = false,
  inMemory = false,
  secured,
}: ElasticsearchOptions): Promise<Backend> {
  const client = await prepare(ELASTICSEARCH_IMAGE)
  const [port = 0] = await freePorts(1)
  const url = `${secured ? 'https' : 'http'}://127.0.0.1:${port}`
  const container = await new GenericContainer(ELASTICSEARCH_IMAGE)
    .withLabels({ [OWNER_LABEL]: owner() })
    .withExposedPorts({ container: 9200, host: port })
    .withEnvironment({
      'discovery.type': 'single-node',
      ...(inMemory && { 'path.data': '/memory' }),
      ...securityOf(secured),
      'cluster.routing.allocation.disk.threshold_enabled': 'false',
      ES_JAVA_OPTS: `-Xms${heap} -Xmx${heap}${underLoad ? ' -XX:TieredStopAtLevel=4' : ''}`,
    })
    .withTmpFs(inMemory ? MEMORY : {})
    .withCopyContentToContainer(secured ? certificateFiles(secured) : [])
    .withWaitStrategy(healthOf(secured))
    .withStartupTimeout(STARTUP_TIMEOUT_MS)
    .start()
  return backendOf(
    client,
    [container],
    [url],
    () => answers(`${url}/_cluster/health`),
    async () => undefined,
  )
}

type Secured = NonNullable<ElasticsearchOptions['secured']>
const ELASTICSEARCH_CONFIG = '/usr/share/elasticsearch/config'

const certificateFiles = ({ certificate, key }: Secured) => [
  { content: certificate, target: `${ELASTICSEARCH_CONFIG}/http.pem`, mode: 0o644 },
  { content: key, target: `${ELASTICSEARCH_CONFIG}/http.key`, mode: 0o644 },
]

const securityOf = (secured: Secured | undefined): Record<string, string> =>
  secured === undefined
    ? { 'xpack.security.enabled': 'false' }
    : {
        'xpack.security.enabled': 'true',
        ELASTIC_PASSWORD: secured.password,
        'xpack.security.http.ssl.enabled': 'true',
        'xpack.security.http.ssl.certificate': `${ELASTICSEARCH_CONFIG}/http.pem`,
        'xpack.security.http.ssl.key': `${ELASTICSEARCH_CONFIG}/http.key`,
      }

function healthOf(secured: Secured | undefined) {
  const health = Wait.forHttp('/_cluster/health', 9200)
  return secured ? health.usingTls().allowInsecure().withBasicCredentials('elastic', secured.password) : health
}

async function logs(container: StartedTestContainer | undefined, text: RegExp): Promise<void> {
  const since = Math.floor(performance.timeOrigin / 1_000 + performance.now() / 1_000) - 1
  const stream = await container?.logs({ since })
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no line ${text} in time`)), STARTUP_TIMEOUT_MS)
    stream?.on('data', (chunk: Buffer | string) => {
      if (!text.test(String(chunk))) return
      clearTimeout(timer)
      stream.destroy()
      resolve()
    })
  })
}

async function answers(url: string): Promise<void> {
  const end = performance.now() + STARTUP_TIMEOUT_MS
  for (;;) {
    const ok = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ok) return
    if (performance.now() > end) throw new Error(`${url} does not answer`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const PAUSE_TRIES = 8

/** A busy engine sometimes fails to freeze a container; partially frozen ones are thawed before the next attempt. */
async function pausePatiently(container: { pause(): Promise<unknown>; unpause(): Promise<unknown> }): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await container.pause()
      return
    } catch (error) {
      if (tries === PAUSE_TRIES) throw error
      await container.unpause().catch(() => undefined)
    }
  }
}
