import { median, ratio, table, whole } from '../numbers.ts'
import type { Counts, Saturation, Steady } from './gateway.ts'
import { type Goal, renderGoals } from './goals.ts'
import { BATCH, SINGLE } from './programs.ts'

export interface GatewayResults {
  readonly saturations: readonly Saturation[]
  readonly steadies: readonly Steady[]
  /** Single requests per second of the steady runs. */
  readonly rate: number
  /** Further remarks, such as a program that could not be measured. */
  readonly notes: readonly string[]
}

const SINGLE_GOAL = 28_000
const BATCH_GOAL = 115_000
const P50_GOAL_MS = 1.5
const P99_GOAL_MS = 25

const of = <Run>(runs: readonly Run[], pick: (run: Run) => number): number => median(runs.map(pick))

export function renderGateway(results: GatewayResults): string {
  const { saturations, steadies, rate, notes } = results
  const workloads = [...new Set(saturations.map(({ workload }) => workload))]
  const programs = [...new Set(saturations.map(({ program }) => program))]
  const rows = workloads.flatMap((workload) =>
    programs.flatMap((program) => {
      const runs = saturations.filter((run) => run.workload === workload && run.program === program)
      const floor = saturations.filter((run) => run.workload === workload && run.program === 'floor')
      return runs.length === 0 ? [] : [saturationRow(workload, program, runs, floor)]
    }),
  )
  const latencies = [...new Set(steadies.map(({ program }) => program))].map((program) =>
    steadyRow(
      program,
      steadies.filter((run) => run.program === program),
    ),
  )
  return `The real gateway (\`--role gateway\`) on one broker, acks=all, entries of about 1 KB, keys and payloads checked. The **floor** is bare
\`node:http\` with the Kafka library's producer, the same batching and acks, which parses and serialises each entry and checks nothing
(\`bench/stack/floor.ts\`). Every run is a fresh process on a fresh topic of 12 partitions. **In the topic** counts the records there after
the run; it has to equal what was acknowledged. CPU is that of the whole process, user and system.

${renderGoals(goalsOf(results))}
As hard as the connections can:

${table(SATURATION_HEAD, rows)}
${whole(rate)} single requests offered a second, latency from when each was due:

${table(STEADY_HEAD, latencies)}${notes.map((note) => `\n${note}\n`).join('')}`
}

/** The programs compared with the Collector, by CPU. */
export function renderOtlp(saturations: readonly Saturation[], notes: readonly string[]): string {
  // The Collector variant that keeps as much of a record.
  const peers = saturations.filter(({ program }) => program.endsWith('records'))
  const rows = [...Map.groupBy(saturations, ({ workload, program }) => JSON.stringify([workload, program])).values()]
  const cells = rows.map((runs) => {
    const { workload = '', program = '' } = runs[0] ?? {}
    return saturationRow(
      workload,
      program,
      runs,
      peers.filter((peer) => peer.workload === workload),
    )
  })
  return `The real gateway (\`--role gateway\`) on one broker, acks=all, requests of OTLP/HTTP in Protobuf as SDKs send them: records of about 700 bytes
with six attributes. The Collector writes a message a record, too: one row with whole **records**, which is what Sluice is compared with, and
one with the text of their **bodies** and nothing else of them.

${table(SATURATION_HEAD.with(4, 'of the Collector'), cells)}${notes.map((note) => `\n${note}\n`).join('')}`
}

function goalsOf({ saturations, steadies, rate }: GatewayResults): readonly Goal[] {
  const ours = saturations.filter(({ program }) => program === 'Sluice')
  const perCpuSecond = (workload: string, wanted: number): readonly Goal[] => {
    const runs = ours.filter((run) => run.workload === workload)
    if (runs.length === 0) return []
    const reached = of(runs, ({ entriesPerCpuSecond }) => entriesPerCpuSecond)
    const name = `${workload}: entries per gateway CPU-second`
    return [{ name, wanted: `at least ${whole(wanted)}`, reached: whole(reached), met: reached >= wanted }]
  }
  const steady = steadies.filter(({ program }) => program === 'Sluice')
  const p50 = of(steady, ({ p50Ms }) => p50Ms)
  const p99 = of(steady, ({ p99Ms }) => p99Ms)
  const counts = [...saturations, ...steadies].map((run) => run.counts)
  return [
    ...perCpuSecond(SINGLE.name, SINGLE_GOAL),
    ...perCpuSecond(BATCH.name, BATCH_GOAL),
    {
      name: `p50 / p99 at ${whole(rate)} single requests/s`,
      wanted: `at most ${P50_GOAL_MS} / ${P99_GOAL_MS} ms`,
      reached: `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`,
      met: p50 <= P50_GOAL_MS && p99 <= P99_GOAL_MS,
    },
    {
      name: 'acknowledged = in the topic, in every run of every program',
      wanted: 'equal',
      reached: `${counts.filter(isExact).length} of ${counts.length} runs`,
      met: counts.every(isExact),
    },
  ]
}

export const isExact = ({ acknowledged, inTopic }: Counts): boolean => acknowledged === inTopic

const SATURATION_HEAD = [
  'workload',
  'program',
  'entries/s',
  'entries per CPU-s',
  'of the floor',
  'broker CPU ms per 1,000',
  'entries a produce request',
  'bytes an entry on the topic',
  'peak MiB',
  'acknowledged',
  'in the topic',
  'failed',
]

const STEADY_HEAD = ['program', 'p50 / p99 ms', 'CPU ms a request', 'acknowledged', 'in the topic', 'failed']

const saturationRow = (
  workload: string,
  program: string,
  runs: readonly Saturation[],
  floor: readonly Saturation[],
): readonly string[] => {
  const rate = (each: readonly Saturation[]): number => of(each, ({ entriesPerCpuSecond }) => entriesPerCpuSecond)
  const perSend = runs.flatMap(({ entriesPerSend }) => entriesPerSend ?? [])
  const broker = of(runs, ({ brokerMsPerThousand }) => brokerMsPerThousand)
  return [
    workload,
    program,
    whole(of(runs, ({ entriesPerSecond }) => entriesPerSecond)),
    whole(rate(runs)),
    floor.length === 0 ? '' : ratio(rate(runs) / rate(floor)),
    Number.isNaN(broker) ? 'not counted' : broker.toFixed(1),
    perSend.length === 0 ? 'not counted' : whole(median(perSend)),
    whole(of(runs, ({ counts }) => counts.topicBytes / counts.inTopic)),
    whole(of(runs, ({ peakMiB }) => peakMiB)),
    ...countCells(runs),
  ]
}

const steadyRow = (program: string, runs: readonly Steady[]): readonly string[] => [
  program,
  `${of(runs, ({ p50Ms }) => p50Ms).toFixed(1)} / ${of(runs, ({ p99Ms }) => p99Ms).toFixed(1)}`,
  of(runs, ({ cpuMsPerRequest }) => cpuMsPerRequest).toFixed(3),
  ...countCells(runs),
]

const countCells = (runs: readonly { readonly counts: Counts }[]): readonly string[] => {
  const sum = (pick: (counts: Counts) => number): string =>
    whole(runs.reduce((total, { counts }) => total + pick(counts), 0))
  return [sum(({ acknowledged }) => acknowledged), sum(({ inTopic }) => inTopic), sum(({ failed }) => failed)]
}
