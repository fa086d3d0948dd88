import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { Admin, alterUserScramCredentialsV0 } from '@platformatic/kafka'
import { expect } from 'vitest'
import { clientOptions, type KafkaConnection } from '../../shared/journal/kafka/connection.ts'
import { createKafkaJournal, type KafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { eventually } from './eventually.ts'
import { createTopic, recordsOf, scanAll, valuesOf } from './journal-fixture.ts'
import { testLogger, uniqueName } from './kafka.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** Kafka's codes of the SCRAM mechanisms (KIP-554), and their hash functions. */
const SCRAM = {
  'SCRAM-SHA-256': { code: 1, digest: 'sha256', bytes: 32 },
  'SCRAM-SHA-512': { code: 2, digest: 'sha512', bytes: 64 },
} as const
const ITERATIONS = 4_096
export const DELIVERY_TIMEOUT_MS = 5_000

export const openAs = (connection: KafkaConnection): KafkaJournal =>
  createKafkaJournal({
    connection,
    clock: systemClock,
    logger: testLogger,
    options: { deliveryTimeoutMs: DELIVERY_TIMEOUT_MS },
  })

/** Appends, reads as a group and scans, so that every client of the adapter connects and logs in. */
export async function proveConnection(connection: KafkaConnection): Promise<void> {
  const journal = openAs(connection)
  try {
    const topic = await createTopic(journal, uniqueName('login'))
    await journal.append({ topic, partition: 0, records: recordsOf('a', 3) })
    expect(valuesOf(await scanAll(journal, topic))).toEqual(['a0', 'a1', 'a2'])
    const group = uniqueName('group')
    await journal.subscribe({ group, topics: [topic], recordsMax: 10 }, (batch) => batch.commit(3))
    await eventually(async () => (await journal.positions(topic, group))[0]?.committed === 3, 20_000)
  } finally {
    await journal.close()
  }
}

/** Creates a user for the mechanism over an authorised connection. Brokers know it a moment later. */
export async function createScramUser(
  connection: KafkaConnection,
  mechanism: keyof typeof SCRAM,
  { username, password }: Credentials,
): Promise<void> {
  const { code, digest, bytes } = SCRAM[mechanism]
  const admin = new Admin(clientOptions(connection, { requestTimeoutMs: DELIVERY_TIMEOUT_MS, retries: 0 }))
  const [broker] = (await admin.connectToBrokers()).values()
  const salt = randomBytes(16)
  const saltedPassword = pbkdf2Sync(password, salt, ITERATIONS, bytes, digest)
  const user = { name: username, mechanism: code, iterations: ITERATIONS, salt, saltedPassword }
  await alterUserScramCredentialsV0.api.async(broker!, [], [user])
  await admin.close()
}
