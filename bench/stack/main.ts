/**
 * `npm run bench:stack`: measures the gateway on a real Kafka beside its floor, in one run. Prints its table.
 * `-- --quick` only proves that all of it works; `-- --rounds 1 --workload batch` measures a part.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { type GatewayRig, type Saturation, type Steady, saturate, steady } from './gateway.ts'
import { renderGateway } from './gateway-report.ts'
import { BATCH, BATCH_KEYED, floor, SINGLE, SINGLE_KEYED, sluice } from './programs.ts'
import { startKafka } from './servers.ts'
import { openTopics } from './topics.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '2' },
    workload: { type: 'string', default: '' },
  },
})
const { quick } = values
const rounds = quick ? 1 : Number(values.rounds)
const rate = quick ? 500 : 5_000
const workloads = [SINGLE, BATCH, SINGLE_KEYED, BATCH_KEYED].filter(({ name }) => name.startsWith(values.workload))

const progress = (run: object): void => {
  process.stderr.write(`load ${loadavg()[0]?.toFixed(1)} ${JSON.stringify(run)}\n`)
}

const kafka = await startKafka()
const broker = kafka.addresses[0] ?? ''
const topics = openTopics(broker)
try {
  const rig: GatewayRig = { kafka, topics, seconds: quick ? 1 : 5, warmUpSeconds: quick ? 0.5 : 2 }
  const programs = [floor(broker, topics), sluice(broker)]
  // Java compiles the broker's busiest code in its first seconds under load; nobody is to be charged for that.
  for (const workload of [SINGLE, BATCH]) await saturate(floor(broker, topics), workload, rig)
  const saturations: Saturation[] = []
  const steadies: Steady[] = []
  for (let round = 0; round < rounds; round++) {
    for (const workload of workloads) {
      for (const program of programs) {
        const run = await saturate(program, workload, rig)
        progress(run)
        saturations.push(run)
      }
    }
    for (const program of programs) {
      const run = await steady(program, SINGLE, rate, rig)
      progress(run)
      steadies.push(run)
    }
  }
  process.stdout.write(renderGateway({ saturations, steadies, rate }))
} finally {
  await topics.close()
  await kafka.stop()
}
