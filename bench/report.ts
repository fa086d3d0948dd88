import { cpus } from 'node:os'
import type { LoadResult } from './load.ts'
import { median, ratio, table, whole } from './numbers.ts'

interface Saturation {
  readonly result: LoadResult
  /** CPU seconds of the whole process until all work was done, and of its ingest threads until the last response. */
  readonly cpu: number
  readonly ingest: number
  readonly entries: number
}

export interface Round {
  readonly workload: string
  readonly floor: Saturation
  readonly sluice: Saturation
  readonly steady: LoadResult
  readonly peakMiB: number
}

export interface Report {
  readonly rounds: readonly Round[]
  readonly latency: { readonly modest: LoadResult; readonly searchableP99Ms: number }
  readonly overload: { readonly earlyMiB: number; readonly lateMiB: number; readonly result: LoadResult }
  readonly seconds: number
}

const ingestRate = ({ entries, ingest }: Saturation): number => entries / ingest
const fullRate = ({ entries, cpu }: Saturation): number => entries / cpu

const HEAD = [
  'workload',
  'entries/s',
  'floor entries/s',
  'entries per CPU-s, ingest',
  'floor',
  'ratio',
  'CPU s per 1,000, ingest',
  'CPU s per 1,000, all',
  'ratio, all',
  'p50 / p99 ms at 70 %',
  'peak MiB',
]

function row(workload: string, rounds: readonly Round[]): readonly string[] {
  const of = (pick: (round: Round) => number): number => median(rounds.map(pick))
  return [
    workload,
    whole(of(({ sluice }) => (sluice.entries / sluice.result.answered) * sluice.result.requestsPerSecond)),
    whole(of(({ floor }) => (floor.entries / floor.result.answered) * floor.result.requestsPerSecond)),
    whole(of(({ sluice }) => ingestRate(sluice))),
    whole(of(({ floor }) => ingestRate(floor))),
    ratio(of(({ sluice, floor }) => ingestRate(sluice) / ingestRate(floor))),
    ratio(of(({ sluice }) => (1000 * sluice.ingest) / sluice.entries)),
    ratio(of(({ sluice }) => (1000 * sluice.cpu) / sluice.entries)),
    ratio(of(({ sluice, floor }) => fullRate(sluice) / fullRate(floor))),
    `${of(({ steady }) => steady.p50Ms).toFixed(1)} / ${of(({ steady }) => steady.p99Ms).toFixed(1)}`,
    whole(of(({ peakMiB }) => peakMiB)),
  ]
}

export function render({ rounds, latency, overload, seconds }: Report): string {
  const workloads = [...new Set(rounds.map(({ workload }) => workload))]
  const rows = workloads.map((workload) =>
    row(
      workload,
      rounds.filter((round) => round.workload === workload),
    ),
  )
  const failed = rounds.reduce((total, { sluice, steady }) => total + sluice.result.failed + steady.failed, 0)
  return `Written by \`npm run bench\`; medians of ${rounds.length / workloads.length} round(s) of ${seconds} s, ${cpus().length} cores shared by the
program and the load, Node ${process.versions.node}. Absolute figures belong to the machine they were taken on; read the ratios.

Embedded mode, one process, entries of about 1 KB, keys and payloads checked, every answer after an fsync. The **floor** is bare
\`node:http\` that reads the body, parses it, serialises each entry and appends it to SQLite with the same fsync, without checks, keys or
index (\`bench/floor.ts\`). **Ingest** counts the threads that take an entry in and make it durable, of both programs, until the last answer; **all** adds reading the journal back,
the projections, the full-text index and the flows, until everything can be searched.

${table(HEAD, rows)}
- 1,000 single requests/s: p50 ${latency.modest.p50Ms.toFixed(1)} ms, p99 ${latency.modest.p99Ms.toFixed(1)} ms, one fsync included.
- Accepted to searchable at half load: p99 at most ${whole(latency.searchableP99Ms)} ms.
- Twice the load it can take, 128 connections: ${overload.earlyMiB} MiB after ${seconds} s, ${overload.lateMiB} MiB after ${3 * seconds} s.
- Failed requests in all rounds: ${failed}.
`
}
