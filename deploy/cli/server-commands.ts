import { canaryTarget, OUTCOMES, runRound } from '../canary/round.ts'
import { ROLES } from '../server/roles.ts'
import { choiceOf } from './arguments.ts'
import { type CliDeps, type Command, CommandError, EXIT } from './command.ts'

/** Commands whose work is the composition root's: servers, topics, indices, counts, the canary. */
export const serverCommands: readonly Command[] = [
  {
    name: 'start',
    summary: 'Run a server',
    description: [
      'Without --role, gateway, consumers, views and watches run in one process. Settings come from the environment. SIGTERM or SIGINT',
      'drains the server: it writes the entries that it has accepted, and exits. A second signal ends it at once.',
    ],
    options: { role: { value: 'ROLE', help: `What the process does: ${ROLES.join(', ')}. Default: all.` } },
    examples: ['sluice start', 'PORT=9000 DATA_DIR=/var/lib/sluice sluice start', 'sluice start --role gateway'],
    run: (args, { handlers, config }) => handlers.start(choiceOf(args, 'role', ROLES) ?? 'all', config()),
  },
  {
    name: 'topics apply',
    summary: 'Create missing topics of the journal',
    description: [
      'Existing topics are not changed; their differences are listed. With AUTO_CREATE=true a server does the same at its start.',
    ],
    examples: ['KAFKA_BROKERS=kafka:9092 sluice topics apply'],
    run: printing('applyTopics'),
  },
  {
    name: 'indices apply',
    summary: 'Create missing indices of the log store, and bring templates up to date',
    description: [
      'Existing indices get new fields and are not changed otherwise. With AUTO_CREATE=true a server does the same at its start.',
    ],
    examples: ['ELASTICSEARCH_URL=https://search:9200 sluice indices apply'],
    run: printing('applyIndices'),
  },
  {
    name: 'counts rebuild',
    summary: 'Recount the entries of the embedded log store',
    description: [
      'The counts behind histograms, facets and totals are computed again from the entries, beside a running server; until then, it',
      'counts the entries themselves. A running server resumes an interrupted rebuild.',
    ],
    examples: ['DATA_DIR=/var/lib/sluice sluice counts rebuild'],
    run: printing('rebuildCounts'),
  },
  {
    name: 'canary',
    summary: 'Send entries to the gateway and look for them in the views',
    description: [
      'Every CANARY_INTERVAL_MS an event log and an application log of the Team sluice-canary go to the gateway (GATEWAY_INTERNAL_URL or',
      'GATEWAY_URL) and are looked for in the lists of the views (VIEWS_URL), over HTTP as any client does. Metrics are on METRICS_PORT.',
      'docs/operations.md says how to register the Team; its key is CANARY_API_KEY.',
    ],
    options: { once: { help: 'Make one round, print each hop with its time, and exit with 1 if one fails.' } },
    examples: [
      'CANARY_API_KEY_FILE=/run/secrets/canary GATEWAY_URL=https://logs.example sluice canary --once',
      'GATEWAY_URL=http://gateway:8080 VIEWS_URL=http://views:8080 METRICS_PORT=9464 sluice canary',
    ],
    run: (args, deps) => (args.flag('once') ? oneRound(deps) : deps.handlers.canary(deps.config())),
  },
]

/** Runs a handler and prints the lines that it returns. */
function printing(handler: 'applyTopics' | 'applyIndices' | 'rebuildCounts'): Command['run'] {
  return async (_call, { handlers, config, stdout }) => {
    for (const line of await handlers[handler](config())) stdout.write(`${line}\n`)
    return EXIT.ok
  }
}

async function oneRound({ config, stdout }: CliDeps): Promise<number> {
  const seconds = (number: number): string => `${number.toFixed(3)} s`
  const round = await runRound(canaryTarget(config()), (hop) => {
    stdout.write(`${hop.name.padEnd(16)}  ${seconds(hop.seconds)}\n`)
  })
  if (round.outcome !== 'found')
    throw new CommandError(
      `${round.outcome} after ${seconds(round.seconds)}: ${round.reason}\n${OUTCOMES[round.outcome]}`,
    )
  stdout.write(`${'found'.padEnd(16)}  ${seconds(round.seconds)}\n`)
  return EXIT.ok
}
