import { statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { COMPILED } from './deploy/memory-settings.ts'

/**
 * The end of a file's name says the kind of a test, and the projects say what it needs: every test file belongs to exactly one of
 * them, which test/projects.unit.ts holds.
 */
const PAGE = ['test/e2e/page-*.e2e.ts']
const CLIENTS = ['test/clients/*.e2e.ts']
/** Suites of minutes that `npm test` leaves out. */
const LONG = ['test/faults/stack-{alerts,failover}.fault.ts']
const SERVERS = [
  'test/**/*.int.ts',
  'test/contract/*-{kafka,elasticsearch}*.contract.ts',
  'test/faults/{kafka,stack}-*.fault.ts',
]
/**
 * Unit tests that take more than half the time of all, and that `npm run check` leaves out: of stores in files, of servers, threads and
 * processes, and of the read API over thousands of entries.
 */
const HEAVY = [
  'test/unit/shared/{journal,log-store}/sqlite/*.unit.ts',
  'test/unit/deploy/{http,server}/*.unit.ts',
  'test/unit/{sluice,deploy/memory-settings}.unit.ts',
  'test/unit/views/{bounds,export,flow-statistics,flow-svg,flows,tail}.unit.ts',
]

interface Project {
  readonly name: string
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
  readonly globalSetup?: string
  readonly isolate?: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly retry?: number
}

const MEMORY = '/dev/shm'
const MEMORY_MIN = 2 * 1024 ** 3

/**
 * The folder of temporary files in unit tests: in memory if that has room, as a database waits for its disk at each write. No test takes
 * the power away, so none would notice.
 */
function temporaryFiles(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= MEMORY_MIN ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Files of unit tests share processes, so that each module is read once. */
const UNIT = { isolate: false, env: { TMPDIR: temporaryFiles() } }

export const PROJECTS: readonly Project[] = [
  // Kafka and Elasticsearch, from Docker or this machine's Java.
  { name: 'servers', include: SERVERS, exclude: LONG, globalSetup: 'test/support/backends-host.ts' },
  { name: 'long', include: LONG, globalSetup: 'test/support/backends-host.ts' },
  // Clients of other languages, with their toolchains and the registries of their packages.
  { name: 'clients', include: CLIENTS },
  // The program on SQLite, or its stores.
  { name: 'embedded', include: ['test/**/*.{contract,e2e,fault}.ts'], exclude: [...PAGE, ...CLIENTS, ...SERVERS] },
  // Chromium, and the program on SQLite. The browser schedules by itself, and on a busy machine differently each time: further tries are
  // printed as such. No suite about what is stored has any.
  { name: 'page', include: PAGE, retry: process.env['CI'] === undefined ? 0 : 2 },
  { name: 'heavy', include: HEAVY, ...UNIT },
  // Neither a server nor a browser.
  { name: 'fast', include: ['test/**/*.unit.ts'], exclude: HEAVY, ...UNIT },
]

/** Suites of these projects fill up the end of a run, one project after the other: only files that are next to each other share a process. */
const LAST = ['heavy', 'fast']

/**
 * The order of test files: those of all projects but the last two are spread evenly over the run, as suites with servers wait for most of
 * their time and suites with a browser do not. On a new machine Vitest knows no durations and begins with the largest files, but the
 * slowest suites are files of a few lines that play shared scenarios: they would come last, and one of them would run on alone. Within
 * a project the order is Vitest's.
 */
export class Interleaved extends BaseSequencer {
  /** `--shard` deals out the files of each project in turn: each part has as many that need servers, or a browser, as the others. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 }
    const nameOf = ({ project, moduleId }: TestSpecification): string => `${project.name} ${moduleId}`
    return files.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).filter((_, place) => place % count === index - 1)
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    const placed = [...byProject].flatMap(([name, own]) =>
      own.map((file, index) => ({ file, place: LAST.includes(name) ? 1 + LAST.indexOf(name) : index / own.length })),
    )
    return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file)
  }
}

/** Test files and the programs that they start find their compiled code: the modules of a file cost a third less CPU. */
process.env['NODE_COMPILE_CACHE'] ??= COMPILED

export default defineConfig({
  test: {
    projects: PROJECTS.map(({ include, exclude = [], ...project }) => ({
      extends: true,
      test: { ...project, include: [...include], exclude: [...exclude] },
    })),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more than there are cores, as some suites wait; more than four would start more servers at a time than memory holds.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // Node strips the types, as it does when it runs the program.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // Servers that the hooks of a body use are released after them.
    sequence: { sequencer: Interleaved, hooks: 'list' },
    // The page's own files are none of the tests'.
    css: false,
  },
})
