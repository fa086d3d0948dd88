import { Consumer, type Message, stringDeserializers } from '@platformatic/kafka'

const {
  KAFKA_BROKERS = 'localhost:9092',
  TOPIC = 'sluice.event-logs.v1',
  GROUP_ID = 'example.event-log-printer.v1',
} = process.env
/** How many ids are remembered: repeats come soon after, or from a replay of dead letters. */
const REMEMBERED_MAX = 100_000
const COMMIT_EVERY_MS = 1_000

interface EventLog {
  readonly timestamp: string
  readonly level: string
  readonly event: string | null
  readonly step: string | null
  readonly correlationKey: string | null
  readonly payload: string
}

const seen = new Set<string>()

function isFirst(id: string): boolean {
  if (seen.has(id)) return false
  seen.add(id)
  // A Set keeps its order, so the first id is the oldest.
  for (const oldest of seen) {
    if (seen.size <= REMEMBERED_MAX) break
    seen.delete(oldest)
  }
  return true
}

const consumer = new Consumer({
  clientId: 'event-log-printer',
  groupId: GROUP_ID,
  bootstrapBrokers: KAFKA_BROKERS.split(','),
  deserializers: stringDeserializers,
})
const stream = await consumer.consume({
  topics: [TOPIC],
  mode: 'committed',
  fallbackMode: 'earliest',
  // The client would commit what it has fetched, printed or not.
  autocommit: false,
})

/** The last message printed of each partition. */
const printed = new Map<number, Message<string, string, string, string>>()

async function commit(): Promise<void> {
  const messages = [...printed.values()]
  printed.clear()
  for (const message of messages) await message.commit()
}

// A commit fails while the group shares the partitions out anew; what was not committed is read again by whoever gets it.
const timer = setInterval(() => void commit().catch(process.emitWarning), COMMIT_EVERY_MS)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stream.close())

for await (const message of stream) {
  const { headers, partition, value } = message
  // The topic may get other types of records one day.
  if (headers.get('ce_type') === 'sluice.event-log.v1' && isFirst(headers.get('ce_id') ?? '')) {
    const { timestamp, level, event, step, correlationKey, payload } = JSON.parse(value) as EventLog
    process.stdout.write(`${[timestamp, level, step ?? event, correlationKey ?? '-', payload].join('\t')}\n`)
  }
  printed.set(partition, message)
}

clearInterval(timer)
await commit()
await consumer.close()
