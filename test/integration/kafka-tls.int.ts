import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { AppendError } from '../../shared/journal/journal.ts'
import { type KafkaConnection, kafkaConnection } from '../../shared/journal/kafka/connection.ts'
import { loadConfig } from '../../shared/runtime/config.ts'
import { describeWithBackends } from '../support/backends.ts'
import { createAuthority } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { createTopic, recordsOf, scanAll, valuesOf } from '../support/journal-fixture.ts'
import { connectionTo, uniqueName } from '../support/kafka.ts'
import { createScramUser, openAs, proveConnection } from '../support/kafka-logins.ts'
import { runSluice, temporaryFolder } from '../support/sluice-process.ts'

const PLAIN = { username: 'sluice', password: 'a-plain-password' }
const authority = createAuthority('the authority of the brokers')
const stranger = createAuthority('another authority')
const server = authority.issue('broker', ['127.0.0.1'])
const trusting = (ca: string | null): NonNullable<KafkaConnection['ssl']> => ({ ca, cert: null, key: null })

/** The errors of a refused connection for those who append, those who read and the readiness check. */
async function expectRefused(connection: KafkaConnection, reason: RegExp, attempts = /in 1 attempt/): Promise<void> {
  const journal = openAs(connection)
  try {
    const failed = journal.append({ topic: 'any', partition: 0, records: recordsOf('a', 1) })
    const error = (await failed.catch((thrown: unknown) => thrown)) as AppendError
    expect(error).toMatchObject({ name: 'AppendError', outcome: 'not_written' })
    expect(error.message).toMatch(reason)
    expect(error.message).toMatch(attempts)
    const group = { group: 'any', topics: ['any'], recordsMax: 1 }
    await expect(journal.subscribe(group, async () => {})).rejects.toThrow(reason)
    await expect(journal.follow('any', () => {})).rejects.toThrow(reason)
    expect(await journal.health()).toMatchObject({ ready: false, reason: expect.stringMatching(reason) })
  } finally {
    await journal.close()
  }
}

await describeWithBackends(
  'a broker that speaks TLS and asks for a login',
  { kafka: { brokers: 1, sasl: PLAIN, tls: server } },
  ({ kafka }) => {
    const secured: KafkaConnection = {
      ...connectionTo(kafka.brokers),
      ssl: trusting(authority.certificate),
      sasl: { mechanism: 'PLAIN', ...PLAIN },
    }

    test('PLAIN', () => proveConnection(secured))

    test.each(['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)('%s', async (mechanism) => {
      const user = { username: `user-${mechanism}`, password: `password-${mechanism}` }
      await createScramUser(secured, mechanism, user)
      await eventually(() => proveConnection({ ...secured, sasl: { mechanism, ...user } }), 25_000)
      const sasl = { mechanism, username: user.username, password: 'not-the-password' }
      await expectRefused({ ...secured, sasl }, /SASL authentication failed.*KAFKA_SASL_PASSWORD\)$/)
    })

    const refusals: readonly (readonly [string, Partial<KafkaConnection>, RegExp])[] = [
      ['a wrong password', { sasl: { mechanism: 'PLAIN', ...PLAIN, password: 'no' } }, /KAFKA_SASL_PASSWORD\)$/],
      ['another authority', { ssl: trusting(stranger.certificate) }, /verify the first certificate.*KAFKA_SSL_CA_FILE/],
      ["Node's authorities", { ssl: trusting(null) }, /verify the first certificate.*KAFKA_SSL_CA_FILE/],
      [
        'a host that the certificate does not name',
        { brokers: kafka.brokers.map((broker) => broker.replace('127.0.0.1', 'localhost')) },
        /does not match certificate.*\(the broker's certificate has to name the host/,
      ],
      ['no encryption', { ssl: null, sasl: null }, /Broker requires TLS\. \(set KAFKA_SSL=true\)/],
    ]
    test.each(refusals)('%s: refused at once, and what to do is said', (_, changes, reason) =>
      expectRefused({ ...secured, ...changes }, reason),
    )

    describe('the program', () => {
      const folder = temporaryFolder()
      afterAll(folder.remove)
      const fileOf = (name: string, text: string): string => {
        const path = join(folder.path, name)
        writeFileSync(path, text)
        return path
      }
      const settings = {
        KAFKA_BROKERS: kafka.brokers.join(','),
        KAFKA_SSL: 'true',
        KAFKA_SSL_CA_FILE: fileOf('authority.pem', authority.certificate),
        KAFKA_SASL_MECHANISM: 'PLAIN',
        KAFKA_SASL_USERNAME: PLAIN.username,
        KAFKA_SASL_PASSWORD_FILE: fileOf('password', PLAIN.password),
        ELASTICSEARCH_URL: 'http://127.0.0.1:1',
        DATA_DIR: join(folder.path, 'data'),
        PORT: '0',
      }

      test('connects by its settings, and Node warns of nothing', async () => {
        const { code, stdout, stderr } = await runSluice(['topics', 'apply'], settings)
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        expect(stdout).toContain('sluice.event-logs.v1: created')
      })

      test('takes a password that was put in the place of another while it runs', async () => {
        const config = loadConfig({ ...settings, KAFKA_SASL_PASSWORD_FILE: fileOf('changed', 'not-yet') })
        const journal = openAs(kafkaConnection(config, () => undefined))
        try {
          const makeTopic = () => createTopic(journal, uniqueName('renewed'))
          await expect(makeTopic()).rejects.toThrow('KAFKA_SASL_PASSWORD')
          fileOf('changed', PLAIN.password)
          const topic = await eventually(makeTopic)
          fileOf('changed', '')
          await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
        } finally {
          await journal.close()
        }
      })

      const mistakes: readonly (readonly [string, Record<string, string>, RegExp])[] = [
        ['a wrong password', { KAFKA_SASL_PASSWORD_FILE: fileOf('wrong', 'no') }, /KAFKA_SASL_PASSWORD\)$/],
        [
          'another authority',
          { KAFKA_SSL_CA_FILE: fileOf('stranger.pem', stranger.certificate) },
          /verify the first certificate.*KAFKA_SSL_CA_FILE has to name the authority/,
        ],
        [
          'a file that is no certificate',
          { KAFKA_SSL_CA_FILE: fileOf('text.pem', 'x') },
          /KAFKA_SSL_CA_FILE cannot be read/,
        ],
      ]
      for (const command of [
        ['topics', 'apply'],
        ['start', '--role', 'gateway'],
      ]) {
        test.each(mistakes)(
          `${command.join(' ')} with %s ends with one line that says so`,
          async (_, changes, line) => {
            const { code, stdout, stderr } = await runSluice(command, { ...settings, ...changes })
            expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
            expect(stderr.trim()).toMatch(line)
            expect(stderr.trim().split('\n')).toHaveLength(1)
          },
        )
      }
    })
  },
)

