import { median, ratio, table, whole } from '../numbers.ts'
import type { Counts, Saturation, Steady } from './gateway.ts'

export interface GatewayResults {
  readonly saturations: readonly Saturation[]
  readonly steadies: readonly Steady[]
  readonly rate: number
}

const of = <Run>(runs: readonly Run[], pick: (run: Run) => number): number => median(runs.map(pick))

export function renderGateway({ saturations, steadies, rate }: GatewayResults): string {
  const workloads = [...new Set(saturations.map(({ workload }) => workload))]
  const programs = [...new Set(saturations.map(({ program }) => program))]
  const rows = workloads.flatMap((workload) =>
    programs.flatMap((program) => {
      const runs = saturations.filter((run) => run.workload === workload && run.program === program)
      const floor = saturations.filter((run) => run.workload === workload && run.program === 'floor')
      return runs.length === 0 ? [] : [saturationRow(workload, program, runs, floor)]
    }),
  )
  const latencies = [...new Set(steadies.map(({ program }) => program))].map((program) => {
    const runs = steadies.filter((run) => run.program === program)
    return [
      program,
      `${of(runs, ({ p50Ms }) => p50Ms).toFixed(1)} / ${of(runs, ({ p99Ms }) => p99Ms).toFixed(1)}`,
      of(runs, ({ cpuMsPerRequest }) => cpuMsPerRequest).toFixed(3),
      ...countCells(runs),
    ]
  })
  return `${table(SATURATION_HEAD, rows)}
${whole(rate)} single requests offered a second, latency from when a request was due:

${table(STEADY_HEAD, latencies)}`
}

const SATURATION_HEAD = [
  'workload',
  'program',
  'entries/s',
  'entries per CPU-s',
  'of the floor',
  'broker CPU ms per 1,000',
  'entries a produce request',
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
  return [
    workload,
    program,
    whole(of(runs, ({ entriesPerSecond }) => entriesPerSecond)),
    whole(rate(runs)),
    floor.length === 0 ? '' : ratio(rate(runs) / rate(floor)),
    of(runs, ({ brokerMsPerThousand }) => brokerMsPerThousand).toFixed(1),
    perSend.length === 0 ? 'not counted' : whole(median(perSend)),
    whole(of(runs, ({ peakMiB }) => peakMiB)),
    ...countCells(runs),
  ]
}

const countCells = (runs: readonly { readonly counts: Counts }[]): readonly string[] => {
  const sum = (pick: (counts: Counts) => number): string =>
    whole(runs.reduce((total, { counts }) => total + pick(counts), 0))
  return [sum(({ acknowledged }) => acknowledged), sum(({ inTopic }) => inTopic), sum(({ failed }) => failed)]
}
