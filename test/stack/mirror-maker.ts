import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { javaHome, mirrorMakerJars } from './artefacts.ts'
import { startServer } from './processes.ts'

const PROPERTIES = join(import.meta.dirname, '../../deploy/mirror-maker/standby.properties')

export interface MirrorMaker {
  /** Its output so far. */
  printed(): string
  /** Ends it as a lost machine would. */
  stop(): Promise<void>
}

/** Starts MirrorMaker 2 with the properties of the product, for brokers without replicas, and with short intervals. */
export async function startMirrorMaker(
  primary: readonly string[],
  standby: readonly string[],
  topicPrefix: string,
): Promise<MirrorMaker> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mirror-maker-'))
  const [properties, logFile] = [join(folder, 'standby.properties'), join(folder, 'log')]
  const text = readFileSync(PROPERTIES, 'utf8')
    .replace(/(?<=^primary\.bootstrap\.servers = ).*/m, primary.join(','))
    .replace(/(?<=^standby\.bootstrap\.servers = ).*/m, standby.join(','))
    .replace(/(?<=^(?:topics|groups) = )sluice/gm, topicPrefix)
    .replace(/(?<=factor = )3/g, '1')
    .replace(/(?<=interval\.seconds = )\d+/g, '1')
  writeFileSync(properties, text)
  writeFileSync(logFile, '')
  const jars = await mirrorMakerJars()
  const server = startServer({
    command: join(javaHome(17), 'bin/java'),
    args: [
      ...['-Xms128m', '-Xmx512m', '-XX:TieredStopAtLevel=1', '-cp', join(jars, '*')],
      ...['org.apache.kafka.connect.mirror.MirrorMaker', properties],
    ],
    environment: {},
    logFile,
  })
  return {
    printed: () => readFileSync(logFile, 'utf8'),
    stop: async () => {
      server.signal('SIGKILL')
      await server.ended()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
