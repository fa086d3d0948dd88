/** `npm run bench:reads`: fills embedded log stores with entries and measures their reads. `-- --help` tells what it can do. */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { EntryFilter, FlowFilter, LogStore } from '../../shared/log-store/log-store.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import { table, whole } from '../numbers.ts'
import { END_MS, middleFlow, projectId, records, TEAM, WORDS } from './records.ts'

const HELP = `npm run bench:reads -- [OPTIONS]

Fills an embedded log store with entries of 30 days, of both kinds and with their flows, and prints the times of its reads.

  --entries N      Default 100000.
  --runs N         How often each read is made, one at a time. Default 50; slow ones are made less often, five times at least.
  --root DIR       A checkout to compare with: its store is filled and read in turns with that of this one.
  --directory DIR  Keeps the stores there, and takes those that a run with as many entries left. Default: a folder that is removed.
`

const DAY_MS = 86_400_000
const BATCH_ENTRIES = 500
const RUNS_MIN = 5
/** Time for the runs of one read. */
const READ_MS_MAX = 20_000
const HERE = resolve(import.meta.dirname, '../..')

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '50' },
    root: { type: 'string' },
    directory: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

/** The store of a checkout, filled by the projections of the checkout. */
interface Side {
  readonly name: string
  readonly file: string
  readonly store: LogStore
  /** Returns how many CPU seconds the store took. */
  fill(batch: readonly EntryRecord[]): Promise<number>
}

async function openSide(name: string, root: string, directory: string): Promise<Side> {
  const load = (path: string) => import(pathToFileURL(join(root, path)).href)
  const { createSqliteLogStore } = await load('shared/log-store/sqlite/sqlite-log-store.ts')
  const { applicationLogDocument, eventLogDocument } = await load('consumers/projections/entries.ts')
  const { flowFact, foldFlows } = await load('consumers/projections/flows.ts')
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'logs.db')
  const store: LogStore = await createSqliteLogStore({ file, thread: 'same', logger: console })
  const { signal } = new AbortController()
  const fill = async (batch: readonly EntryRecord[]): Promise<number> => {
    const documents = batch.map((one) =>
      (one.kind === 'event' ? eventLogDocument : applicationLogDocument)(one, JSON.stringify(one)),
    )
    const flows = foldFlows(batch.map(flowFact).filter((fact) => fact !== null))
    const start = process.cpuUsage()
    await store.write(documents, signal)
    await store.mergeFlows(flows, signal)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1_000_000
  }
  return { name, file, store, fill }
}

/** Fills the stores in turns, batch by batch. Returns the CPU seconds that each took. */
async function fillAll(sides: readonly Side[], entries: number): Promise<readonly number[]> {
  const took = sides.map(() => 0)
  const flush = async (batch: readonly EntryRecord[]): Promise<void> => {
    for (const [index, side] of sides.entries()) took[index] = (took[index] ?? 0) + (await side.fill(batch))
  }
  let batch: EntryRecord[] = []
  for (const record of records(entries)) {
    batch.push(record)
    if (batch.length < BATCH_ENTRIES) continue
    await flush(batch)
    batch = []
  }
  await flush(batch)
  return took
}

type Read = readonly [name: string, read: (store: LogStore) => Promise<unknown>]

const filterOf = (query: string, fields: Partial<EntryFilter> = {}): EntryFilter => ({
  ...NO_CONDITION,
  kinds: [],
  query: parseQuery(query).query,
  levelMin: null,
  levelMax: null,
  correlationKey: null,
  category: null,
  template: null,
  exceptionGroup: null,
  ...fields,
})

const NO_CONDITION = { team: TEAM, from: null, to: null, environment: null, event: null, step: null, project: null }

/** A range that begins and ends within a minute, as those of people do. */
const last = (days: number) => ({
  from: timestampOf(END_MS - days * DAY_MS + 12_345),
  to: timestampOf(END_MS - 7_654),
})

const TENANT = { field: 'scope', path: 'tenant' } as const
const GROUP_LIMITS = { groupsMax: 50, bucketsMax: 24 }
const P95 = { fn: 'p95', of: { field: 'scope', path: 'ms' }, by: null, seriesMax: 5, bucketsMax: 80 } as const

