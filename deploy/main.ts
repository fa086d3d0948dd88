#!/usr/bin/env node
/**
 * The program's only entry point: `start` runs a server, everything else is a command for operators (deploy/cli). This is the only place
 * that ends the process.
 */
import { enableCompileCache } from 'node:module'
import { beginWithMemorySettings, COMPILED } from './memory-settings.ts'
import { exitAtOnce, onSignals } from './server/signals.ts'

const isServer = process.argv[2] === 'start'

onSignals(exitAtOnce)
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A server goes on without its output, as its log lines do, and a command whose reader has seen enough, such as `head`, finishes its work.
  if (isServer || code === 'EPIPE') return
  process.stderr.write(`sluice: the output cannot be written: ${message}\n`)
  process.exitCode = 1
})
process.stderr.on('error', () => undefined)
if (isServer) beginWithMemorySettings()
else enableCompileCache(COMPILED)

// Loaded only now, as the program may just have been started again.
const [{ runCli }, { cliDeps }] = await Promise.all([import('./cli/cli.ts'), import('./cli-deps.ts')])

const exitCode = await runCli(process.argv.slice(2), cliDeps)
process.exitCode ??= exitCode
