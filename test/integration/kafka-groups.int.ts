import { expect, test } from 'vitest'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { createTopic } from '../support/journal-fixture.ts'
import { replaceMembers } from '../support/journal-rollout.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'

const PARTITIONS = 4
const PATIENCE_MS = 60_000

await describeWithBackends('groups with members of both protocols', { kafka: 'shared' }, ({ kafka }) => {
  for (const [protocols, what] of [
    [['classic', 'auto', 'classic'], 'from the classic protocol to the consumer protocol and back'],
    [['auto', 'classic', 'auto'], 'from the consumer protocol to the classic one and back'],
  ] as const) {
    test(
      `members are replaced ${what}, and nothing is lost, handled by two, or repeated once committed`,
      async () => {
        const journals = protocols.map((groupProtocol) => openKafka(kafka.brokers, { groupProtocol }))
        const [journal] = journals
        if (journal === undefined) throw new Error('there is no journal')
        const [topic, group] = [await createTopic(journal, uniqueName('mixed'), PARTITIONS), uniqueName('group')]
        await replaceMembers({ journal, topic, group, partitions: PARTITIONS, patienceMs: PATIENCE_MS }, journals)
        await Promise.all(journals.map((each) => each.close()))
      },
      3 * PATIENCE_MS,
    )
  }
})

for (const [what, properties] of [
  ['do not have the consumer protocol', { 'group.coordinator.rebalance.protocols': 'classic' }],
  ['convert no groups', { 'group.consumer.migration.policy': 'disabled' }],
] as const) {
  await describeWithBackends(`brokers that ${what}`, { kafka: { brokers: 1, properties } }, ({ kafka }) => {
    test(
      'a member joins beside a classic one by the classic protocol',
      async () => {
        const [classic, journal] = [openKafka(kafka.brokers, { groupProtocol: 'classic' }), openKafka(kafka.brokers)]
        const [topic, group] = [await createTopic(journal, uniqueName('beside'), PARTITIONS), uniqueName('group')]
        const partitions = [0, 0]
        for (const [index, each] of [classic, journal].entries()) {
          const onAssigned = (count: number): unknown => partitions.splice(index, 1, count)
          await each.subscribe({ group, topics: [topic], recordsMax: 10, onAssigned }, async () => {})
          await eventually(() => expect(partitions[index]).toBeGreaterThan(0), PATIENCE_MS)
        }
        await eventually(() => expect(partitions).toEqual([2, 2]), PATIENCE_MS)
        await Promise.all([classic.close(), journal.close()])
      },
      2 * PATIENCE_MS,
    )
  })
}
