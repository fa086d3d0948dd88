/** `npm run soak`: the whole stack under load, with faults drawn from a seed. See `-- --help`. */
import { parseArgs } from 'node:util'
import { chosenProviders, startFirst } from '../support/backends-host.ts'
import { PREFERRED_LEADERS } from '../support/kafka.ts'
import { soak } from './soak.ts'

const HELP = `npm run soak -- [OPTIONS]

  --minutes N      No round of faults begins after so long. Default 60.
  --seed S         A whole number; the same seed makes the same rounds. Default: a random one, which is printed.

Three brokers and Elasticsearch, from Docker or this machine's Java; two gateways, two processes of consumers, one of views.
Ends with code 1 where an entry was lost or shown twice, a process died, or one kept memory or handles.
`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    help: { type: 'boolean', default: false },
  },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function main(): Promise<void> {
  const providers = chosenProviders(process.env['TEST_BACKENDS'])
  const servers = await Promise.all([
    startFirst(providers, 'kafka', { brokers: 3, properties: PREFERRED_LEADERS }),
    startFirst(providers, 'elasticsearch', {}),
  ])
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)))
  try {
    const [kafka, elasticsearch] = servers
    const rounds = await soak(
      {
        kafka: { ...kafka, brokers: kafka.addresses },
        elasticsearch: { ...elasticsearch, url: elasticsearch.addresses[0] ?? '' },
      },
      { seed, forMs: minutes * 60_000, print },
    )
    print(`seed ${seed}: ${rounds} rounds of two faults, nothing lost, nothing twice`)
  } finally {
    await stop()
  }
}

if (values.help || !(minutes > 0) || !Number.isSafeInteger(seed) || seed < 0) {
  print(HELP)
  process.exitCode = values.help ? 0 : 2
} else {
  print(`seed ${seed}`)
  await main()
}
