import { execFile } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { elasticsearchHome, javaHome, kafkaJars } from './artefacts.ts'
import {
  type Backend,
  type BackendProvider,
  BackendUnavailableError,
  type ElasticsearchOptions,
  type KafkaOptions,
} from './backend.ts'
import { kafkaProperties } from './kafka-properties.ts'
import { freePorts } from './ports.ts'
import { awaitReady, type ServerProcess, startServer } from './processes.ts'

const run = promisify(execFile)
const READY_WITHIN_MS = 120_000
const NOBODY = 65_534

/** Servers as local Java processes, fetched by Maven: for development, and for tests without Docker. */
export const jvmProvider: BackendProvider = { name: 'Java', startKafka, startElasticsearch }

interface Node {
  readonly name: string
  readonly folder: string
  launch(): ServerProcess
  ready(): Promise<boolean>
}

async function startKafka(options: KafkaOptions & { ports?: readonly number[] }): Promise<Backend> {
  const { brokers, sasl, tls, properties = {}, underLoad = false } = options
  const java = join(javaHome(17), 'bin/java')
  const jars = await kafkaJars()
  const ports = await freePorts(3 * brokers)
  const clientPorts = options.ports ?? ports.slice(0, brokers)
  const peers = clientPorts.map((_, index) => ({
    host: '127.0.0.1',
    brokerPort: ports[brokers + index] ?? 0,
    controllerPort: ports[2 * brokers + index] ?? 0,
  }))
  const root = mkdtempSync(join(tmpdir(), 'sluice-kafka-'))
  const quickStart = ['-XX:TieredStopAtLevel=1']
  const base = ['-cp', join(jars, '*')]
  const heap = underLoad ? ['-Xms1g', '-Xmx1g'] : ['-Xms128m', '-Xmx400m', ...quickStart]
  const nodes = clientPorts.map((port, index): Node => {
    const folder = join(root, `node-${index + 1}`)
    const clients = { bind: '127.0.0.1', host: '127.0.0.1', port }
    const lines = {
      ...kafkaProperties({ node: index + 1, clients, peers, bind: '127.0.0.1', sasl, tls, properties }),
      'log.dirs': join(folder, 'data'),
    }
    mkdirSync(folder)
    writeFileSync(join(folder, 'log'), '')
    writeFileSync(join(folder, 'server.properties'), toLines(lines))
    return {
      name: `Kafka broker ${index + 1}`,
      folder,
      launch: () =>
        startServer({
          command: java,
          args: [...heap, ...base, 'kafka.Kafka', join(folder, 'server.properties')],
          environment: {},
          logFile: join(folder, 'log'),
        }),
      ready: async () => readFileSync(join(folder, 'log'), 'utf8').includes('Kafka Server started'),
    }
  })
  await Promise.all(
    nodes.map(({ folder }) =>
      run(java, [
        ...quickStart,
        ...base,
        'kafka.tools.StorageTool',
        ...['format', '-t', '4L6g3nShT-eMCtK--X86sw', '-c', join(folder, 'server.properties')],
      ]),
    ),
  )
  return start(
    root,
    nodes,
    clientPorts.map((port) => `127.0.0.1:${port}`),
  )
}

async function startElasticsearch(options: ElasticsearchOptions & { port?: number }): Promise<Backend> {
  const { heap = '512m', underLoad = false, secured, port } = options
  if (secured) throw new BackendUnavailableError('the Elasticsearch of Maven Central has no security')
  const java = javaHome(21)
  const home = await elasticsearchHome()
  const [freeHttp = 0, transport = 0] = await freePorts(2)
  const http = port ?? freeHttp
  const root = mkdtempSync(join(tmpdir(), 'sluice-elasticsearch-'))
  const folder = join(root, 'node-1')
  mkdirSync(join(folder, 'data'), { recursive: true })
  mkdirSync(join(folder, 'logs'))
  mkdirSync(join(folder, 'tmp'))
  cpSync(join(home, 'config'), join(folder, 'config'), { recursive: true })
  // Without the options that write below the installation folder.
  const jvmOptions = readFileSync(join(home, 'config/jvm.options'), 'utf8').split('\n')
  const kept = jvmOptions.filter((line) => !/gc\.log|ErrorFile/.test(line))
  writeFileSync(join(folder, 'config/jvm.options'), kept.join('\n'))
  writeFileSync(join(folder, 'log'), '')
  // Elasticsearch refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined
  if (user) await run('chown', ['-R', `${user.uid}:${user.gid}`, root])
  if (user) chownSync(root, user.uid, user.gid)
  const settings = {
    'path.data': join(folder, 'data'),
    'path.logs': join(folder, 'logs'),
    'http.host': '127.0.0.1',
    'http.port': String(http),
    'transport.host': '127.0.0.1',
    'transport.port': String(transport),
    'discovery.type': 'single-node',
    'xpack.security.enabled': 'false',
    'cluster.routing.allocation.disk.threshold_enabled': 'false',
  }
  const url = `http://127.0.0.1:${http}`
  const node: Node = {
    name: 'Elasticsearch',
    folder,
    launch: () =>
      startServer({
        command: join(home, 'bin/elasticsearch'),
        args: Object.entries(settings).flatMap(([name, value]) => ['-E', `${name}=${value}`]),
        environment: {
          ES_PATH_CONF: join(folder, 'config'),
          ES_JAVA_HOME: java,
          ES_JAVA_OPTS: `-Xms${heap} -Xmx${heap}${underLoad ? '' : ' -XX:TieredStopAtLevel=1'}`,
          ES_TMPDIR: join(folder, 'tmp'),
          JAVA_HOME: undefined,
        },
        logFile: join(folder, 'log'),
        ...(user && { user }),
      }),
    ready: () =>
      fetch(`${url}/_cluster/health`).then(
        (answer) => answer.ok,
        () => false,
      ),
  }
  return start(root, [node], [url])
}

/** Starts the nodes and returns controls for them. */
async function start(root: string, nodes: readonly Node[], addresses: readonly string[]): Promise<Backend> {
  const servers = nodes.map((node) => node.launch())
  const known = (number: number): { node: Node; server: ServerProcess } => {
    const [node, server] = [nodes[number - 1], servers[number - 1]]
    if (node === undefined || server === undefined) throw new Error(`there is no node ${number}`)
    return { node, server }
  }
  const ready = async (number: number): Promise<void> => {
    const { node, server } = known(number)
    const { name, folder } = node
    await awaitReady(server, {
      name,
      logFile: join(folder, 'log'),
      check: () => node.ready(),
      withinMs: READY_WITHIN_MS,
    })
  }
  const kill = async (number: number): Promise<void> => {
    const { server } = known(number)
    server.signal('SIGKILL')
    await server.ended()
  }
  const backend: Backend = {
    addresses,
    kill,
    pause: (number) => known(number).server.freeze(),
    resume: async (number) => known(number).server.signal('SIGCONT'),
    restart: async (number) => {
      await kill(number)
      const { node } = known(number)
      truncateSync(join(node.folder, 'log'))
      servers[number - 1] = node.launch()
      await ready(number)
    },
    cpuSeconds: async (number) => known(number).server.cpuSeconds(),
    stop: async () => {
      await Promise.all(nodes.map((_, index) => kill(index + 1)))
      rmSync(root, { recursive: true, force: true })
    },
  }
  try {
    await Promise.all(nodes.map((_, index) => ready(index + 1)))
    return backend
  } catch (error) {
    await backend.stop()
    throw error
  }
}

const toLines = (properties: Readonly<Record<string, string>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
