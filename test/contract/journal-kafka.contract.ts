import { describeWithBackends } from '../support/backends.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'
import { groupContract } from './journal-groups.ts'
import { journalContract } from './journal-suite.ts'

await describeWithBackends('a real broker', { kafka: 'shared' }, ({ kafka }) => {
  const fixtureOf = (groupProtocol: 'auto' | 'classic') => async () => ({
    open: async () => openKafka(kafka.brokers, { groupProtocol }),
    name: uniqueName,
    cleanUp: async () => undefined,
  })
  const traits = { patienceMs: 60_000, historiesMax: 3 }
  journalContract('Kafka', fixtureOf('auto'), { ...traits, movesOneByOne: true })
  journalContract('Kafka with the classic protocol of groups', fixtureOf('classic'), traits, [groupContract])
})
