import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import {
  attempt,
  inPath,
  prepareGo,
  prepareInstalled,
  prepareJava,
  preparePython,
  prepareRust,
  type Toolchain,
} from '../support/toolchains.ts'

/** An entry as it has to be stored. */
export interface Stored {
  readonly message: string
  readonly level: string
  readonly categoryName: string
  readonly correlationKey: string | null
  readonly exception: string | null
  readonly scopeData: unknown
}

/** By the names that clients have for them. */
export type Toolchains = Readonly<Record<string, Toolchain>>

/** A client of the matrix. It runs as its page in docs/clients says. */
export interface ForeignClient {
  readonly name: string
  readonly toolchain: string
  /** Names the script of its page; its own name unless it is told. Null: its page has a file, which the command names. */
  readonly script?: string | null
  /** Shell text before the script: an application that writes a file, or starts in the background. */
  readonly before?: string
  /** The application, where the script only prepares its environment. */
  readonly command?: string
  /** The levels of entries 0, 1, ..: they come round again. */
  readonly levels: readonly string[]
  /** Differences from the entries that most clients write. */
  readonly stored?: (n: number, run: string) => Partial<Stored>
  /** Texts of the exception that every fiftieth entry has. */
  readonly exception: readonly string[]
  /** The entries that it delivers through an outage of 6 s, by its own retries; undefined: it ends before. */
  readonly outage?: 'all' | 'some'
  /** Goes on until it is told to end. */
  readonly stays?: true
}

const FIVE = ['Debug', 'Information', 'Warning', 'Error', 'Critical']
const FIVE_FROM_TRACE = ['Trace', 'Debug', 'Information', 'Warning', 'Error']
const SIX = ['Trace', 'Debug', 'Information', 'Warning', 'Error', 'Critical']
const PYTHON_TRACE = ['Traceback', 'ValueError: below \\d', 'RuntimeError: no \\d']
const JAVA_TRACE = ['IllegalStateException: no \\d', 'at ', 'Caused by: java.lang.IllegalArgumentException: below \\d']
const NODE_TRACE = ['TypeError: no \\d', ' at ']

const PYTHON = { toolchain: 'python', levels: FIVE, exception: PYTHON_TRACE } as const
const GO = {
  toolchain: 'go',
  levels: FIVE.slice(0, 4),
  exception: ['no \\d+: below \\d+'],
  // It has no correlation key of its own, but a trace.
  stored: (n: number) => ({ correlationKey: `01${'0'.repeat(29)}${n % 10}` }),
} as const
const JAVA = { toolchain: 'java', levels: FIVE_FROM_TRACE, exception: JAVA_TRACE } as const
const NODE = { toolchain: 'node', levels: SIX, exception: NODE_TRACE } as const
/** Its severest level is error. */
const WINSTON = { ...NODE, script: null, levels: FIVE_FROM_TRACE, outage: 'some' } as const

const SHIPPER = { script: null, stays: true, outage: 'all' } as const

const instrumented = 'opentelemetry-instrument python3 "$CLIENTS/python/app.py"'
const node = (program: string, ...args: readonly string[]): string =>
  `node --disable-warning=ExperimentalWarning "$CLIENTS/node/${program}" ${args.join(' ')}`
const collected = (file: string): string => `otelcol --config "file:$CLIENTS/collector/${file}" &
until (: > "/dev/tcp/127.0.0.1/$COLLECTOR_PORT") 2> /dev/null; do sleep 0.1; done
export OTEL_SERVICE_NAME='Checkout API' OTEL_EXPORTER_OTLP_LOGS_ENDPOINT="http://127.0.0.1:$COLLECTOR_PORT/v1/logs"
app http
wait`
const SYSLOG_NG = `export LOG_SOCKET="$PWD/log" PYTHONPATH="$CLIENTS/python"
syslog-ng -F --no-caps -f "$CLIENTS/syslog-ng/syslog-ng.conf" -R ./persist -c ./control -p ./pid &
until test -S log; do sleep 0.1; done
python3 "$CLIENTS/syslog-ng/to_syslog.py"
wait`
const DOCKER = `export CONTAINER_LOGS="$PWD/*-json.log"
python3 "$CLIENTS/python/with_json_logger.py" | python3 "$CLIENTS/fluent-bit/as_docker.py" > app-json.log &
exec fluent-bit --quiet --config "$CLIENTS/fluent-bit/docker.yaml"`
const FLUENT_BIT = `python3 "$CLIENTS/python/with_json_logger.py" > app.log &
exec fluent-bit --quiet --config "$CLIENTS/fluent-bit/fluent-bit.yaml"`

