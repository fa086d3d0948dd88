import { temporaryFolder } from '../support/sluice-process.ts'
import { CLIENTS, prepareToolchains } from './clients.ts'
import { describeClients } from './harness.ts'

const programs = temporaryFolder()

describeClients('clients of other languages', CLIENTS, await prepareToolchains(programs.path), programs.remove)