function readsOf(entries: number): readonly Read[] {
  const list =
    (query: string, fields: Partial<EntryFilter> = {}) =>
    (store: LogStore) =>
      store.search(filterOf(query, fields), { limit: 100, order: 'desc', after: null, form: 'row' })
  const histogram =
    (query: string, fields: Partial<EntryFilter> = {}) =>
    (store: LogStore) =>
      store.histogram(filterOf(query, fields), 80)
  const facets =
    (query: string, fields: Partial<EntryFilter> = {}) =>
    (store: LogStore) =>
      store.facets(filterOf(query, fields), 20)
  const flows: FlowFilter = { ...NO_CONDITION, keyPart: null, levelMin: null, state: null }
  const ofProject = { project: projectId(3) }
  return [
    ['list', list('')],
    ['common word', list(WORDS.common)],
    ['rare word', list(WORDS.rare)],
    ['no match', list(WORDS.none)],
    ['phrase', list('"connection refused by provider"')],
    ['field', list('scope.tenant:tenant-7 level:error')],
    ['number comparison', list('scope.ms:>990', { kinds: ['application'] })],
    ['histogram', histogram('')],
    ['histogram of a day', histogram('', last(1))],
    ['histogram of a Project, 30 days', histogram('', { ...ofProject, ...last(30) })],
    ['histogram of a Project, a day', histogram('', { ...ofProject, ...last(1) })],
    ['histogram of a common word', histogram(WORDS.common)],
    ['facets', facets('')],
    ['facets of 30 days', facets('', last(30))],
    ['facets of errors, 7 days', facets('level:error', last(7))],
    ['facets of a common word', facets(WORDS.common)],
    ['groups of a scope value, 7 days', (store) => store.groups(filterOf('', last(7)), TENANT, GROUP_LIMITS)],
    ['p95 of a number, 7 days', (store) => store.series(filterOf('', last(7)), P95)],
    [
      'p95 of a number by a scope value, 7 days',
      (store) => store.series(filterOf('', last(7)), { ...P95, by: TENANT }),
    ],
    ['one flow', (store) => store.flow(TEAM, middleFlow(entries))],
    ['list of flows', (store) => store.searchFlows(flows, { limit: 50, sort: 'latest', after: null })],
    [
      'list of flows of a Project',
      (store) => store.searchFlows({ ...flows, ...ofProject }, { limit: 50, sort: 'latest', after: null }),
    ],
    [
      'flows by part of a key',
      (store) => store.searchFlows({ ...flows, keyPart: '00007' }, { limit: 50, sort: 'latest', after: null }),
    ],
  ]
}

/** The times of one read on each side, in turns, sorted, in milliseconds. The answers have to be alike. */
async function measure(sides: readonly Side[], [name, read]: Read, runs: number): Promise<readonly number[][]> {
  const times = sides.map((): number[] => [])
  const start = performance.now()
  for (let run = 0; run < runs && (run < RUNS_MIN || performance.now() - start < READ_MS_MAX); run += 1) {
    const answers: string[] = []
    for (const [index, { store }] of sides.entries()) {
      const begin = performance.now()
      const answer = await read(store)
      times[index]?.push(performance.now() - begin)
      answers.push(JSON.stringify(answer))
    }
    if (new Set(answers).size > 1) throw new Error(`the stores answer differently: ${name}`)
  }
  return times.map((some) => some.sort((a, b) => a - b))
}

const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(1)

async function main(): Promise<void> {
  const [entries, runs] = [Number(values.entries), Number(values.runs)]
  if (values.help || !(entries >= 1 && runs >= 1)) {
    process.stdout.write(HELP)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'sluice-reads-'))
  try {
    const sides = [await openSide('this', HERE, join(directory, 'this'))]
    if (values.root !== undefined)
      sides.unshift(await openSide('compared', resolve(values.root), join(directory, 'compared')))
    process.stdout.write(await run(sides, entries, runs))
    for (const { store } of sides) await store.close()
  } finally {
    if (values.directory === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

async function run(sides: readonly Side[], entries: number, runs: number): Promise<string> {
  const load = loadavg()[0]?.toFixed(1)
  const held = await Promise.all(sides.map(({ store }) => store.count(filterOf(''))))
  const isFilled = held.every((count) => count === entries)
  if (!isFilled && held.some((count) => count > 0))
    throw new Error('the folder has stores of another number of entries')
  const took = isFilled ? null : await fillAll(sides, entries)
  const rows: string[][] = []
  for (const read of readsOf(entries)) {
    const times = await measure(sides, read, runs)
    rows.push([read[0], ...times.flatMap((sorted) => [at(sorted, 0.5), at(sorted, 0.99)])])
  }
  if (took !== null)
    rows.push(['entries written a CPU second', ...took.flatMap((seconds) => [whole(entries / seconds), ''])])
  const bytes = sides.map(({ file }) => statSync(file).size / entries)
  rows.push(['bytes an entry', ...bytes.flatMap((size) => [whole(size), ''])])
  const head = ['read, ms', ...sides.flatMap(({ name }) => [`${name} p50`, 'p99'])]
  return `${table(head, rows)}\n${whole(entries)} entries; ${cpus().length} cores, Node ${process.versions.node}, load average before ${load}.\n`
}

await main()
