import { SETTINGS } from '../../shared/runtime/config-schema.ts'
import { type Figures, type GatewayFigures, WORKLOADS, type Workload } from './figures.ts'

/** The load that is planned for. */
export interface Load {
  readonly entriesPerSecond: number
  /** Bytes of an entry as JSON. */
  readonly entryBytes: number
  /** The share of entries sent in batches, and the share with a correlationKey; 0 to 1. */
  readonly batched: number
  readonly keyed: number
  readonly newFlowsPerSecond: number
  /** Copies of a Kafka partition, the leader included. */
  readonly topicCopies: number
  readonly topicDays: number
  /** Copies of a shard, not counting the primary. */
  readonly storeCopies: number
  readonly storeDays: number
  /** Availability zones; one of them can be lost. */
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
  /** Processes that each use about one core. */
  readonly gateways: number
  /** Consumers of the flows, and of each projection of entries, sized as if all entries were of its kind. */
  readonly entryConsumers: number
  readonly flowConsumers: number
  /** Partitions of each topic of entries. */
  readonly partitions: number
  readonly brokerCores: number
  readonly topicBytes: number
  readonly storeCores: number
  readonly storeBytes: number
  /** Shards of the index of one day and kind. */
  readonly shardsOfDay: number
  /** Shards of the index of flows. */
  readonly flowsShards: number
  readonly openShards: number
  /** The limits of the design that this load exceeds. */
  readonly walls: readonly string[]
}

/** The share of a machine that is used at peak load. */
const USE = 0.6
/** Capacity of consumers relative to the load: they make up for an hour's outage in little more than three hours. */
const CATCH_UP = 1.3
const SECONDS_OF_DAY = 86_400
const DISK_USE = { topics: 0.7, store: 0.75 } as const
/** The cost to a broker of a follower's fetch, relative to the leader's append. Assumed. */
const BROKER_PER_COPY = 0.6
/** Size of a record on the topic after gzip, headers included, for real services' entries. Assumed, as bench entries are more alike. */
const COMPRESSED = 0.2
/** Bytes that a record adds to its entry on the topic before compression: names, ids and headers. */
const RECORD_ADDS_BYTES = 500
/** Stored bytes per byte of entry; docs/elasticsearch.md measures 441 bytes for a document of 1,000. */
const STORED = 0.441
const SHARD_BYTES = 50e9
/** Bytes of a flow's summary in its shard. */
const FLOW_BYTES = 250
/** Cores that the writes of one shard should keep busy at most, as a shard is on one node. Assumed. */
const SHARD_CORES = 4
/** Entries per second of a partition, with bulk requests of 300 ms. Assumed. */
const PARTITION_RATE = 5_000
const PARTITIONS = [12, 24, 36, 48, 60, 120, 240, 480, 960]
/** Entries per second beyond which a cluster has more shards and members than can be restarted or rebuilt in time. */
const CELL_RATE = 100_000

/** The size of an installation for a load, in proportion to what the benches measured on one machine. */
export function planFor(load: Load, figures: Figures): Plan {
  const { entriesPerSecond: rate, entryBytes, storeCopies, storeDays, zones } = load
  /** Cores kept busy by this much work. */
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
  const flowsBytes = load.newFlowsPerSecond * SECONDS_OF_DAY * storeDays * FLOW_BYTES
  const flowsCores = cores(Math.max(0, all.storeMs - entries.storeMs))
  const flowsShards = Math.max(1, Math.ceil(flowsBytes / SHARD_BYTES), Math.ceil(flowsCores / SHARD_CORES))
  const gateways = Math.max(zones, Math.ceil((spare * cores(ofGateways(({ gatewayMs }) => gatewayMs))) / USE))
  const plan = {
    gateways,
    entryConsumers,
    flowConsumers,
    partitions: PARTITIONS.find((count) => count >= partitions) ?? Math.ceil(partitions),
    brokerCores: (cores(ofGateways(({ brokerMs }) => brokerMs)) * (1 + BROKER_PER_COPY * (load.topicCopies - 1))) / USE,
    topicBytes:
      (rate * (entryBytes + RECORD_ADDS_BYTES) * COMPRESSED * SECONDS_OF_DAY * load.topicDays * load.topicCopies) /
      DISK_USE.topics,
    storeCores: (cores(all.storeMs) * (1 + storeCopies)) / USE,
    storeBytes: ((dayBytes * storeDays + flowsBytes) * (1 + storeCopies)) / DISK_USE.store,
    shardsOfDay,
    flowsShards,
    openShards: (2 * shardsOfDay * storeDays + flowsShards) * (1 + storeCopies),
  }
  return { ...plan, walls: wallsOf(load, plan) }
}

/** The share of entries that come as this workload. */
function shareOf(workload: Workload, { batched, keyed }: Load): number {
  const isBatch = workload === 'batch' || workload === 'keyedBatch'
  const isKeyed = workload === 'keyedSingle' || workload === 'keyedBatch'
  return (isBatch ? batched : 1 - batched) * (isKeyed ? keyed : 1 - keyed)
}

type Sizes = Omit<Plan, 'walls'>

function wallsOf({ entriesPerSecond: rate }: Load, plan: Sizes): readonly string[] {
  const growing = (setting: 'ELASTICSEARCH_SHARDS' | 'ELASTICSEARCH_FLOWS_SHARDS', shards: number) =>
    [
      shards > SETTINGS[setting].maximum,
      `${setting} is at most ${SETTINGS[setting].maximum}: shards grow beyond ${SHARD_BYTES / 1e9} GB`,
    ] as const
  const walls: readonly (readonly [boolean, string])[] = [
    growing('ELASTICSEARCH_SHARDS', plan.shardsOfDay),
    growing('ELASTICSEARCH_FLOWS_SHARDS', plan.flowsShards),
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

const whole = (value: number): string => Math.ceil(value).toLocaleString('en-US')
const cores = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value))
const terabytes = (bytes: number): string => `${(bytes / 1e12).toFixed(bytes < 1e14 ? 1 : 0)} TB`

/** The sizes of a plan by their names. */
export const PLAN_ROWS: readonly (readonly [name: string, text: (plan: Plan) => string])[] = [
  ['gateways', ({ gateways }) => whole(gateways)],
  ['consumers of each projection of entries', ({ entryConsumers }) => whole(entryConsumers)],
  ['consumers of the flows', ({ flowConsumers }) => whole(flowConsumers)],
  ['partitions of each topic of entries', ({ partitions }) => whole(partitions)],
  ['cores of the brokers', ({ brokerCores }) => cores(brokerCores)],
  ['disks of the brokers', ({ topicBytes }) => terabytes(topicBytes)],
  ['cores of Elasticsearch', ({ storeCores }) => cores(storeCores)],
  ['disks of Elasticsearch', ({ storeBytes }) => terabytes(storeBytes)],
  ['shards of the index of a day and kind', ({ shardsOfDay }) => whole(shardsOfDay)],
  ['shards of the index of flows', ({ flowsShards }) => whole(flowsShards)],
  ['open shards', ({ openShards }) => whole(openShards)],
]
