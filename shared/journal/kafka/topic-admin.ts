import { DAY_MS } from '../../contract/timestamp.ts'
import { type NamedTopic, TopicMissingError } from '../journal.ts'
import type { Cluster } from './cluster.ts'

/** The state of a topic compared to its specification, in sentences for an operator. */
interface TopicReport {
  readonly topic: string
  readonly exists: boolean
  /** The differences from the topic that Sluice would create. */
  readonly differences: readonly string[]
  /** The differences by which an acknowledged record could be lost. */
  readonly dangers: readonly string[]
}

/** A topic would not keep what a gateway promises. Nothing was changed. */
export class DurabilityError extends Error {
  override readonly name = 'DurabilityError'
  readonly dangers: readonly string[]

  constructor(dangers: readonly string[]) {
    super(`topics that could lose acknowledged records:\n${dangers.map((text) => `  - ${text}`).join('\n')}`)
    this.dangers = dangers
  }
}

const COPIES = 3
const IN_SYNC = 2
const SEGMENTS = 4
/** The largest batch of records that Kafka takes by default. A cluster that takes less refuses the larger ones that gather under load. */
const RECORD_BYTES = 1_048_588

/**
 * With three brokers or more: three copies, two of which have a record before it is confirmed. Otherwise one copy. A topic keeps the number
 * that it was made with, so a broker that is being restarted has to count.
 */
const copiesOn = (brokers: number): { readonly replicas: number; readonly inSync: number } =>
  brokers >= COPIES ? { replicas: COPIES, inSync: IN_SYNC } : { replicas: 1, inSync: 1 }

/** Retention goes by the time of a record: with its sender's, a gateway whose clock is behind would lose records before they are read. */
const BROKERS_CLOCK = 'LogAppendTime'

/** How long deletion marks are kept; a follower reads the topic again that read nothing for half of it (read.ts). */
const DELETIONS_KEPT_MS = DAY_MS

/** A shorter retention is told as a danger: consumers may well be down for that long. An operator may choose a longer one. */
const RETENTION_MS_MIN = 3_600_000

/** The `retention.ms` of a topic; -1 keeps its records for ever. */
const retentionOf = ({ retentionMs }: NamedTopic): string => String(retentionMs ?? -1)

/** The settings that Sluice gives a topic; all others are the cluster's defaults. */
function settingsOf(topic: NamedTopic, inSync: number): Record<string, string> {
  const base = {
    'min.insync.replicas': String(inSync),
    'unclean.leader.election.enable': 'false',
    'message.timestamp.type': BROKERS_CLOCK,
    ...(topic.recordBytesMax !== undefined && { 'max.message.bytes': String(topic.recordBytesMax) }),
  }
  return topic.cleanup === 'compact'
    ? { ...base, 'cleanup.policy': 'compact', 'delete.retention.ms': String(DELETIONS_KEPT_MS) }
    : { ...base, 'cleanup.policy': 'delete', 'retention.ms': retentionOf(topic), ...sizeSettings(topic) }
}

/** The settings by which size removes records. Only whole segments are removed, so those of a small topic have to be smaller than it. */
const sizeSettings = ({ retentionBytes }: NamedTopic): Record<string, string> =>
  retentionBytes === undefined
    ? { 'retention.bytes': '-1' }
    : { 'retention.bytes': String(retentionBytes), 'segment.bytes': String(Math.round(retentionBytes / SEGMENTS)) }

/** The state of a topic after the missing ones were created. */
export interface AppliedTopic extends TopicReport {
  /** Whether this process created it. */
  readonly created: boolean
}

/** Creates missing topics and leaves the others; returns a report on each. */
export async function applyTopics(cluster: Cluster, topics: readonly NamedTopic[]): Promise<readonly AppliedTopic[]> {
  const created = await createMissing(cluster, topics)
  return (await describeTopics(cluster, topics)).map((report) => ({ ...report, created: created.has(report.topic) }))
}

/** Returns the names of the topics that it created. */
export async function createMissing(cluster: Cluster, topics: readonly NamedTopic[]): Promise<ReadonlySet<string>> {
  const { replicas, inSync } = copiesOn(await cluster.expectedBrokerCount())
  const created = new Set<string>()
  for (const topic of topics) {
    const { name, partitions } = topic
    if (await cluster.exists(name)) continue
    if (await cluster.create({ name, partitions, replicas, config: settingsOf(topic, inSync) })) created.add(name)
  }
  return created
}

/** Compares the topics with those that Sluice would create; changes nothing. */
export async function describeTopics(cluster: Cluster, topics: readonly NamedTopic[]): Promise<readonly TopicReport[]> {
  const brokers = await cluster.expectedBrokerCount()
  const reports: TopicReport[] = []
  for (const topic of topics) reports.push(await describeTopic(cluster, topic, brokers))
  return reports
}

