import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BackendUnavailableError, ELASTICSEARCH_VERSION, KAFKA_VERSION } from './backend.ts'

const run = promisify(execFile)
const DOWNLOAD_TIMEOUT_MS = 600_000

/** The cache folder for the servers' programs, outside the repository. A system user must be able to read it. */
export const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] ?? (process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache')), 'sluice')

/** The home of the newest installed Java with at least this major version. */
export function javaHome(atLeast: number): string {
  const root = '/usr/lib/jvm'
  const candidates = [
    process.env['JAVA_HOME'],
    '/opt/java',
    ...(existsSync(root) ? readdirSync(root).map((name) => join(root, name)) : []),
    ...(process.platform === 'darwin' ? macHomes() : []),
  ]
  const found = candidates
    .filter((home) => home !== undefined)
    .map((home) => ({ home, version: majorVersion(home) }))
    .filter(({ version }) => version >= atLeast)
    .toSorted((a, b) => b.version - a.version)
  if (found[0] === undefined) throw new BackendUnavailableError(`no Java ${atLeast} or newer; set JAVA_HOME`)
  return found[0].home
}

function macHomes(): readonly string[] {
  const root = '/Library/Java/JavaVirtualMachines'
  return existsSync(root) ? readdirSync(root).map((name) => join(root, name, 'Contents/Home')) : []
}

function majorVersion(home: string): number {
  try {
    const release = readFileSync(join(home, 'release'), 'utf8')
    return Number(/^JAVA_VERSION="(\d+)/m.exec(release)?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** The folder of the brokers' jars, fetched by Maven on first use. */
export const kafkaJars = (): Promise<string> => jarsOf('kafka', ['kafka_2.13', 'kafka-tools'])

/** The same for MirrorMaker 2. */
export const mirrorMakerJars = (): Promise<string> => jarsOf('connect-mirror', ['connect-mirror'])

/** The folder of these jars of Apache Kafka, with all that they need. */
function jarsOf(name: string, artifacts: readonly string[]): Promise<string> {
  return once(`${name}-${KAFKA_VERSION}`, async (folder) => {
    const dependency = (group: string, artifact: string, version: string): string =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
    const own = artifacts.map((artifact) => dependency('org.apache.kafka', artifact, KAFKA_VERSION)).join('')
    const pom = `<project><modelVersion>4.0.0</modelVersion><groupId>stack</groupId><artifactId>${name}</artifactId><version>1</version>
<dependencies>${own}${dependency('org.slf4j', 'slf4j-simple', '1.7.36')}</dependencies></project>`
    writeFileSync(join(folder, 'pom.xml'), pom)
    await maven('-f', join(folder, 'pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`)
  })
}

/** The home of Elasticsearch as published for tests of its plug-ins, fetched by Maven on first use. */
export async function elasticsearchHome(): Promise<string> {
  const folder = await once(`elasticsearch-${ELASTICSEARCH_VERSION}`, async (target) => {
    const artifact = `org.elasticsearch.distribution.integ-test-zip:elasticsearch:${ELASTICSEARCH_VERSION}:zip`
    await maven('dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${target}`)
    const zip = join(target, `elasticsearch-${ELASTICSEARCH_VERSION}.zip`)
    await run(join(javaHome(21), 'bin/jar'), ['xf', zip], { cwd: target })
    await run('chmod', ['-R', 'a+rX', target])
    await run('chmod', ['-R', 'a+x', join(target, `elasticsearch-${ELASTICSEARCH_VERSION}`, 'bin')])
    rmSync(zip)
  })
  return join(folder, `elasticsearch-${ELASTICSEARCH_VERSION}`)
}

/** Creates a folder in the cache by `fill`; a partially filled one never gets the final name. */
async function once(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheFolder(), name)
  if (existsSync(folder)) return folder
  const partial = `${folder}.${process.pid}`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true, mode: 0o755 })
  try {
    await fill(partial)
    if (existsSync(folder)) return folder
    renameSync(partial, folder)
    return folder
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

async function maven(...options: readonly string[]): Promise<void> {
  try {
    await run('mvn', ['-q', '-B', ...options], { timeout: DOWNLOAD_TIMEOUT_MS })
  } catch (error) {
    const { code, stdout } = error as { code?: string | number; stdout?: string }
    const reason = code === 'ENOENT' ? 'mvn is not installed' : `mvn failed: ${stdout?.slice(0, 500)}`
    throw new BackendUnavailableError(`cannot fetch the servers from Maven Central: ${reason}`, { cause: error })
  }
}
