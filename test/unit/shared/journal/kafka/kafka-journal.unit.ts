import { expect, test } from 'vitest'
import type { AppendError } from '../../../../../shared/journal/journal.ts'
import type { KafkaJournal } from '../../../../../shared/journal/kafka/kafka-journal.ts'
import { eventually } from '../../../../support/eventually.ts'
import {
  API_VERSIONS,
  apiVersions,
  type FakeBroker,
  FETCH,
  type Listed,
  METADATA,
  metadata,
  PRODUCE,
  produced,
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

/** The outcomes of an append that a broker answers, and of two at once after it, which it does not answer. */
async function appendThrice(mutedMs: number, errorCode?: number) {
  let produces = 0
  const broker: FakeBroker = await startFakeBroker(({ apiKey }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    if (apiKey === METADATA) return metadata(broker, { alive: [1], topics: { logs: [1] } })
    produces += apiKey === PRODUCE ? 1 : 0
    return produces === 1 ? produced(mutedMs, errorCode) : undefined
  })
  const journal = openKafka([`${broker.host}:${broker.port}`], { deliveryTimeoutMs: 500, requestTimeoutMs: 5_000 })
  const append = (): Promise<string> =>
    journal.append({ topic: 'logs', partition: 0, records: [{ key: null, value: '{}', headers: {} }] }).then(
      () => 'written',
      ({ outcome }: AppendError) => outcome,
    )
  const outcomes = [await append(), ...(await Promise.all([append(), append()]))]
  await journal.close()
  broker.close()
  return { outcomes, produces }
}

test('a broker that reads nothing for a while, as a quota is used up, is sent nothing', async () => {
  const { outcomes, produces } = await appendThrice(60_000)
  expect(outcomes).toEqual(['written', 'not_written', 'not_written'])
  expect(produces).toBe(1)
})

test('a broker that reads nothing for a while is sent nothing, though it refused what used up the quota', async () => {
  const { outcomes, produces } = await appendThrice(60_000, 19) // NOT_ENOUGH_REPLICAS
  expect(outcomes).toEqual(['not_written', 'not_written', 'not_written'])
  expect(produces).toBe(1)
})

test('a broker that limits appends by a quota is sent one at a time', async () => {
  const { outcomes, produces } = await appendThrice(1)
  expect(outcomes).toEqual(['written', 'unknown', 'not_written'])
  expect(produces).toBe(2)
})

test.each([
  ['a topic without the right to write it is a failure of that topic', 29, true],
  ['a client that may write nothing is a failure of the journal', 31, false],
])('%s', async (_, errorCode, isOfTopic) => {
  const broker: FakeBroker = await startFakeBroker(({ apiKey }) => {
    if (apiKey === API_VERSIONS) return apiVersions([[METADATA, 12]], true)
    return apiKey === METADATA ? metadata(broker, { alive: [1], topics: { logs: [1] } }) : produced(0, errorCode)
  })
  const journal = openKafka([`${broker.host}:${broker.port}`])
  const append = journal.append({ topic: 'logs', partition: 0, records: [{ key: null, value: '{}', headers: {} }] })
  await expect(append).rejects.toMatchObject({ outcome: 'not_written', isFinal: true, isOfTopic })
  await journal.close()
  broker.close()
})

test('brokers that are too old for our requests are told as such: they close the connection at one, without a word', async () => {
  const broker = await startFakeBroker(({ apiKey, socket }) => {
    if (apiKey === API_VERSIONS) {
      return apiVersions(
        [
          [FETCH, 14],
          [METADATA, 12],
        ],
        true,
      )
    }
    socket.destroy()
    return undefined
  })
  const journal = openKafka([`${broker.host}:${broker.port}`], { deliveryTimeoutMs: 500, requestTimeoutMs: 500 })
  await expect(journal.partitionCount('logs')).rejects.toThrow(/older than Kafka 3\.5/)
  expect(await journal.health()).toMatchObject({ ready: false, reason: expect.stringMatching(/older than Kafka 3\.5/) })
  await journal.close()
  broker.close()
})

test('why no broker answers is told, once it is known, though it takes longer to find out than anybody waits', async () => {
  const broker = await startFakeBroker(({ socket }) => void socket.destroy())
  const journal = openKafka([`${broker.host}:${broker.port}`], { requestTimeoutMs: 300 })
  const known = { ready: false, reason: expect.stringContaining('may want TLS') }
  expect(await journal.health()).toMatchObject({ ready: false, reason: 'no broker answers: not done within 300 ms' })
  await eventually(async () => expect(await journal.health()).toMatchObject(known))
  expect(await journal.health()).toMatchObject(known)
  await journal.close()
  broker.close()
})

test('the number of partitions only grows, whatever a broker that lags says, until the topic is made anew', async () => {
  const anew = 'aaaaaaaa-2222-3333-4444-555555555555'
  let listed: Partial<Listed> = {}
  const broker: FakeBroker = await startFakeBroker(({ apiKey }) =>
    apiKey === API_VERSIONS
      ? apiVersions([[METADATA, 12]], true)
      : metadata(broker, { alive: [1], topics: { logs: [1] }, ...listed }),
  )
  const journal = openKafka([`${broker.host}:${broker.port}`])
  const counts: number[] = []
  for (listed of [
    { partitions: 4 },
    { partitions: 2 },
    { partitions: 6 },
    { partitions: 3, topicId: anew },
    { partitions: 6 },
    { partitions: 5, topicId: anew },
  ])
    counts.push(await journal.partitionCount('logs'))
  expect(counts).toEqual([4, 4, 6, 3, 3, 5])
  await journal.close()
  broker.close()
})
