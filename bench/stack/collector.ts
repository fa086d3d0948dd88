import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePorts } from '../../test/stack/ports.ts'
import { startIn, startProgram } from '../measured-process.ts'
import { OTLP_PATH, type Program, type Workload } from './programs.ts'
import type { Topics } from './topics.ts'

const run = promisify(execFile)

const VERSION = '0.155.0'
/** Modules with a stable API have version numbers of their own. */
const STABLE_VERSION = '1.61.0'
const FOLDER = join(import.meta.dirname, '../out')
const BINARY = join(FOLDER, `otelcol-${VERSION}`)
const BUILD_TIMEOUT_MS = 900_000

const BUILDER = `dist: { name: otelcol, output_path: ./dist, version: ${VERSION} }
receivers: [{ gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v${VERSION} }]
exporters: [{ gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/kafkaexporter v${VERSION} }]
providers:
  - { gomod: go.opentelemetry.io/collector/confmap/provider/envprovider v${STABLE_VERSION} }
  - { gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider v${STABLE_VERSION} }
`

/**
 * The content of the Collector's messages, each of which has one log record: only the text of its body, or the record with its resource and
 * scope, for which each record needs a trace of its own.
 */
export type Written = 'bodies' | 'records'

const EXPORT: Readonly<Record<Written, string>> = {
  bodies: 'encoding: raw }',
  records: 'encoding: otlp_proto }\n    partition_logs_by_trace_id: true',
}

/**
 * The OpenTelemetry Collector: OTLP/HTTP in, one message per entry out, and as safe as the gateway: without a queue, so that its response
 * waits for acks=all. Rejects with a reason if Go is missing; a build takes minutes, and is kept in bench/out.
 */
export async function collector(
  broker: string,
  topics: Topics,
  log: (text: string) => void,
  written: Written = 'bodies',
): Promise<Program> {
  if (!existsSync(BINARY)) await build(log)
  return {
    name: `OpenTelemetry Collector ${VERSION}, ${written}`,
    start: async (prefix) => {
      const topic = `${prefix}.collector`
      await topics.create(topic)
      const [port = 0] = await freePorts(1)
      const program = await startIn((folder) => {
        const file = join(folder, 'config.yaml')
        writeFileSync(file, configuration(broker, topic, port, written))
        return startProgram(BINARY, [`--config=${file}`], `http://127.0.0.1:${port}`)
      })
      return { ...program, topic, adapt: inOtlp, headers: {}, sends: async () => null }
    },
  }
}

async function build(log: (text: string) => void): Promise<void> {
  const go = ['/usr/local/go/bin/go', '/usr/lib/go/bin/go'].find(existsSync) ?? 'go'
  await run(go, ['version']).catch((error) => {
    throw new Error('there is no Go to build it with', { cause: error })
  })
  log(`building the OpenTelemetry Collector ${VERSION} (some minutes, once)`)
  const folder = join(FOLDER, 'collector-build')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'builder.yaml'), BUILDER)
  const options = {
    cwd: folder,
    timeout: BUILD_TIMEOUT_MS,
    env: {
      ...process.env,
      PATH: `${join(go, '..')}:${process.env['PATH']}`,
      GOPATH: join(folder, 'go'),
      GOCACHE: join(folder, 'cache'),
      GOBIN: folder,
      // Makes the fetched files removable.
      GOFLAGS: '-modcacherw',
    },
  }
  try {
    await run(go, ['install', `go.opentelemetry.io/collector/cmd/builder@v${VERSION}`], options)
    await run(join(folder, 'builder'), ['--config', 'builder.yaml'], options)
    renameSync(join(folder, 'dist/otelcol'), BINARY)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const configuration = (broker: string, topic: string, port: number, written: Written): string => `
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } }
exporters:
  kafka:
    brokers: ["${broker}"]
    logs: { topic: "${topic}", ${EXPORT[written]}
    producer: { required_acks: -1, compression: none, allow_auto_topic_creation: false, linger: 5ms }
    sending_queue: { enabled: false }
    retry_on_failure: { enabled: false }
service:
  telemetry: { metrics: { level: none }, logs: { level: error } }
  pipelines:
    logs: { receivers: [otlp], exporters: [kafka] }
`

/** The same entries as log records with the entry's JSON as the body text, the cheapest form for the Collector; OTLP stays as it is. */
function inOtlp(workload: Workload): Workload {
  if (workload.path === OTLP_PATH) return workload
  const bodies = workload.bodies.map((body) => {
    const { logEntries, ...single } = JSON.parse(String(body)) as {
      readonly logEntries?: readonly { readonly level: string }[]
    }
    const entries = logEntries ?? [single as { readonly level: string }]
    const logRecords = entries.map((entry) => ({
      timeUnixNano: '1750000000000000000',
      severityText: entry.level,
      body: { stringValue: JSON.stringify(entry) },
    }))
    return JSON.stringify({ resourceLogs: [{ resource: {}, scopeLogs: [{ scope: {}, logRecords }] }] })
  })
  return { ...workload, path: OTLP_PATH, goodAnswer: '{"partialSuccess":{}}', bodies }
}
