import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { topicName } from '../../shared/contract/topics.ts'
import { API_KEY, BATCH_ENTRIES, batchBodies, REGISTRY, singleBodies } from '../entries.ts'
import { type MeasuredProcess, startMeasured } from '../measured-process.ts'
import { metrics, total } from '../scrape.ts'
import { PARTITIONS, type Topics } from './topics.ts'

export interface Workload {
  readonly name: string
  /** Entries of one request. */
  readonly entries: number
  readonly connections: number
  readonly path: string
  readonly bodies: readonly string[]
}

/** What has a program's name in the tables, and how it is started on topics of its own. */
export interface Program {
  readonly name: string
  start(prefix: string): Promise<RunningProgram>
}

export interface RunningProgram extends MeasuredProcess {
  readonly topic: string
  /** The workload as this program wants it said. */
  said(workload: Workload): Workload
  readonly headers: Readonly<Record<string, string>>
  readonly goodAnswer: string
  /** Produce requests sent so far, or null where the program does not count them. */
  sends(): Promise<number | null>
}

const workload = (name: string, entries: number, connections: number, keyed: boolean): Workload =>
  entries === 1
    ? { name, entries, connections, path: '/api/ApplicationLogs', bodies: singleBodies(2_000, { keyed }) }
    : { name, entries, connections, path: '/api/ApplicationLogs/batch', bodies: batchBodies(50, { keyed }) }

export const SINGLE = workload('single', 1, 256, false)
export const BATCH = workload('batch of 100', BATCH_ENTRIES, 32, false)
export const SINGLE_KEYED = workload('single, each entry of one of 5,000 flows', 1, 256, true)
export const BATCH_KEYED = workload('batch of 100, each entry of one of 5,000 flows', BATCH_ENTRIES, 32, true)

const asIs = (given: Workload): Workload => given

/** A role of Sluice as its users start it, with files of its own. */
export async function startRole(
  role: 'gateway' | 'consumers',
  { prefix, broker, elasticsearchUrl }: { prefix: string; broker: string; elasticsearchUrl: string },
): Promise<MeasuredProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  writeFileSync(join(folder, 'registry.yaml'), REGISTRY)
  const started = await startMeasured([join(import.meta.dirname, '../../deploy/main.ts'), 'start', '--role', role], {
    PORT: '0',
    LOG_LEVEL: 'warn',
    KAFKA_BROKERS: broker,
    ELASTICSEARCH_URL: elasticsearchUrl,
    ELASTICSEARCH_REPLICAS: '0',
    TOPIC_PREFIX: prefix,
    INDEX_PREFIX: prefix,
    DATA_DIR: join(folder, 'data'),
    REGISTRY_FILE: join(folder, 'registry.yaml'),
  })
  const stop = async (): Promise<void> => {
    await started.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { ...started, stop }
}

/** A gateway asks nothing of Elasticsearch; that it is named makes the gateway keep no files either. */
const NOWHERE = 'http://127.0.0.1:9'

export const sluice = (broker: string): Program => ({
  name: 'Sluice',
  start: async (prefix) => {
    const gateway = await startRole('gateway', { prefix, broker, elasticsearchUrl: NOWHERE })
    return {
      ...gateway,
      topic: topicName(prefix, 'application-logs'),
      said: asIs,
      headers: { 'x-api-key': API_KEY },
      goodAnswer: '{"success":true',
      sends: async () => total(await metrics(gateway.url), 'sluice_publish_seconds_count'),
    }
  },
})

export const floor = (broker: string, topics: Topics): Program => ({
  name: 'floor',
  start: async (prefix) => {
    const topic = `${prefix}.floor`
    await topics.create(topic)
    const program = await startMeasured([join(import.meta.dirname, 'floor.ts'), broker, topic, String(PARTITIONS)], {})
    return {
      ...program,
      topic,
      said: asIs,
      headers: {},
      goodAnswer: '{"success":true',
      sends: async () => total(await metrics(program.url), 'floor_sends_total'),
    }
  },
})
