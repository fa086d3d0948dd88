#!/usr/bin/env node
/**
 * The program's only entry point: `start` runs a server, everything else is a command for operators (deploy/cli). This is the only place
 * that ends the process.
 */
import { beginWithMemorySettings } from './memory-settings.ts'
import { exitAtOnce, onSignals } from './server/signals.ts'

onSignals(exitAtOnce)
// The reader of a pipe may end first, as in `sluice registry list | head -3`. The work is finished all the same.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}
if (process.argv[2] === 'start') beginWithMemorySettings()

// Loaded only now, as the program may just have been started again.
const [{ runCli }, { cliDeps }] = await Promise.all([import('./cli/cli.ts'), import('./cli-deps.ts')])

process.exitCode = await runCli(process.argv.slice(2), cliDeps)
