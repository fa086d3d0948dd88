/** `npm run bench:reads`: fills log stores with entries and measures their reads. `-- --help` lists the options. */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { table, whole } from '../numbers.ts'
import { startElasticsearch, stopServers, stopServersOnSignals } from '../stack/servers.ts'
import { openClickHouseSide } from './clickhouse-side.ts'
import { openElasticsearchSides } from './elasticsearch-side.ts'
import { type Read, readsOf } from './reads.ts'
import { records } from './records.ts'
import type { Side } from './side.ts'
import { openSqliteSide } from './sqlite-side.ts'

const HELP = `npm run bench:reads -- [OPTIONS]

Fills an embedded log store with entries of 30 days, of both kinds and with their flows, and prints the times of its reads.

  --entries N          Default 100000.
  --runs N             How often each read is made, one at a time. Default 50; slow ones are made less often, five times at least.
  --root DIR           A checkout to compare with: its store is filled and read in turns with that of this one.
  --elasticsearch      Beside it: the store on Elasticsearch, from Docker or this machine's Java, and the leanest requests by hand.
  --clickhouse PYTHON  Beside it: ClickHouse, by a Python 3 with the package chdb.
  --directory DIR      Keeps the stores of files there, and takes those that a run with as many entries left. Default: a folder that
                       is removed.
`

const BATCH_ENTRIES = 2_000
const RUNS_MIN = 5
/** Time for the runs of one read on one store. */
const READ_MS_MAX = 20_000
const HERE = resolve(import.meta.dirname, '../..')

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '50' },
    root: { type: 'string' },
    elasticsearch: { type: 'boolean', default: false },
    clickhouse: { type: 'string' },
    directory: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

stopServersOnSignals()

async function main(): Promise<void> {
  const [entries, runs] = [Number(values.entries), Number(values.runs)]
  if (values.help || !(entries >= 1 && runs >= 1)) {
    process.stdout.write(HELP)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'sluice-reads-'))
  const sides: Side[] = []
  try {
    const { root, clickhouse } = values
    if (root !== undefined) sides.push(await openSqliteSide('compared', resolve(root), join(directory, 'compared')))
    sides.push(await openSqliteSide('embedded', HERE, join(directory, 'this')))
    if (clickhouse !== undefined)
      sides.push(await openClickHouseSide(clickhouse, join(directory, 'clickhouse'), entries))
    if (values.elasticsearch)
      sides.push(...(await openElasticsearchSides((await startElasticsearch()).address, entries)))
    process.stdout.write(await run(sides, entries, runs))
  } finally {
    for (const side of sides) await side.close()
    await stopServers()
    if (values.directory === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

async function run(sides: readonly Side[], entries: number, runs: number): Promise<string> {
  const load = loadavg()[0]?.toFixed(1)
  const took = await fillAll(sides, entries)
  const rows: string[][] = []
  const differences: string[] = []
  for (const read of readsOf(entries)) {
    const { times, sizes } = await measure(sides, read, runs)
    rows.push([read.name, ...times.flatMap((sorted) => [at(sorted, 0.5), at(sorted, 0.99)])])
    if (new Set(sizes.filter((size) => size !== null)).size > 1) differences.push(`${read.name}: ${sizes.join(', ')}`)
  }
  const written = took.map((seconds) => (seconds === null ? '–' : whole(entries / seconds)))
  rows.push(['entries written a CPU second', ...written.flatMap((text) => [text, ''])])
  const bytes = await Promise.all(sides.map((side) => side.bytes()))
  rows.push(['bytes an entry', ...bytes.flatMap((size) => [whole(size / entries), ''])])
  const head = ['read, ms', ...sides.flatMap(({ name }) => [`${name} p50`, 'p99'])]
  const found = differences.length === 0 ? '' : `Answers of different sizes: ${differences.join('; ')}.\n`
  return `${table(head, rows)}\n${whole(entries)} entries; ${cpus().length} cores, Node ${process.versions.node}, load average before ${load}.\n${found}`
}

/** Fills the empty stores, batch by batch in turns. Returns the CPU seconds of each; null where they are not known. */
async function fillAll(sides: readonly Side[], entries: number): Promise<readonly (number | null)[]> {
  const held = await Promise.all(sides.map((side) => side.held()))
  if (held.some((count) => count !== 0 && count !== entries))
    throw new Error('the folder has stores of another number of entries')
  const took = held.map((count): number | null => (count === 0 ? 0 : null))
  const flush = async (batch: readonly EntryRecord[]): Promise<void> => {
    for (const [index, side] of sides.entries()) {
      if (held[index] !== 0) continue
      const seconds = await side.fill(batch)
      took[index] = seconds === null ? null : (took[index] ?? 0) + seconds
    }
  }
  let batch: EntryRecord[] = []
  for (const record of held.every((count) => count > 0) ? [] : records(entries)) {
    batch.push(record)
    if (batch.length < BATCH_ENTRIES) continue
    await flush(batch)
    batch = []
  }
  await flush(batch)
  for (const side of sides) await side.settle()
  return took
}

interface Measured {
  /** Of each side, sorted, in milliseconds; empty where the side has no such read. */
  readonly times: readonly number[][]
  readonly sizes: readonly (number | null)[]
}

/** Makes one read on each side in turns. */
async function measure(sides: readonly Side[], read: Read, runs: number): Promise<Measured> {
  const times = sides.map((): number[] => [])
  const sizes = sides.map((): number | null => null)
  const start = performance.now()
  const isTime = () => performance.now() - start < READ_MS_MAX * sides.length
  for (let run = 0; run < runs && (run < RUNS_MIN || isTime()); run += 1) {
    for (const [index, side] of sides.entries()) {
      const timed = await side.read(read)
      if (timed === null) continue
      times[index]?.push(timed.ms)
      sizes[index] = timed.size
    }
  }
  return { times: times.map((some) => some.sort((a, b) => a - b)), sizes }
}

const at = (sorted: readonly number[], share: number): string =>
  sorted[Math.ceil(sorted.length * share) - 1]?.toFixed(1) ?? '–'

await main()
