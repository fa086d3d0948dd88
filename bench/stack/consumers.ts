import { join } from 'node:path'
import { groupName, type ProjectionName } from '../../consumers/projection.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { indexNames } from '../../shared/log-store/elasticsearch/index-names.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { pause } from '../../shared/runtime/waiting.ts'
import { BATCH_ENTRIES } from '../entries.ts'
import { type MeasuredProcess, startMeasured } from '../measured-process.ts'
import { metrics, total } from '../scrape.ts'
import { BATCH_KEYED, NOWHERE, send, startRole } from './programs.ts'
import { openStore, type Server } from './servers.ts'
import type { Topics } from './topics.ts'

export interface ConsumersRig {
  readonly broker: Server
  readonly elasticsearch: Server
  readonly topics: Topics
  /** The number of application logs in the topic that all runs read. */
  readonly documents: number
}

/** The cost of one writer, measured from 20 % to 90 % of the documents. */
export interface Indexing {
  readonly writer: string
  readonly documentsPerSecond: number
  readonly documentsPerCpuSecond: number
  readonly elasticsearchMsPerThousand: number
  /** Busy CPU cores of the writer, Elasticsearch and the broker together. */
  readonly coresBusy: number
  readonly peakMiB: number
}

/** A topic full of application logs, as the gateway wrote them. */
export interface FilledTopic {
  readonly prefix: string
  readonly topic: string
  readonly day: string
}

const FROM = 0.2
const TO = 0.9
const POLL_MS = 20
/** A bound, because the loop holds all its documents in memory. */
const LOOP_DOCUMENTS_MAX = 100_000
const TIMEOUT_MS = 90_000

export async function fillTopic(prefix: string, { broker, topics, documents }: ConsumersRig): Promise<FilledTopic> {
  const gateway = await startRole('gateway', { prefix, broker: broker.address, elasticsearchUrl: NOWHERE })
  try {
    const requestsMax = documents / BATCH_ENTRIES
    const { answered, failed } = await send(gateway, BATCH_KEYED, { seconds: 60, requestsMax })
    const topic = topicName(prefix, 'application-logs')
    const inTopic = await topics.count(topic)
    if (failed > 0 || inTopic !== answered * BATCH_ENTRIES) {
      throw new Error(
        `the topic holds ${inTopic} records, ${answered * BATCH_ENTRIES} were acknowledged, ${failed} requests failed`,
      )
    }
    return { prefix, topic, day: new Date().toISOString().slice(0, 10) }
  } finally {
    await gateway.stop()
  }
}

let started = 0
const freshIndexPrefix = (): string => `bench-${process.pid}-${++started}`

export const loopName = (inFlight: number): string => `bare loop, ${inFlight} in flight`

/** A bare loop of `_bulk` requests with the same documents, on an index like the consumers'. */
export async function measureBulkLoop(inFlight: number, filled: FilledTopic, rig: ConsumersRig): Promise<Indexing> {
  const indexPrefix = freshIndexPrefix()
  const url = rig.elasticsearch.address
  await applyIndices(url, indexPrefix)
  const index = indexNames(indexPrefix).day('application', filled.day)
  const script = join(import.meta.dirname, 'bulk-loop.ts')
  const documents = Math.min(rig.documents, LOOP_DOCUMENTS_MAX)
  const args = [script, rig.broker.address, filled.topic, url, index, String(inFlight), String(documents)]
  const loop = await startMeasured(args, {})
  try {
    const written = async (): Promise<number> => total(await metrics(loop.url), 'bulk_documents_total')
    const measured = await measure(loop, written, rig, documents)
    return { writer: loopName(inFlight), ...measured }
  } finally {
    await loop.stop()
    await removeIndices(url, indexPrefix)
  }
}

/** The consumers of these views, starting at the beginning of the topic. */
export async function measureConsumers(
  name: string,
  views: readonly ProjectionName[],
  filled: FilledTopic,
  rig: ConsumersRig,
): Promise<Indexing> {
  const indexPrefix = freshIndexPrefix()
  const url = rig.elasticsearch.address
  await applyIndices(url, indexPrefix)
  const consumers = await startRole('consumers', {
    prefix: filled.prefix,
    broker: rig.broker.address,
    elasticsearchUrl: url,
    settings: { INDEX_PREFIX: indexPrefix, VIEWS: views.join(',') },
  })
  const groups = views.map((view) => groupName(filled.prefix, view))
  try {
    const done = async (): Promise<number> => {
      const reading = views.filter((view) => view !== 'event-logs')
      return Math.min(
        ...(await Promise.all(
          reading.map((view) => rig.topics.committed(filled.topic, groupName(filled.prefix, view))),
        )),
      )
    }
    const measured = await measure(consumers, done, rig, rig.documents)
    await until(async () => (await done()) >= rig.documents)
    const indexed = await countDocuments(url, indexPrefix)
    if (indexed !== rig.documents) throw new Error(`${indexed} documents of ${rig.documents} records are in the store`)
    return { writer: name, ...measured, peakMiB: consumers.memory().peakMiB }
  } finally {
    await consumers.stop()
    await rig.topics.forget(groups)
    await removeIndices(url, indexPrefix)
  }
}

async function measure(
  program: MeasuredProcess,
  done: () => Promise<number>,
  { broker, elasticsearch }: ConsumersRig,
  documents: number,
): Promise<Omit<Indexing, 'writer'>> {
  const snapshot = async () => ({
    at: performance.now(),
    cpu: program.cpuSeconds(),
    documents: await done(),
    elasticsearch: await elasticsearch.cpuSeconds(),
    broker: await broker.cpuSeconds(),
  })
  await until(async () => (await done()) >= documents * FROM)
  const before = await snapshot()
  await until(async () => (await done()) >= documents * TO)
  const after = await snapshot()
  const written = after.documents - before.documents
  const seconds = (after.at - before.at) / 1_000
  const own = after.cpu - before.cpu
  const indexing = after.elasticsearch - before.elasticsearch
  return {
    documentsPerSecond: written / seconds,
    documentsPerCpuSecond: written / own,
    elasticsearchMsPerThousand: (1_000 * indexing) / (written / 1_000),
    coresBusy: (own + indexing + after.broker - before.broker) / seconds,
    peakMiB: program.memory().peakMiB,
  }
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`a phase of the bench takes longer than ${TIMEOUT_MS} ms`)
    await pause(POLL_MS)
  }
}

async function applyIndices(url: string, indexPrefix: string): Promise<void> {
  const store = openStore(url, indexPrefix, systemClock)
  await store.indices.apply()
  await store.close()
}

async function countDocuments(url: string, indexPrefix: string): Promise<number> {
  await fetch(`${url}/${indexPrefix}-*/_refresh`, { method: 'POST' })
  const answer = await fetch(`${url}/${indexPrefix}-application-logs-*/_count`)
  return ((await answer.json()) as { count: number }).count
}

async function removeIndices(url: string, indexPrefix: string): Promise<void> {
  const answer = await fetch(`${url}/_resolve/index/${indexPrefix}-*`)
  const { indices } = (await answer.json()) as { indices: readonly { name: string }[] }
  for (const { name } of indices) await fetch(`${url}/${name}`, { method: 'DELETE' })
}
