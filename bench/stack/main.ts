/**
 * `npm run bench:stack`: measures Sluice on a real Kafka and a real Elasticsearch beside the minimum that could do the same, in one run;
 * prints the tables and writes each into its section of docs/performance.md. See `-- --help`.
 */
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeSection } from '../sections.ts'
import { PHASES, type PhaseOptions } from './phases.ts'
import { stopServersOnSignals } from './servers.ts'

const HELP = `npm run bench:stack -- [PHASE...] [OPTIONS]

Phases, all of them where none is named: ${Object.keys(PHASES).join(', ')}. Servers come from Docker, or from this machine's Java and Maven.

  --rounds N          How often each measurement is made; the tables have medians. Default 2.
  --workload NAME     Gateway: only workloads whose name begins so, such as "single" or "batch".
  --broker HOST:PORT  Gateway, groups: a broker that runs already; its CPU is not counted.
  --quick             Little of everything, to see that it works.

What was run in part or quickly is printed and not written.
`

const DOCUMENT = join(import.meta.dirname, '../../docs/performance.md')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '2' },
    workload: { type: 'string', default: '' },
    broker: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  const named = positionals.length === 0 ? Object.keys(PHASES) : positionals
  const unknown = named.filter((name) => !Object.hasOwn(PHASES, name))
  const rounds = values.quick ? 1 : Number(values.rounds)
  if (values.help || unknown.length > 0 || !(rounds >= 1)) {
    process.stdout.write(HELP)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const { quick, workload, broker } = values
  const options: PhaseOptions = { rounds, quick, workload, broker }
  const partial = quick || workload !== '' || broker !== undefined
  for (const [name, phase] of Object.entries(PHASES)) {
    if (!named.includes(name)) continue
    const load = loadavg()[0]?.toFixed(1)
    const text = `${await phase.run(options)}\n${circumstances(phase.hasRounds ? rounds : 1, load)}`
    process.stdout.write(`## ${phase.heading}\n\n${text}\n`)
    if (!partial) writeSection(DOCUMENT, phase.heading, text)
  }
}

const circumstances = (rounds: number, load = ''): string =>
  `${rounds === 1 ? 'One round' : `Medians of ${rounds} rounds`}; ${cpus().length} cores shared by all of it, Node ${process.versions.node}, load average before the run ${load}.\n`

stopServersOnSignals()

await main()
