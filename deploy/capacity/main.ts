/** `npm run capacity`: prints the size of an installation for a load. See `-- --help`. */
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { readFigures } from './figures.ts'
import { type Load, PLAN_ROWS, type Plan, planFor, USUAL_LOAD } from './plan.ts'

const OPTIONS: readonly (readonly [name: keyof Load, help: string])[] = [
  ['entriesPerSecond', 'Entries a second at the highest load. Required.'],
  ['entryBytes', 'Bytes of an entry.'],
  ['batched', 'Share of the entries that arrive in batches, 0 to 1.'],
  ['keyed', 'Share of the entries with a correlationKey, 0 to 1.'],
  ['newFlowsPerSecond', 'New correlationKeys a second.'],
  ['topicCopies', 'Copies of a partition, the first included.'],
  ['topicDays', 'Days for which topics keep records.'],
  ['storeCopies', 'Copies of a shard in addition to the first.'],
  ['storeDays', 'Days for which entries can be searched.'],
  ['zones', 'Zones, one of which may fail.'],
]
const flagOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const usual: Readonly<Partial<Record<keyof Load, number>>> = USUAL_LOAD

const HELP = `npm run capacity -- --entries-per-second N [OPTIONS]

${OPTIONS.map(([name, help]) => `  --${flagOf(name)} N`.padEnd(28) + help + (name in usual ? ` Default ${usual[name]}.` : '')).join('\n')}

The sizes are computed from the figures in docs/performance.md; docs/capacity.md lists the assumptions.
`

/** The values by option; undefined, with a message, if the command line has anything else. */
function optionsGiven(): Readonly<Record<string, unknown>> | undefined {
  const flags = OPTIONS.map(([name]) => [flagOf(name), { type: 'string' }] as const)
  try {
    return parseArgs({ options: { ...Object.fromEntries(flags), help: { type: 'boolean' } } }).values
  } catch (error) {
    refuse([(error as Error).message])
    return undefined
  }
}

function refuse(problems: readonly string[]): void {
  process.stdout.write(`${problems.join('\n')}\n\n${HELP}`)
  process.exitCode = 2
}

function main(): void {
  const options = optionsGiven()
  if (options === undefined) return
  if (options['help'] === true) {
    process.stdout.write(HELP)
    return
  }
  const load = Object.fromEntries(
    OPTIONS.map(([name]) => [name, Number(options[flagOf(name)] ?? usual[name])]),
  ) as unknown as Load
  const problems = OPTIONS.filter(([name]) => !isValid(name, load[name])).map(([name]) => problemOf(name))
  if (problems.length > 0) {
    refuse(problems)
    return
  }
  const plan = planFor(load, readFigures())
  process.stdout.write(`${PLAN_ROWS.map(([name, text]) => `${name.padEnd(48)}${text(plan)}`).join('\n')}\n\n`)
  process.stdout.write(plan.walls.map((wall) => `Beyond a limit: ${wall}.\n`).join(''))
  process.stdout.write(`\n# Values of the chart\n${stringify(valuesOf(plan))}`)
}

const SHARES: readonly (keyof Load)[] = ['batched', 'keyed']
const MAY_BE_ZERO: readonly (keyof Load)[] = ['newFlowsPerSecond', 'storeCopies', ...SHARES]

const isValid = (name: keyof Load, value: number): boolean =>
  Number.isFinite(value) &&
  (MAY_BE_ZERO.includes(name) ? value >= 0 : value > 0) &&
  !(SHARES.includes(name) && value > 1)

const problemOf = (name: keyof Load): string =>
  `--${flagOf(name)} must be a number${SHARES.includes(name) ? ' from 0 to 1' : MAY_BE_ZERO.includes(name) ? ', 0 or more' : ' above 0'}.`

const valuesOf = ({ gateways, entryConsumers, flowConsumers, shardsOfDay, flowsShards }: Plan): object => ({
  settings: { ELASTICSEARCH_SHARDS: shardsOfDay, ELASTICSEARCH_FLOWS_SHARDS: flowsShards },
  gateway: { replicas: gateways },
  consumers: {
    groups: [
      { name: 'event-logs', views: ['event-logs'], replicas: entryConsumers },
      { name: 'application-logs', views: ['application-logs'], replicas: entryConsumers },
      { name: 'flows', views: ['flows'], replicas: flowConsumers },
    ],
  },
})

// A reader that has seen enough, such as `head`, ends before the output does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
main()
