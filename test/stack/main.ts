import { parseArgs } from 'node:util'
import { jvmProvider } from './jvm.ts'

const HELP = `npm run stack -- [--brokers 1|3] [--kafka-only]

Starts a real Kafka and a real Elasticsearch on this machine for development, prints the environment that makes Sluice use them, and
stops them on Ctrl-C. Needs Java 21 and Maven; the servers are fetched on first use. Their data are gone when they stop.
`

const say = (text: string): void => void process.stdout.write(`${text}\n`)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      brokers: { type: 'string', default: '1' },
      'kafka-only': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help || !['1', '3'].includes(values.brokers)) {
    say(HELP)
    process.exitCode = values.help ? 0 : 2
    return
  }
  say('starting the servers (the first time they are downloaded) ...')
  const [kafka, elasticsearch] = await Promise.all([
    jvmProvider.startKafka({ brokers: values.brokers === '3' ? 3 : 1 }),
    values['kafka-only'] ? undefined : jvmProvider.startElasticsearch({}),
  ])
  const stop = async (): Promise<void> => {
    await Promise.all([kafka.stop(), elasticsearch?.stop()])
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
  say(`export KAFKA_BROKERS=${kafka.addresses.join(',')}`)
  if (elasticsearch) say(`export ELASTICSEARCH_URL=${elasticsearch.addresses[0]}`)
  say('ready; Ctrl-C stops them')
  // Keeps this process alive: the servers' output goes to files.
  setInterval(() => undefined, 2 ** 30)
}

await main()
