import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { Admin, alterUserScramCredentialsV0 } from '@platformatic/kafka'
import { systemClock } from '../../shared/clock.ts'
import type { AppendError } from '../../shared/journal/journal.ts'
import type { KafkaConnection } from '../../shared/journal/kafka/connection.ts'
import { createKafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { createTopic, recordsOf, scanAll, valuesOf } from '../support/journal-fixture.ts'
import { connectionTo, testLogger, uniqueName } from '../support/kafka.ts'

const PLAIN = { username: 'sluice', password: 'a-plain-password' }
/** Kafka's numbers of the mechanisms (KIP-554), and the digests that they are made of. */
const SCRAM = [
  { mechanism: 'SCRAM-SHA-256', code: 1, digest: 'sha256', bytes: 32 },
  { mechanism: 'SCRAM-SHA-512', code: 2, digest: 'sha512', bytes: 64 },
] as const
const ITERATIONS = 4_096

await describeWithBackends('a broker that asks for a login', { kafka: { brokers: 1, sasl: PLAIN } }, ({ kafka }) => {
  const open = (sasl: KafkaConnection['sasl']) =>
    createKafkaJournal({
      connection: { ...connectionTo(kafka.brokers), sasl },
      clock: systemClock,
      logger: testLogger,
      options: { deliveryTimeoutMs: 5_000 },
    })

  /** Appends, reads as a group and scans, so that every client of the adapter logs in. */
  const proveLogin = async (sasl: NonNullable<KafkaConnection['sasl']>): Promise<void> => {
    const journal = open(sasl)
    const topic = await createTopic(journal, uniqueName('login'))
    await journal.append({ topic, partition: 0, records: recordsOf('a', 3) })
    expect(valuesOf(await scanAll(journal, topic))).toEqual(['a0', 'a1', 'a2'])
    const group = uniqueName('group')
    await journal.subscribe({ group, topics: [topic], recordsMax: 10 }, (batch) => batch.commit(3))
    await eventually(async () => (await journal.positions(topic, group))[0]?.committed === 3, 20_000)
    await journal.close()
  }

  test('PLAIN', () => proveLogin({ mechanism: 'PLAIN', ...PLAIN }))

  for (const { mechanism, code, digest, bytes } of SCRAM) {
    test(`${mechanism}`, async () => {
      const [username, password] = [`user-${code}`, `password-${code}`]
      const admin = new Admin({
        clientId: 'test',
        bootstrapBrokers: [...kafka.brokers],
        sasl: { mechanism: 'PLAIN', ...PLAIN },
      })
      const [connection] = (await admin.connectToBrokers()).values()
      const salt = randomBytes(16)
      const saltedPassword = pbkdf2Sync(password, salt, ITERATIONS, bytes, digest)
      const user = { name: username, mechanism: code, iterations: ITERATIONS, salt, saltedPassword }
      await alterUserScramCredentialsV0.api.async(connection!, [], [user])
      await admin.close()
      await eventually(() => proveLogin({ mechanism, username, password }), 25_000)
    })
  }

  test('a wrong password is certainly not written, is said, and is not tried until the deadline', async () => {
    const journal = open({ mechanism: 'PLAIN', username: PLAIN.username, password: 'wrong' })
    const startedAt = performance.now()
    const error = (await journal
      .append({ topic: 'any', partition: 0, records: recordsOf('a', 1) })
      .catch((thrown: unknown) => thrown)) as AppendError
    expect(error).toMatchObject({ name: 'AppendError', outcome: 'not_written' })
    expect(error.message).toMatch(/authentication/i)
    expect(error.message).not.toContain('wrong')
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(await journal.health()).toMatchObject({ ready: false })
    await journal.close()
  })
})
