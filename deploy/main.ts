#!/usr/bin/env node
/**
 * The program's only entry: `start` runs a server, everything else is a command of the operator (deploy/cli). The only place that ends
 * the process.
 */
import { runCommand } from './commands.ts'
import { exitAtOnce, onSignals } from './signals.ts'

onSignals(exitAtOnce)

process.exitCode = await runCommand(process.argv.slice(2))