async function describeTopic(cluster: Cluster, topic: NamedTopic, brokers: number): Promise<TopicReport> {
  const { name } = topic
  if (!(await cluster.exists(name))) {
    return { topic: name, exists: false, differences: [`${name} does not exist`], dangers: [] }
  }
  const partitions = await cluster.partitionsOf(name)
  const config = await cluster.configOf(name)
  const { replicas, inSync } = copiesOn(brokers)
  const differences: string[] = []
  const fewest = Math.min(...partitions.map((each) => each.replicas.length))
  const { compacted, dangers } = dangersOf(topic, config, inSync)
  if (fewest < replicas) dangers.unshift(`${name} keeps ${fewest} copies of a record, not ${replicas}`)
  const policy = config.get('cleanup.policy') ?? ''
  if (policy !== topic.cleanup && topic.cleanup === 'delete' && compacted === null)
    differences.push(`${name} has cleanup.policy=${policy}, not ${topic.cleanup}`)
  if (partitions.length !== topic.partitions) {
    differences.push(`${name} has ${partitions.length} partition(s), not ${topic.partitions}`)
  }
  const largest = Number(config.get('max.message.bytes'))
  const { recordBytesMax = RECORD_BYTES } = topic
  if (largest < recordBytesMax) {
    differences.push(`${name} takes records of ${largest} bytes (max.message.bytes), not ${recordBytesMax}`)
  }
  const clock = config.get('message.timestamp.type') ?? ''
  if (clock !== BROKERS_CLOCK) {
    differences.push(`${name} has message.timestamp.type=${clock}, not ${BROKERS_CLOCK}`)
  }
  differences.push(...retentionDifferences(topic, config))
  return { topic: name, exists: true, differences: [...dangers, ...differences], dangers }
}

/** The settings by which an acknowledged record could be lost. */
interface Dangers {
  /** The compaction of a topic of records to keep, in a sentence; null if there is none. */
  readonly compacted: string | null
  /** All of them, in sentences. */
  readonly dangers: string[]
}

/** Retention is left out: it keeps no gateway from starting. */
function dangersOf(topic: NamedTopic, config: ReadonlyMap<string, string>, inSync: number): Dangers {
  const { name } = topic
  const dangers: string[] = []
  const least = Number(config.get('min.insync.replicas'))
  if (least < inSync) {
    dangers.push(`${name} confirms a record that ${least} broker(s) have (min.insync.replicas), not ${inSync}`)
  }
  if (config.get('unclean.leader.election.enable') === 'true') {
    dangers.push(`${name} lets a broker lead that lacks confirmed records (unclean.leader.election.enable)`)
  }
  const policy = config.get('cleanup.policy') ?? ''
  const compacted = compactionOf(topic, config)
  if (compacted !== null) dangers.push(compacted)
  else if (topic.cleanup === 'compact' && policy !== 'compact') {
    dangers.push(`${name} has cleanup.policy=${policy}, not compact`)
  }
  return { compacted, dangers }
}

/** The danger that records are removed which were acknowledged for good; null if there is none. */
function compactionOf({ name, cleanup }: NamedTopic, config: ReadonlyMap<string, string>): string | null {
  const policy = config.get('cleanup.policy') ?? ''
  return cleanup === 'delete' && policy.includes('compact')
    ? `${name} has cleanup.policy=${policy}, which removes records that share a key: set it to delete`
    : null
}

/** The danger that records are removed before they are read; empty if there is none. */
function retentionDangers(topic: NamedTopic, config: ReadonlyMap<string, string>): string[] {
  const kept = Number(config.get('retention.ms'))
  if (topic.cleanup !== 'delete' || !(kept >= 0 && kept < RETENTION_MS_MIN)) return []
  return [
    `${topic.name} removes records after ${kept} ms (retention.ms), even those that no consumer has read: set it to ${retentionOf(topic)}`,
  ]
}

/**
 * The dangers of settings that were changed since topics were found durable, of all topics, and the first one that is compacted. Asks for the
 * settings alone; a topic of which they cannot be read is left out.
 */
export async function findDangers(cluster: Cluster, topics: readonly NamedTopic[], inSync: number): Promise<Dangers> {
  const found = await Promise.allSettled(
    topics.map(async (topic) => {
      const config = await cluster.configOf(topic.name)
      const { compacted, dangers } = dangersOf(topic, config, inSync)
      return { compacted, dangers: [...dangers, ...retentionDangers(topic, config)] }
    }),
  )
  const read = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const compacted = read.find((each) => each.compacted !== null)?.compacted ?? null
  return { compacted, dangers: read.flatMap(({ dangers }) => dangers) }
}

function retentionDifferences(topic: NamedTopic, config: ReadonlyMap<string, string>): readonly string[] {
  if (topic.cleanup === 'compact') {
    const kept = Number(config.get('delete.retention.ms'))
    return kept >= DELETIONS_KEPT_MS
      ? []
      : [`${topic.name} has delete.retention.ms=${kept}, not ${DELETIONS_KEPT_MS} or more`]
  }
  const wanted = {
    'retention.ms': retentionOf(topic),
    // If Sluice sets no limit, an operator may.
    ...(topic.retentionBytes !== undefined && { 'retention.bytes': String(topic.retentionBytes) }),
  }
  return Object.entries(wanted).flatMap(([name, value]) => {
    const found = config.get(name) ?? ''
    return found === value ? [] : [`${topic.name} has ${name}=${found}, not ${value}`]
  })
}

/**
 * Refuses topics whose settings break the promise that an acknowledged record survives the loss of one broker. On a cluster with fewer than
 * three brokers there is no such promise. Throws a `DurabilityError` or a `TopicMissingError`; returns how many brokers have to have a record
 * before it is confirmed.
 */
export async function checkDurability(cluster: Cluster, topics: readonly NamedTopic[]): Promise<number> {
  const reports = await describeTopics(cluster, topics)
  const missing = reports.find((report) => !report.exists)
  if (missing) throw new TopicMissingError(missing.topic)
  const dangers = reports.flatMap((report) => report.dangers)
  if (dangers.length > 0) throw new DurabilityError(dangers)
  return copiesOn(await cluster.expectedBrokerCount()).inSync
}
