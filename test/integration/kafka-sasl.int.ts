import { expect, test } from 'vitest'
import type { AppendError } from '../../shared/journal/journal.ts'
import type { KafkaConnection } from '../../shared/journal/kafka/connection.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { recordsOf } from '../support/journal-fixture.ts'
import { connectionTo } from '../support/kafka.ts'
import { createScramUser, DELIVERY_TIMEOUT_MS, openAs, proveConnection } from '../support/kafka-logins.ts'

const PLAIN = { username: 'sluice', password: 'a-plain-password' }

await describeWithBackends('a broker that asks for a login', { kafka: { brokers: 1, sasl: PLAIN } }, ({ kafka }) => {
  const as = (sasl: KafkaConnection['sasl']): KafkaConnection => ({ ...connectionTo(kafka.brokers), sasl })
  const operator = as({ mechanism: 'PLAIN', ...PLAIN })

  test('PLAIN', () => proveConnection(operator))

  test.each(['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)('%s', async (mechanism) => {
    const user = { username: `user-${mechanism}`, password: `password-${mechanism}` }
    await createScramUser(operator, mechanism, user)
    await eventually(() => proveConnection(as({ mechanism, ...user })), 25_000)
  })

  test('a wrong password is certainly not written, is said, and is not tried until the deadline', async () => {
    const journal = openAs(as({ mechanism: 'PLAIN', username: PLAIN.username, password: 'wrong' }))
    const startedAt = performance.now()
    const error = (await journal
      .append({ topic: 'any', partition: 0, records: recordsOf('a', 1) })
      .catch((thrown: unknown) => thrown)) as AppendError
    expect(error).toMatchObject({ name: 'AppendError', outcome: 'not_written', isOfTopic: false })
    expect(error.message).toMatch(/authentication/i)
    expect(error.message).not.toContain('wrong')
    expect(performance.now() - startedAt).toBeLessThan(DELIVERY_TIMEOUT_MS)
    expect(await journal.health()).toMatchObject({ ready: false })
    await journal.close()
  })
})
