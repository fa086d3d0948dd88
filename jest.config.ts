import { availableParallelism } from 'node:os'

/**
 * Tests run as ES modules on Node's own type stripping. The end of a file's name says the kind of a test, and the projects say what it
 * needs: every test file belongs to exactly one of them, which test/projects.unit.ts holds.
 */
const PAGE = ['**/test/e2e/page-*.e2e.ts']
const CLIENTS = ['**/test/clients/*.e2e.ts']
const SERVERS = [
  '**/test/**/*.int.ts',
  '**/test/contract/*-{kafka,elasticsearch}*.contract.ts',
  '**/test/faults/{kafka,stack}-*.fault.ts',
]
const except = (globs: readonly string[]): string[] => globs.map((glob) => `!${glob}`)

const project = (displayName: string, testMatch: string[], more: object = {}) => ({
  displayName,
  testMatch,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  // Fewer cases of property tests, unless all are asked for.
  moduleNameMapper: { '^fast-check$': '<rootDir>/test/support/fast-check.ts' },
  ...more,
})

export default {
  projects: [
    // Neither a server nor a browser.
    project('fast', ['**/test/**/*.unit.ts']),
    // Chromium, and the program on SQLite.
    project('page', PAGE),
    // The program on SQLite, or its stores.
    project('embedded', ['**/test/**/*.{contract,e2e,fault}.ts', ...except([...PAGE, ...CLIENTS, ...SERVERS])]),
    // Clients of other languages, with their toolchains and the registries of their packages.
    project('clients', CLIENTS),
    // Kafka and Elasticsearch, from Docker or this machine's Java.
    project('servers', SERVERS, {
      globalSetup: '<rootDir>/test/support/backends-setup.ts',
      globalTeardown: '<rootDir>/test/support/backends-teardown.ts',
    }),
  ],
  testSequencer: '<rootDir>/test/support/slowest-first.ts',
  testTimeout: 60_000,
  // One more than there are cores, as some suites wait; more than four would start more servers at a time than memory holds.
  maxWorkers: Math.min(4, availableParallelism() + 1),
}
