import { loadavg } from 'node:os'
import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import { SETTINGS } from '../../shared/runtime/config-schema.ts'
import { median } from '../numbers.ts'
import { collector, type Written } from './collector.ts'
import {
  type ConsumersRig,
  fillTopic,
  type Indexing,
  loopName,
  measureBulkLoop,
  measureConsumers,
} from './consumers.ts'
import { renderConsumers } from './consumers-report.ts'
import { type GatewayRig, type Saturation, type Steady, saturate, steady } from './gateway.ts'
import { isExact, renderGateway, renderOtlp } from './gateway-report.ts'
import {
  type GroupProtocol,
  type GroupsRig,
  type Handlers,
  measureRollout,
  type Rollout,
  renderGroups,
} from './groups.ts'
import { measureConsumersMemory, measureGatewayMemory, renderMemory } from './memory.ts'
import { BATCH, BATCH_KEYED, floor, OTLP, type Program, SINGLE, SINGLE_KEYED, sluice } from './programs.ts'
import { measureSearchable } from './searchable.ts'
import { type OwnServer, running, type Server, startElasticsearch, startKafka } from './servers.ts'
import { openTopics, type Topics } from './topics.ts'

export interface PhaseOptions {
  readonly rounds: number
  readonly quick: boolean
  /** The prefix that selects the gateway's workloads by name. */
  readonly workload: string
  /** An already running broker for the gateway's phase. */
  readonly broker: string | undefined
}

