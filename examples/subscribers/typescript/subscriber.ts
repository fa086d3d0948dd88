import { Kafka, logLevel } from 'kafkajs'

const {
  KAFKA_BROKERS = 'localhost:9092',
  TOPIC = 'sluice.event-logs.v1',
  GROUP_ID = 'example.event-log-printer.v1',
} = process.env
/** Number of remembered ids: duplicates arrive soon after the original, or from a replay of dead letters. */
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

// The client would log INFO messages to stdout, among the entries.
const kafka = new Kafka({ clientId: 'event-log-printer', brokers: KAFKA_BROKERS.split(','), logLevel: logLevel.WARN })
const consumer = kafka.consumer({ groupId: GROUP_ID })

/** Leaves the group; the client has committed the records whose handler has returned. */
async function end(code: number): Promise<void> {
  await consumer.disconnect()
  process.exitCode = code
}
// After most errors, including those of the handler, the client restarts from its last commit.
consumer.on('consumer.crash', ({ payload }) => void (payload.restart || end(1)))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(0))

await consumer.connect()
await consumer.subscribe({ topics: [TOPIC], fromBeginning: true })
await consumer.run({
  autoCommitInterval: COMMIT_EVERY_MS,
  eachMessage: async ({ message: { headers, value } }) => {
    // Other types of records may be added to the topic.
    if (String(headers?.['ce_type']) !== 'sluice.event-log.v1' || !isFirst(String(headers?.['ce_id']))) return
    const { timestamp, level, event, step, correlationKey, payload } = JSON.parse(String(value)) as EventLog
    process.stdout.write(`${[timestamp, level, step ?? event, correlationKey ?? '-', payload].join('\t')}\n`)
  },
})
