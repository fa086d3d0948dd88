import { join } from 'node:path'
import { topicName } from '../../shared/contract/topics.ts'
import { API_KEY, BATCH_ENTRIES, batchBodies, otlpBodies, singleBodies } from '../entries.ts'
import { type Load, type LoadResult, runLoad } from '../load.ts'
import { type MeasuredProcess, startMeasured, startSluice } from '../measured-process.ts'
import { metrics, total } from '../scrape.ts'
import { PARTITIONS, type Topics } from './topics.ts'

export interface Workload {
  readonly name: string
  /** Entries per request. */
  readonly entries: number
  readonly connections: number
  readonly path: string
  readonly bodies: readonly (string | Uint8Array)[]
  /** Added to the program's headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** The beginning of a response body that accepts all entries of the request. */
  readonly goodAnswer: string
}

/** A program in the tables, and how to start it on its own topics. */
export interface Program {
  readonly name: string
  start(prefix: string): Promise<RunningProgram>
}

export interface RunningProgram extends MeasuredProcess {
  readonly topic: string
  /** Converts a workload to the program's protocol; absent if it takes those of Sluice. */
  readonly adapt?: (workload: Workload) => Workload
  readonly headers: Readonly<Record<string, string>>
  /** Produce requests sent so far, or null if the program does not count them. */
  sends(): Promise<number | null>
}

const singles = (name: string, keyed: boolean): Workload => ({
  name,
  entries: 1,
  connections: 256,
  path: '/api/ApplicationLogs',
  bodies: singleBodies(2_000, { keyed }),
  goodAnswer: '{"success":true',
})

const batches = (name: string, keyed: boolean): Workload => ({
  name,
  entries: BATCH_ENTRIES,
  connections: 32,
  path: '/api/ApplicationLogs/batch',
  bodies: batchBodies(50, { keyed }),
  goodAnswer: `{"success":true,"data":{"message":"Successfully processed ${BATCH_ENTRIES} log entries"`,
})

export const SINGLE = singles('single', false)
export const BATCH = batches('batch of 100', false)
export const SINGLE_KEYED = singles('single, each entry of one of 5,000 flows', true)
export const BATCH_KEYED = batches('batch of 100, each entry of one of 5,000 flows', true)

export const OTLP_PATH = '/v1/logs'

const otlp = (records: number): Workload => ({
  name: `OTLP in Protobuf, ${records} records`,
  entries: records,
  connections: 32,
  path: OTLP_PATH,
  bodies: otlpBodies(Math.ceil(5_000 / records), records),
  headers: { 'content-type': 'application/x-protobuf' },
  // An ExportLogsServiceResponse without a partial success is empty, or has the two bytes of an empty one.
  goodAnswer: '',
})

export const OTLP = [otlp(100), otlp(512)]

/** The gateway does not use Elasticsearch, so this address is never contacted. */
export const NOWHERE = 'http://127.0.0.1:9'

export interface RoleOptions {
  /** For topics and indices. */
  readonly prefix: string
  readonly broker: string
  readonly elasticsearchUrl: string
  readonly settings?: Readonly<Record<string, string>>
}

/** A role of Sluice. */
export const startRole = (
  role: 'gateway' | 'consumers',
  { prefix, broker, elasticsearchUrl, settings = {} }: RoleOptions,
): Promise<MeasuredProcess> =>
  startSluice(['--role', role], {
    KAFKA_BROKERS: broker,
    ELASTICSEARCH_URL: elasticsearchUrl,
    ELASTICSEARCH_REPLICAS: '0',
    TOPIC_PREFIX: prefix,
    INDEX_PREFIX: prefix,
    ...settings,
  })

/** Sends a workload to a gateway. */
export const send = (
  gateway: MeasuredProcess,
  workload: Workload,
  options: Partial<Load> & Pick<Load, 'seconds'>,
): Promise<LoadResult> =>
  runLoad({ ...workload, url: gateway.url + workload.path, headers: { 'x-api-key': API_KEY }, ...options })

export const sluice = (broker: string, name = 'Sluice', settings: Readonly<Record<string, string>> = {}): Program => ({
  name,
  start: async (prefix) => {
    const gateway = await startRole('gateway', { prefix, broker, elasticsearchUrl: NOWHERE, settings })
    return {
      ...gateway,
      topic: topicName(prefix, 'application-logs'),
      headers: { 'x-api-key': API_KEY },
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
      adapt: (workload) => ({ ...workload, goodAnswer: '{"success":true}' }),
      headers: {},
      sends: async () => total(await metrics(program.url), 'floor_sends_total'),
    }
  },
})