/** A part of the bench that can be run alone. `run` resolves with the text of its section; it rejects if a count is wrong. */
export interface Phase {
  readonly heading: string
  /** Whether its measurements are repeated in each round. */
  readonly hasRounds: boolean
  run(options: PhaseOptions): Promise<string>
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** Prints a measurement together with the machine's load. */
function noted<Run>(run: Run): Run {
  say(`load ${loadavg()[0]?.toFixed(1)} ${JSON.stringify(run)}`)
  return run
}

/** Runs the work with a broker, which is started for it unless there is one already. */
async function withBroker<Result>(
  given: string | undefined,
  work: (broker: Server, topics: Topics) => Promise<Result>,
): Promise<Result> {
  const broker = given === undefined ? await startKafka() : running(given)
  const topics = openTopics(broker.address)
  try {
    return await work(broker, topics)
  } finally {
    await topics.close()
    await broker.stop()
  }
}

/** Runs the work with a broker and an Elasticsearch node of its own. */
async function withBoth<Result>(
  work: (servers: {
    readonly broker: OwnServer
    readonly elasticsearch: OwnServer
    readonly topics: Topics
  }) => Promise<Result>,
): Promise<Result> {
  const [broker, elasticsearch] = await Promise.all([startKafka(), startElasticsearch()])
  const topics = openTopics(broker.address)
  try {
    return await work({ broker, elasticsearch, topics })
  } finally {
    await topics.close()
    await Promise.all([broker.stop(), elasticsearch.stop()])
  }
}

const runGateway = ({ quick, rounds, workload: named, broker: given }: PhaseOptions): Promise<string> =>
  withBroker(given, async (broker, topics) => {
    const rig: GatewayRig = { broker, topics, seconds: quick ? 0.5 : 4, warmUpSeconds: quick ? 0.5 : 1.5 }
    const bare = floor(broker.address, topics)
    const gateways = ours(broker.address)
    const notes: string[] = []
    const others = quick ? [] : await peers(broker.address, topics, notes)
    const isNamed = ({ name }: { readonly name: string }): boolean => name.startsWith(named)
    const rate = quick ? 500 : 5_000
    const saturations: Saturation[] = []
    const steadies: Steady[] = []
    // The JVM compiles the broker's hot code in its first seconds under load; this must not count against any program.
    if (!quick) for (const workload of [SINGLE, BATCH]) await saturate(bare, workload, rig)
    for (let round = 0; round < rounds; round++) {
      for (const workload of [SINGLE, BATCH].filter(isNamed)) {
        for (const program of [bare, ...gateways, ...others])
          saturations.push(noted(await saturate(program, workload, rig)))
      }
      for (const program of [bare, ...gateways, ...others])
        steadies.push(noted(await steady(program, SINGLE, rate, rig)))
      if (quick || round > 0) continue
      for (const workload of [SINGLE_KEYED, BATCH_KEYED].filter(isNamed)) {
        for (const program of [bare, ...gateways]) saturations.push(noted(await saturate(program, workload, rig)))
      }
    }
    refuseInexact([...saturations, ...steadies])
    return renderGateway({ saturations, steadies, rate, notes })
  })

const runOtlp = ({ quick, rounds, broker: given }: PhaseOptions): Promise<string> =>
  withBroker(given, async (broker, topics) => {
    const rig: GatewayRig = { broker, topics, seconds: quick ? 0.5 : 4, warmUpSeconds: quick ? 0.5 : 2 }
    const notes: string[] = []
    const others = quick ? [] : await peers(broker.address, topics, notes, ['records', 'bodies'])
    const programs = [...ours(broker.address), ...others]
    const saturations: Saturation[] = []
    if (!quick) for (const workload of OTLP) for (const each of programs) await saturate(each, workload, rig)
    for (let round = 0; round < rounds; round++) {
      for (const workload of OTLP) {
        for (const each of programs) saturations.push(noted(await saturate(each, workload, rig)))
      }
    }
    refuseInexact(saturations)
    return renderOtlp(saturations, notes)
  })

function refuseInexact(runs: readonly (Saturation | Steady)[]): void {
  if (!runs.every(({ counts }) => isExact(counts))) throw new Error('what was acknowledged is not what the topic holds')
}

/** The gateway with its defaults, and without the features that its peers lack. */
const ours = (broker: string): readonly Program[] => [
  sluice(broker),
  sluice(broker, 'Sluice, not compressed', { KAFKA_COMPRESSION: 'none' }),
]

/** Comparable programs; if one is unavailable, a note says so. */
async function peers(
  broker: string,
  topics: Topics,
  notes: string[],
  written: readonly Written[] = ['bodies'],
): Promise<readonly Program[]> {
  try {
    const programs: Program[] = []
    for (const each of written) programs.push(await collector(broker, topics, say, each))
    return programs
  } catch (error) {
    notes.push(`Without the OpenTelemetry Collector: ${(error as Error).message}.`)
    return []
  }
}

const ONE_VIEW = 'Sluice, the application-logs view'
const ALL_VIEWS = 'Sluice, all views (flows folded as well)'
const WARM_UP_LOOPS = 3

const runConsumers = ({ quick, rounds }: PhaseOptions): Promise<string> =>
  withBoth(async ({ broker, elasticsearch, topics }) => {
    const rig: ConsumersRig = { broker, elasticsearch, topics, documents: quick ? 5_000 : 200_000 }
    const filled = await fillTopic('bench-consumers', rig)
    // Elasticsearch is also compiled while running, and takes longer than a broker.
    if (!quick) for (let loop = 0; loop < WARM_UP_LOOPS; loop++) noted(await measureBulkLoop(2, filled, rig))
    const indexings: Indexing[] = []
    for (let round = 0; round < rounds; round++) {
      indexings.push(noted(await measureBulkLoop(1, filled, rig)))
      indexings.push(noted(await measureConsumers(ONE_VIEW, ['application-logs'], filled, rig)))
      indexings.push(noted(await measureBulkLoop(2, filled, rig)))
      indexings.push(noted(await measureConsumers(ALL_VIEWS, PROJECTION_NAMES, filled, rig)))
    }
    const all = indexings.filter(({ writer }) => writer === ALL_VIEWS)
    const half = Math.round(median(all.map(({ documentsPerSecond }) => documentsPerSecond)) / 2)
    const seconds = quick ? 1 : 15
    const searchable = noted(await measureSearchable('bench-searchable', half, { broker, elasticsearch, seconds }))
    const names = { oneView: ONE_VIEW, loops: [loopName(1), loopName(2)] }
    return renderConsumers({ documents: rig.documents, indexings, names, searchable })
  })

const runMemory = ({ quick }: PhaseOptions): Promise<string> =>
  withBoth(async (servers) => {
    const seconds = quick ? 2 : 15
    const rig = { ...servers, seconds }
    const filled = await fillTopic('bench-memory', { ...rig, documents: quick ? 5_000 : 200_000 })
    const consumers = noted(await measureConsumersMemory(filled, rig))
    const gateway = noted(await measureGatewayMemory('bench-frozen', rig))
    const publishBufferMiB = SETTINGS.PUBLISH_BUFFER_BYTES.default / (1024 * 1024)
    return renderMemory({ seconds, gateway, consumers, publishBufferMiB })
  })

const HANDLERS: readonly Handlers[] = [
  { name: '20 ms a batch', everyMs: 20, firstMs: 20 },
  { name: '20 ms a batch, 5 s in one partition, which is not counted', everyMs: 20, firstMs: 5_000 },
]

const runGroups = ({ quick, rounds, broker: given }: PhaseOptions): Promise<string> =>
  withBroker(given, async (broker, topics) => {
    const rig: GroupsRig = { broker: broker.address, topics, settleMs: quick ? 500 : 6_000 }
    const rollouts: Rollout[] = []
    for (const handlers of quick ? HANDLERS.slice(0, 1) : HANDLERS) {
      for (const protocol of ['classic', 'auto'] as const) {
        const runs: Rollout[] = []
        for (let round = 0; round < rounds; round++) runs.push(noted(await measureRollout(protocol, handlers, rig)))
        rollouts.push(middle(runs, protocol, handlers))
      }
    }
    if (rollouts.some(({ wrong }) => wrong > 0))
      throw new Error('a record was not handled, or by two members at a time')
    return renderGroups(rollouts)
  })

/** Medians of the times; sums of the other figures. */
function middle(runs: readonly Rollout[], protocol: GroupProtocol, { name }: Handlers): Rollout {
  const of = (figure: 'steadyMs' | 'longestMs' | 'medianMs') => median(runs.map((run) => run[figure]))
  const sum = (figure: 'repeats' | 'wrong') => runs.reduce((total, run) => total + run[figure], 0)
  return {
    protocol,
    handlers: name,
    steadyMs: of('steadyMs'),
    longestMs: of('longestMs'),
    medianMs: of('medianMs'),
    repeats: sum('repeats'),
    wrong: sum('wrong'),
  }
}

export const PHASES: Readonly<Record<string, Phase>> = {
  gateway: { heading: 'Gateway on Kafka', hasRounds: true, run: runGateway },
  otlp: { heading: 'OTLP on Kafka', hasRounds: true, run: runOtlp },
  consumers: { heading: 'Consumers on Kafka and Elasticsearch', hasRounds: true, run: runConsumers },
  groups: { heading: 'Rollout of a group on Kafka', hasRounds: true, run: runGroups },
  memory: { heading: 'Memory while a server is gone', hasRounds: false, run: runMemory },
}
