import {
  AclOperations,
  AclPermissionTypes,
  type AclPermissionTypeValue,
  Admin,
  ResourcePatternTypes,
  ResourceTypes,
} from '@platformatic/kafka'
import { expect, test } from 'vitest'
import { topicName } from '../../shared/contract/topics.ts'
import type { AppendError } from '../../shared/journal/journal.ts'
import { clientOptions, type KafkaConnection } from '../../shared/journal/kafka/connection.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { recordsOf } from '../support/journal-fixture.ts'
import { connectionTo, uniqueName } from '../support/kafka.ts'
import { createScramUser, DELIVERY_TIMEOUT_MS, openAs, proveConnection } from '../support/kafka-logins.ts'
import { startSluice } from '../support/sluice-process.ts'

const PLAIN = { username: 'sluice', password: 'a-plain-password' }

/** Whoever no rule is about may do everything. */
const RULES = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': `User:${PLAIN.username};User:ANONYMOUS`,
  'allow.everyone.if.no.acl.found': 'true',
}
const needs = { kafka: { brokers: 1, sasl: PLAIN, properties: RULES } } as const

await describeWithBackends('a broker that asks for a login', needs, ({ kafka }) => {
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

  test('a gateway is not ready while all of its topics refuse appends, and tells of a single one', async () => {
    const user = { username: 'gateway', password: 'a-password-of-a-gateway' }
    await createScramUser(operator, 'SCRAM-SHA-256', user)
    const prefix = uniqueName('rights')
    const settings = {
      KAFKA_BROKERS: kafka.brokers.join(','),
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256',
      KAFKA_SASL_USERNAME: user.username,
      KAFKA_SASL_PASSWORD: user.password,
      TOPIC_PREFIX: prefix,
    }
    const admin = new Admin(clientOptions(operator, { requestTimeoutMs: DELIVERY_TIMEOUT_MS, retries: 3 }))
    const rulesOf = (resourceName: string) => {
      const rule = (permissionType: AclPermissionTypeValue, principal: string, operation: 2 | 4) => ({
        ...{ resourceType: ResourceTypes.TOPIC, resourceName, resourcePatternType: ResourcePatternTypes.LITERAL },
        ...{ principal, host: '*', operation, permissionType },
      })
      const denied = rule(AclPermissionTypes.DENY, `User:${user.username}`, AclOperations.WRITE)
      return [rule(AclPermissionTypes.ALLOW, 'User:*', AclOperations.ALL), denied]
    }
    const [events, logs] = [topicName(prefix, 'event-logs'), topicName(prefix, 'application-logs')]
    const server = await startSluice(settings, ['--role', 'gateway'])
    const isToldAs = (status: number, reason?: string) =>
      eventually(async () => {
        const answer = await fetch(`${server.url}/health/ready`)
        const { parts } = (await answer.json()) as { parts: { name: string; reason?: string }[] }
        expect([answer.status, parts.find(({ name }) => name === 'publisher')?.reason]).toEqual([status, reason])
      }, 20_000)
    try {
      await isToldAs(200)
      await admin.createAcls({ creations: rulesOf(events) })
      await isToldAs(200, `the right to write ${events} is missing`)
      await admin.createAcls({ creations: rulesOf(logs) })
      await isToldAs(503, `the right to write ${events} is missing; the right to write ${logs} is missing`)
      await admin.deleteAcls({ filters: rulesOf(logs) })
      await admin.deleteTopics({ topics: [events] })
      await isToldAs(200, expect.stringContaining(`the topic ${events} does not exist`))
    } finally {
      server.kill('SIGTERM')
      await Promise.all([server.exited, admin.close()])
    }
  }, 120_000)
})