/** Clients of other languages, and shippers. */
export const CLIENTS: readonly ForeignClient[] = [
  { name: 'python-otlp-http', ...PYTHON, command: instrumented, outage: 'all' },
  { name: 'python-otlp-grpc', ...PYTHON, command: instrumented, outage: 'some' },
  {
    name: 'python-seqlog',
    ...PYTHON,
    script: null,
    command: 'python3 "$CLIENTS/python/with_seqlog.py"',
    outage: 'some',
  },
  {
    name: 'python-requests',
    ...PYTHON,
    script: null,
    command: 'python3 "$CLIENTS/python/with_requests.py"',
    outage: 'all',
  },
  {
    name: 'python-json-logger',
    ...PYTHON,
    script: 'curl',
    before: 'python3 "$CLIENTS/python/with_json_logger.py" > app.log',
  },
  { name: 'go-otlp-http', ...GO, command: 'app http', outage: 'some' },
  { name: 'go-otlp-grpc', ...GO, command: 'app grpc', outage: 'some' },
  { name: 'java-otlp-http', ...JAVA, command: 'java WithLogback', outage: 'all' },
  { name: 'java-otlp-grpc', ...JAVA, command: 'java WithLogback', outage: 'all' },
  {
    name: 'java-log4j2',
    ...JAVA,
    script: null,
    command: 'java WithLog4j',
    // The thread context holds texts.
    stored: (n) => ({ scopeData: { order: String(n), ok: 'true', ratio: '0.5' } }),
    outage: 'some',
  },
  {
    name: 'java-logstash-encoder',
    ...JAVA,
    script: 'curl',
    before: 'java -Dotel.sdk.disabled=true -Dlogback.configurationFile=logback-json.xml WithLogback > app.log',
  },
  {
    name: 'rust-otlp-http',
    toolchain: 'rust',
    command: 'sluice-client',
    levels: FIVE_FROM_TRACE,
    exception: ['no \\d', 'below \\d'],
    stored: () => ({ categoryName: 'shop::checkout' }),
    outage: 'some',
  },
  { name: 'collector-http', ...SHIPPER, ...GO, toolchain: 'collector', command: collected('collector.yaml') },
  { name: 'collector-grpc', ...SHIPPER, ...GO, toolchain: 'collector', command: collected('collector-grpc.yaml') },
  {
    name: 'syslog-ng',
    ...SHIPPER,
    toolchain: 'syslog-ng',
    command: SYSLOG_NG,
    levels: FIVE,
    exception: [],
    stored: () => ({ correlationKey: null, scopeData: {} }),
  },
  { name: 'docker', ...SHIPPER, ...PYTHON, toolchain: 'fluent-bit', command: DOCKER },
  { name: 'fluent-bit', ...SHIPPER, ...PYTHON, toolchain: 'fluent-bit', command: FLUENT_BIT },
]

/** Clients that the registry of npm has. */
export const NODE_CLIENTS: readonly ForeignClient[] = [
  {
    name: 'node-otlp-json',
    ...NODE,
    script: 'node-otlp-protobuf',
    command: node('with-otlp.ts', 'http/json'),
    outage: 'all',
  },
  { name: 'node-otlp-protobuf', ...NODE, command: node('with-otlp.ts', 'http/protobuf'), outage: 'all' },
  { name: 'node-otlp-grpc', ...NODE, command: node('with-otlp.ts', 'grpc'), outage: 'some' },
  { name: 'node-pino-opentelemetry', ...NODE, command: node('with-pino-opentelemetry.ts'), outage: 'all' },
  {
    name: 'node-pino-seq',
    ...NODE,
    script: null,
    command: node('with-pino-seq.ts'),
    // Seq's transport does not take pino's `name` for a category.
    stored: () => ({ categoryName: 'Checkout API' }),
    outage: 'some',
  },
  { name: 'node-winston-seq', ...WINSTON, command: node('with-winston-seq.ts') },
  { name: 'node-seq-logging', ...NODE, script: null, command: node('with-seq-logging.ts'), outage: 'some' },
  { name: 'node-winston-http', ...WINSTON, command: node('with-winston-http.ts') },
]

/** Scripts of docs/clients that show what has arrived. */
export const LOOKS = ['newest', 'refusals'] as const

/** The entry number n of a client, as it has to be stored. */
export function storedOf({ levels, exception, stored }: ForeignClient, run: string, n: number): Stored {
  const fails = n % 50 === 49
  return {
    message: `${run} ${n}: Größe 漢字 😀`,
    level: fails ? 'Error' : (levels[n % levels.length] ?? ''),
    categoryName: 'shop.checkout',
    correlationKey: `${run}-${n % 10}`,
    exception:
      fails && exception.length > 0
        ? (expect.stringMatching(
            new RegExp(exception.map((text) => `(?=[\\s\\S]*${text})`).join('')),
          ) as unknown as string)
        : null,
    scopeData: { order: n, ok: true, ratio: 0.5 },
    ...stored?.(n, run),
  }
}

const HERE = import.meta.dirname

/** Makes the toolchains of `CLIENTS` ready, with their programs in a folder that the caller removes. */
export async function prepareToolchains(folder: string): Promise<Toolchains> {
  // One after the other: each compiler takes the whole machine.
  const python = await attempt(() => preparePython(join(HERE, 'python'), join(folder, 'python')))
  const go = await attempt(() => prepareGo(join(HERE, 'go'), join(folder, 'go'), 'app'))
  return {
    python,
    go,
    java: await attempt(() => prepareJava(join(HERE, 'java'), join(folder, 'java'))),
    rust: await attempt(() => prepareRust(join(HERE, 'rust'))),
    // Its logs come from the client in Go.
    collector:
      'missing' in go ? go : await attempt(() => prepareGo(join(HERE, 'collector'), join(folder, 'go'), 'otelcol')),
    'syslog-ng': await attempt(() => prepareInstalled('syslog-ng')),
    // Its logs come from the client in Python.
    'fluent-bit':
      'missing' in python
        ? python
        : await attempt(async () => ({ ...python.environment, ...(await prepareInstalled('fluent-bit')) })),
  }
}

/** The toolchain of `NODE_CLIENTS`: the Node that runs this. */
export const NODE_TOOLCHAIN: Toolchains = { node: { environment: inPath(dirname(process.execPath)) } }