await describeWithBackends(
  'a broker that asks for certificates of its clients',
  { kafka: { brokers: 1, tls: { ...server, clientsCa: authority.certificate } } },
  ({ kafka }) => {
    const as = (client: { readonly certificate: string; readonly key: string } | null): KafkaConnection => ({
      ...connectionTo(kafka.brokers),
      ssl: { ca: authority.certificate, cert: client?.certificate ?? null, key: client?.key ?? null },
    })

    test('takes one that its authority has signed', () => proveConnection(as(authority.issue('a client'))))

    test('takes one that was put in the place of another while the process runs', async () => {
      const folder = temporaryFolder()
      const put = (name: string, text: string): string => {
        writeFileSync(join(folder.path, name), text)
        return join(folder.path, name)
      }
      const refused = stranger.issue('a client')
      const connection = kafkaConnection(
        {
          KAFKA_BROKERS: kafka.brokers,
          KAFKA_CLIENT_ID: 'sluice',
          KAFKA_SSL: true,
          KAFKA_SSL_CA_FILE: put('ca.pem', authority.certificate),
          KAFKA_SSL_CERT_FILE: put('client.pem', refused.certificate),
          KAFKA_SSL_KEY_FILE: put('client.key', refused.key),
          KAFKA_SASL_MECHANISM: 'none',
          KAFKA_SASL_USERNAME: null,
          KAFKA_SASL_PASSWORD: null,
          secretFiles: {},
        },
        () => undefined,
      )
      const journal = openAs(connection)
      try {
        const makeTopic = () => createTopic(journal, uniqueName('renewed'))
        await expect(makeTopic()).rejects.toThrow()
        const renewed = authority.issue('a client')
        put('client.pem', renewed.certificate)
        put('client.key', renewed.key)
        const topic = await eventually(makeTopic)
        await journal.append({ topic, partition: 0, records: recordsOf('a', 1) })
        expect(valuesOf(await scanAll(journal, topic))).toEqual(['a0'])
      } finally {
        await journal.close()
        folder.remove()
      }
    })

    // The broker does not say why it closes the connection, so the refusal looks like one that may pass.
    test.each([
      ['a client without', null],
      ['one of another authority', stranger.issue('a client')],
    ])('refuses %s', (_, client) =>
      expectRefused(
        as(client),
        /Connection closed \(.*may want.*KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE; or .*max.connections.per.ip\)\)$/,
        /in \d+ attempt/,
      ),
    )
  },
)
