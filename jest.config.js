/** Tests run as ES modules on Node's own type stripping; the file name says the kind of a test. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.{unit,contract,int,e2e,fault}.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  globalSetup: '<rootDir>/test/support/backends-setup.ts',
  globalTeardown: '<rootDir>/test/support/backends-teardown.ts',
  testTimeout: 60_000,
  maxWorkers: 2,
}
