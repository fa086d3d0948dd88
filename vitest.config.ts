import { availableParallelism } from 'node:os'
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

interface Project {
  readonly name: string
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
  readonly globalSetup?: string
  readonly isolate?: boolean
  readonly retry?: number
}

export const PROJECTS: readonly Project[] = [
  // Kafka and Elasticsearch, from Docker or this machine's Java.
  { name: 'servers', include: SERVERS, exclude: LONG, globalSetup: 'test/support/backends-host.ts' },
  { name: 'long', include: LONG, globalSetup: 'test/support/backends-host.ts' },
  // Clients of other languages, with their toolchains and the registries of their packages.
  { name: 'clients', include: CLIENTS },
  // The program on SQLite, or its stores.
  { name: 'embedded', include: ['test/**/*.{contract,e2e,fault}.ts'], exclude: [...PAGE, ...CLIENTS, ...SERVERS] },
  // Chromium, and the program on SQLite. The browser schedules by itself, and on a busy machine differently each time: a second try is
  // printed as one. No suite about what is stored has any.
  { name: 'page', include: PAGE, retry: process.env['CI'] === undefined ? 0 : 1 },
  // Neither a server nor a browser: the files share processes, so that each module is read once.
  { name: 'fast', include: ['test/**/*.unit.ts'], isolate: false },
]

/** Suites of this project are the shortest, and share processes: they fill up the end of a run. */
const LAST = 'fast'

/**
 * The order of test files: those of all projects but the last are spread evenly over the run, as suites with servers wait for most of
 * their time and suites with a browser do not. On a new machine Vitest knows no durations and begins with the largest files, but the
 * slowest suites are files of a few lines that play shared scenarios: they would come last, and one of them would run on alone. Within
 * a project the order is Vitest's.
 */
export class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    const placed = [...byProject].flatMap(([name, own]) =>
      own.map((file, index) => ({ file, place: name === LAST ? 1 : index / own.length })),
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
