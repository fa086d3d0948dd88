/**
 * `npm run bench`: measures embedded Sluice and the floor, in one run, and writes its section of docs/performance.md. Absolute figures
 * depend on the machine; the ratios are meaningful. See `-- --help`.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { API_KEY, batchBodies, singleBodies } from './entries.ts'
import { type LoadResult, runLoad } from './load.ts'
import { type MeasuredProcess, startIn, startMeasured, startSluice } from './measured-process.ts'
import { type Round, render } from './report.ts'
import { drained, histogramQuantile, metrics } from './scrape.ts'
import { writeSection } from './sections.ts'

const HELP = `npm run bench -- [--quick]

Measures the embedded mode beside the floor, in a quarter of an hour, and writes its section of docs/performance.md.

  --quick  Little of everything, in a minute; only printed.
`

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
})
const { quick } = values
if (values.help) {
  process.stdout.write(HELP)
  process.exit()
}
const SECONDS = quick ? 3 : 5
const ROUNDS = quick ? 1 : 5

/** Threads of the embedded process that ingest entries; the others index and answer queries. */
const INGEST_THREADS = ['MainThread', 'journal']

const WORKLOADS = [
  { name: 'single', entries: 1, connections: 64, bodies: singleBodies(500), path: '/api/ApplicationLogs' },
  { name: 'batch of 100', entries: 100, connections: 16, bodies: batchBodies(10), path: '/api/ApplicationLogs/batch' },
] as const

type Workload = (typeof WORKLOADS)[number]

const startFloor = (): Promise<MeasuredProcess> =>
  startIn((folder) => startMeasured([join(import.meta.dirname, 'floor.ts'), join(folder, 'floor.db')], {}))

const load = (
  target: MeasuredProcess,
  workload: Workload,
  options: { seconds?: number; rate?: number; connections?: number } = {},
) =>
  runLoad({
    url: target.url + workload.path,
    bodies: workload.bodies,
    headers: { 'x-api-key': API_KEY },
    connections: workload.connections,
    seconds: SECONDS,
    ...options,
  })

/** A saturating load: the cost of ingestion up to the last response, and the total cost including indexing. */
async function saturate(target: MeasuredProcess, workload: Workload, settle: () => Promise<void>) {
  await load(target, workload, { seconds: 2 })
  await settle()
  const before = target.cpuSeconds()
  const threadsBefore = target.cpuSecondsByThread()
  const result = await load(target, workload)
  const threads = target.cpuSecondsByThread()
  await settle()
  const ingest = INGEST_THREADS.reduce((sum, name) => sum + (threads[name] ?? 0) - (threadsBefore[name] ?? 0), 0)
  return { result, cpu: target.cpuSeconds() - before, ingest, entries: result.answered * workload.entries }
}

async function measureWorkload(workload: Workload): Promise<Round> {
  const floor = await startFloor()
  const floorRun = await saturate(floor, workload, async () => {})
  await floor.stop()

  const sluice = await startSluice([], {})
  const settle = () => drained(sluice.url)
  const run = await saturate(sluice, workload, settle)
  const steady = await load(sluice, workload, { rate: Math.max(1, Math.round(run.result.requestsPerSecond * 0.7)) })
  await settle()
  const peakMiB = sluice.memory().peakMiB
  await sluice.stop()
  return { workload: workload.name, floor: floorRun, sluice: run, steady, peakMiB }
}

/** Latency at the rate stated in the goals, and how soon an entry is searchable at half load. */
async function measureLatency(): Promise<{ modest: LoadResult; searchableP99Ms: number }> {
  const [single] = WORKLOADS
  const sluice = await startSluice([], {})
  await load(sluice, single, { seconds: 2, rate: 1_000 })
  const modest = await load(sluice, single, { rate: 1_000 })
  const before = await metrics(sluice.url)
  const probe = await load(sluice, single, { seconds: 3 })
  await drained(sluice.url)
  const half = await metrics(sluice.url)
  await load(sluice, single, { rate: Math.round(probe.requestsPerSecond / 2) })
  await drained(sluice.url)
  const after = await metrics(sluice.url)
  await sluice.stop()
  if (before.length === 0) throw new Error('no metrics were scraped')
  return { modest, searchableP99Ms: 1000 * histogramQuantile(0.99, 'sluice_consumer_searchable_seconds', half, after) }
}

/** Twice the sustainable load, on too many connections: memory after a third of the time and at the end. */
async function measureOverload(): Promise<{ earlyMiB: number; lateMiB: number; result: LoadResult }> {
  const [, batch] = WORKLOADS
  const sluice = await startSluice([], {})
  const capacity = await load(sluice, batch, { seconds: 3 })
  const rate = Math.round(capacity.requestsPerSecond * 2)
  await load(sluice, batch, { rate, connections: 128 })
  const earlyMiB = sluice.memory().nowMiB
  const result = await load(sluice, batch, { rate, connections: 128, seconds: SECONDS * 2 })
  const lateMiB = sluice.memory().nowMiB
  await sluice.stop()
  return { earlyMiB, lateMiB, result }
}

const rounds: Round[] = []
for (let round = 0; round < ROUNDS; round++)
  for (const workload of WORKLOADS) rounds.push(await measureWorkload(workload))
const report = render({
  rounds,
  latency: await measureLatency(),
  overload: await measureOverload(),
  seconds: SECONDS,
})
process.stdout.write(report)
if (!quick) writeSection(join(import.meta.dirname, '../docs/performance.md'), 'Embedded mode', report)
