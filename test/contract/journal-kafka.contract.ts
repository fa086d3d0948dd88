import { describeWithBackends } from '../support/backends.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'
import { journalContract } from './journal-suite.ts'

await describeWithBackends('a real broker', { kafka: 'shared' }, ({ kafka }) => {
  const makeFixture = async () => ({
    open: async () => openKafka(kafka.brokers),
    name: uniqueName,
    cleanUp: async () => undefined,
  })
  journalContract('Kafka', makeFixture, { patienceMs: 60_000, historiesMax: 3 })
})
