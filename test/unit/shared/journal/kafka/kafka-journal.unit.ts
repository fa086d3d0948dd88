import { expect, test } from 'vitest'
import type { KafkaJournal } from '../../../../../shared/journal/kafka/kafka-journal.ts'
import {
  API_VERSIONS,
  apiVersions,
  type FakeBroker,
  METADATA,
  metadata,
  startFakeBroker,
} from '../../../../support/fake-broker.ts'
import { openKafka } from '../../../../support/kafka.ts'

test('a subscription that is opened while the journal closes does not join its group', async () => {
  const appending = Promise.withResolvers<void>()
  let closed: Promise<void> | undefined
  let asked = 0
  const broker: FakeBroker = await startFakeBroker(({ apiKey }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    asked += 1
    if (asked > 1) closed ??= journal.close()
    else appending.resolve()
    // Without an answer, the append holds up the close.
    return asked === 2 ? metadata(broker, { alive: [1], topics: { logs: [1] } }) : undefined
  })
  const journal: KafkaJournal = openKafka([`${broker.host}:${broker.port}`], { deliveryTimeoutMs: 500 })
  const append = journal.append({ topic: 'logs', partition: 0, records: [{ key: null, value: '{}', headers: {} }] })
  const appended = expect(append).rejects.toThrow('not confirmed')
  await appending.promise
  const subscribed = journal.subscribe({ group: 'group', topics: ['logs'], recordsMax: 1 }, async () => undefined)
  await expect(subscribed).rejects.toThrow('the journal is closed')
  await appended
  await closed
  broker.close()
})
