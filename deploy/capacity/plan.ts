import { SETTINGS } from '../../shared/runtime/config-schema.ts'
import { type Figures, type GatewayFigures, WORKLOADS, type Workload } from './figures.ts'

/** The load that is planned for. */
export interface Load {
  readonly entriesPerSecond: number
  /** Bytes of an entry as JSON. */
  readonly entryBytes: number
  /** The part of the entries that comes in batches, and the part that has a correlationKey; 0 to 1. */
  readonly batched: number
  readonly keyed: number
  readonly newFlowsPerSecond: number
  /** Copies of a partition on Kafka, the first included. */
  readonly topicCopies: number
  readonly topicDays: number
  /** Copies of a shard beside the first. */
  readonly storeCopies: number
  readonly storeDays: number
  /** Of which one can be lost. */
  readonly zones: number
}

export const USUAL_LOAD: Omit<Load, 'entriesPerSecond'> = {
  entryBytes: 1_000,
  batched: 0.5,
  keyed: 0.5,
  newFlowsPerSecond: 0,
  topicCopies: 3,
  topicDays: 7,
  storeCopies: 1,
  storeDays: 30,
  zones: 3,
}

export interface Plan {
  /** Processes, each of one core for the most part. */
  readonly gateways: number
  /** Consumers of each projection of entries, where all are of its kind, and of the flows. */
  readonly entryConsumers: number
  readonly flowConsumers: number
  /** Of each topic of entries. */
  readonly partitions: number
  readonly brokerCores: number
  readonly topicBytes: number
  readonly storeCores: number
  readonly storeBytes: number
  /** Of the index of a day and kind. */
  readonly shardsOfDay: number
  readonly openShards: number
  /** The limits of the design that this load goes beyond. */
  readonly walls: readonly string[]
}

/** The part of a machine that is used at the highest load. */
const USE = 0.6
/** Consumers catch up with an hour's outage in little more than three hours. */
const CATCH_UP = 1.3
const SECONDS_OF_DAY = 86_400
const DISK_USE = { topics: 0.7, store: 0.75 } as const
/** A follower's fetch costs a broker a part of what the leader's append costs. Assumed. */
const BROKER_PER_COPY = 0.6
/** Of a record on the topic after gzip, of entries as services write them, headers included. Assumed: bench entries are more alike. */
const COMPRESSED = 0.2
const RECORD_OVERHEAD_BYTES = 500
/** docs/elasticsearch.md: bytes of a document of 1,000. */
const STORED = 0.441
const SHARD_BYTES = 50e9
/** Entries a second of a partition, with bulks of 300 ms. Assumed. */
const PARTITION_RATE = 5_000
const PARTITIONS = [12, 24, 36, 48, 60, 120, 240, 480, 960]
/** Documents of one shard of Elasticsearch. */
const SHARD_DOCUMENTS = 2 ** 31
/** Beyond it one cluster has more shards and members than can be rolled or rebuilt in time. */
const CELL_RATE = 100_000

/** The size of an installation for a load, in proportion to what the benches measured on one machine. */
export function planFor(load: Load, figures: Figures): Plan {
  const { entriesPerSecond: rate, entryBytes, storeCopies, storeDays, zones } = load
  /** Cores that are busy with this much work. */
  const cores = (msPer1000: number): number => (rate / 1_000) * (msPer1000 / 1_000)
  const ofGateways = (of: (figures: GatewayFigures) => number): number =>
    WORKLOADS.reduce((sum, workload) => sum + shareOf(workload, load) * of(figures.gateway[workload]), 0)
  const members = (msPer1000: number): number => Math.max(1, Math.ceil((CATCH_UP * cores(msPer1000)) / USE))
  const spare = zones > 1 ? zones / (zones - 1) : 1
  const { entries, all } = figures
  const entryConsumers = members(entries.consumerMs)
  const flowConsumers = members(Math.max(0, all.consumerMs - entries.consumerMs))
  const partitions = Math.max(2 * Math.max(entryConsumers, flowConsumers), rate / PARTITION_RATE)
  const dayBytes = rate * SECONDS_OF_DAY * entryBytes * STORED
  const shardsOfDay = Math.max(1, Math.ceil(dayBytes / 2 / SHARD_BYTES))
  const gateways = Math.max(zones, Math.ceil((spare * cores(ofGateways(({ gatewayMs }) => gatewayMs))) / USE))
  const plan = {
    gateways,
    entryConsumers,
    flowConsumers,
    partitions: PARTITIONS.find((count) => count >= partitions) ?? Math.ceil(partitions),
    brokerCores: (cores(ofGateways(({ brokerMs }) => brokerMs)) * (1 + BROKER_PER_COPY * (load.topicCopies - 1))) / USE,
    topicBytes:
      (rate * (entryBytes + RECORD_OVERHEAD_BYTES) * COMPRESSED * SECONDS_OF_DAY * load.topicDays * load.topicCopies) /
      DISK_USE.topics,
    storeCores: (cores(all.storeMs) * (1 + storeCopies)) / USE,
    storeBytes: (dayBytes * storeDays * (1 + storeCopies)) / DISK_USE.store,
    shardsOfDay,
    openShards: 2 * shardsOfDay * storeDays * (1 + storeCopies),
  }
  return { ...plan, walls: wallsOf(load, plan, figures) }
}

/** The part of the entries that comes so. */
function shareOf(workload: Workload, { batched, keyed }: Load): number {
  const isBatch = workload === 'batch' || workload === 'keyedBatch'
  const isKeyed = workload === 'keyedSingle' || workload === 'keyedBatch'
  return (isBatch ? batched : 1 - batched) * (isKeyed ? keyed : 1 - keyed)
}

type Sizes = Omit<Plan, 'walls'>

function wallsOf(load: Load, plan: Sizes, { entries, all }: Figures): readonly string[] {
  const { entriesPerSecond: rate, newFlowsPerSecond, storeDays } = load
  const flowsMax = Math.floor(SHARD_DOCUMENTS / (storeDays * SECONDS_OF_DAY))
  const flowCores = (rate / 1_000) * ((all.storeMs - entries.storeMs) / 1_000)
  const walls: readonly (readonly [boolean, string])[] = [
    [newFlowsPerSecond > flowsMax, `one shard holds all flows: ${flowsMax} new ones a second at ${storeDays} days`],
    [flowCores > 8, `the shard of the flows keeps ${Math.ceil(flowCores)} cores of one node busy`],
    [
      plan.shardsOfDay > SETTINGS.ELASTICSEARCH_SHARDS.maximum,
      `ELASTICSEARCH_SHARDS is at most ${SETTINGS.ELASTICSEARCH_SHARDS.maximum}: shards grow beyond 50 GB`,
    ],
    [
      plan.gateways > 10,
      `hot keys are limited for each gateway, and no gateway has less than a tenth of a quota: ${plan.gateways} of them write ${plan.gateways} times as many of the one, and give ${plan.gateways / 10} times the other`,
    ],
    [
      rate > CELL_RATE,
      `beyond ${CELL_RATE.toLocaleString('en-US')} entries a second the Teams have to be divided among several installations`,
    ],
  ]
  return walls.filter(([isCrossed]) => isCrossed).map(([, wall]) => wall)
}
