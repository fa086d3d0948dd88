import { afterAll, expect, test } from 'vitest'
import { partitionOf } from '../../shared/contract/partitioner.ts'
import type { EventLogRecord } from '../../shared/contract/records.ts'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import type { Journal, NewRecord } from '../../shared/journal/journal.ts'
import { createCluster } from '../../shared/journal/kafka/cluster.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventLog, published } from '../support/consumers-records.ts'
import { asyncapi, type Json } from '../support/contract-docs.ts'
import { eventually } from '../support/eventually.ts'
import { connectionTo, openKafka, uniqueName } from '../support/kafka.ts'
import { notProved, REQUIRED } from '../support/toolchains.ts'
import { prepareRuntimes, type Runtime, startSubscriber } from './subscribers-support.ts'

const PARTITIONS = 3
const PATIENCE_MS = 90_000
const KEY = 'order-1'
const KEYED = partitionOf(KEY, PARTITIONS)
const OTHER = (KEYED + 1) % PARTITIONS

const runtimes = await prepareRuntimes()
afterAll(runtimes.remove)

await describeWithBackends('the published topics on a real broker', { kafka: 'shared' }, ({ kafka }) => {
  for (const runtime of runtimes.all) {
    const name = `the subscriber in ${runtime.language} prints each entry once, and goes on where it was stopped`
    if (!('missing' in runtime)) test(name, () => followsTheContract(runtime, kafka.brokers), 3 * PATIENCE_MS)
    else notProved(name, runtime.missing, REQUIRED)
  }

  test('are made as the AsyncAPI document says', async () => {
    const prefix = uniqueName('docs')
    const journal = openKafka(kafka.brokers)
    const cluster = createCluster(connectionTo(kafka.brokers), 3_000)
    try {
      await journal.createTopics(Object.values(TOPICS).map((each) => ({ ...each, name: topicName(prefix, each.role) })))
      for (const { address, bindings } of Object.values(asyncapi['channels'] as Readonly<Record<string, Channel>>)) {
        const topic = address.replace('sluice', prefix)
        const { partitions, topicConfiguration } = bindings.kafka
        expect(await journal.partitionCount(topic)).toBe(partitions)
        const made = await cluster.configOf(topic)
        const documented = Object.entries(topicConfiguration).map(([setting, value]) => [setting, String(value)])
        expect(documented.map(([setting = '']) => [setting, made.get(setting)])).toEqual(documented)
      }
    } finally {
      await Promise.all([journal.close(), cluster.close()])
    }
  })
})

interface Channel {
  readonly address: string
  readonly bindings: { readonly kafka: { readonly partitions: number; readonly topicConfiguration: Json } }
}

async function followsTheContract(runtime: Runtime, brokers: readonly string[]): Promise<void> {
  const topic = uniqueName('sluice.event-logs.v1')
  const journal = openKafka(brokers)
  const settings = { KAFKA_BROKERS: brokers.join(','), TOPIC: topic, GROUP_ID: uniqueName('example.printer.v1') }
  try {
    await journal.createTopics([{ ...TOPICS['event-logs'], name: topic, partitions: PARTITIONS }])
    await appendFirstRound(journal, topic)
    const first = await payloadsUntil(runtime, settings, ['last', 'alone'])
    expect(first.toSorted()).toEqual(['alone', 'größe 😀', 'last', 'one', 'with a new field'])

    await journal.append({ topic, partition: KEYED, records: [record(6, 'after the restart')] })
    await journal.append({
      topic,
      partition: OTHER,
      records: [record(7, 'alone after the restart', { correlationKey: null })],
    })
    const second = await payloadsUntil(runtime, settings, ['after the restart', 'alone after the restart'])
    expect(second.toSorted()).toEqual(['after the restart', 'alone after the restart'])
  } finally {
    await journal.close()
  }
}

/** All records before `last` in its partition were read when `last` is printed. */
async function appendFirstRound(journal: Journal, topic: string): Promise<void> {
  const one = record(1, 'one')
  const foreign = { ...record(2, 'of another type'), value: '{}' }
  const records = [
    one,
    record(3, 'größe 😀', { level: 'Critical' }),
    one,
    { ...foreign, headers: { ...foreign.headers, ce_type: 'sluice.event-log-amended.v1' } },
    record(4, 'with a new field', { region: 'eu' } as Partial<EventLogRecord>),
    record(5, 'last'),
  ]
  const alone = record(8, 'alone', { correlationKey: null, step: null })
  await journal.append({ topic, partition: OTHER, records: [alone, alone] })
  await journal.append({ topic, partition: KEYED, records })
}

const record = (number: number, payload: string, changes: Partial<EventLogRecord> = {}): NewRecord =>
  published(eventLog(number, { correlationKey: KEY, payload, ...changes }))

/** Runs the subscriber until it printed these payloads, and gives back all that it printed. */
async function payloadsUntil(
  runtime: Runtime,
  settings: Readonly<Record<string, string>>,
  awaited: readonly string[],
): Promise<readonly string[]> {
  const subscriber = startSubscriber(runtime, settings)
  const payloads = (): readonly string[] => subscriber.printed().map((fields) => fields[4] ?? '')
  try {
    await eventually(() => awaited.every((each) => payloads().includes(each)), PATIENCE_MS)
  } catch (error) {
    throw new Error(`printed ${JSON.stringify(payloads())}, and said: ${subscriber.complaints()}`, { cause: error })
  } finally {
    expect({ code: await subscriber.stop(), said: subscriber.complaints() }).toMatchObject({ code: runtime.exitCode })
  }
  for (const [, level, source, key] of subscriber.printed()) {
    expect([['Information', 'Critical'].includes(level ?? ''), source?.startsWith('order-placed')]).toEqual([
      true,
      true,
    ])
    expect([KEY, '-']).toContain(key)
  }
  return payloads()
}
